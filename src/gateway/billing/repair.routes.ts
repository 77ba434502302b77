import { errorResponses } from '../../contract/errors.ts'
import { ledgerRepairSchema } from '../../contract/ledger-repair.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import type { LedgerService } from './ledger.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator')

export interface RepairRoutesDeps {
  ledger: Pick<LedgerService, 'repair'>
}

/** The ledger for operators. */
export function repairRoutes({ ledger }: RepairRoutesDeps): Routes {
  return (app) => {
    app.post(
      '/api/ledger/repair',
      described('repairLedger', 'Settle holds without a living instance', {
        description:
          'Does at once what every instance does each second: settles the holds of dead instances as after a crash, and holds that belong to no instance without a bill. Changes nothing where there are none.',
        response: { 200: ledgerRepairSchema, ...errorResponses(401, 403) },
      }),
      (request) => ledger.repair(actorOf(request)).then((closedHolds) => ({ closedHolds })),
    )
  }
}
