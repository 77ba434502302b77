import { errorResponses } from '../../contract/errors.ts'
import {
  type LedgerJournalBody,
  ledgerJournalParamsSchema,
  ledgerJournalsSchema,
  ledgerRepairSchema,
} from '../../contract/ledger-journals.ts'
import { emptySchema } from '../../contract/operator.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { formatPicoUsd } from '../../platform/kernel/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import type { OpenJournal } from './journal/index.ts'
import type { LedgerService } from './ledger.ts'

const described = describeRoutes({ role: 'operator' }, 'Operator')

export interface JournalRoutesDeps {
  ledger: Pick<LedgerService, 'loadJournals' | 'releaseJournal' | 'repair'>
}

/** The ledger for operators: repair, and local journals in front of a server. */
export function journalRoutes({ ledger }: JournalRoutesDeps): Routes {
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
    app.get(
      '/api/ledger/journals',
      described('listLedgerJournals', 'List local journals of the ledger', {
        description:
          'The instances on this server that write to a local journal first, and those that ended without applying theirs.',
        response: { 200: ledgerJournalsSchema, ...errorResponses(401, 403) },
      }),
      async () => ({ items: (await ledger.loadJournals()).map(renderJournal) }),
    )
    app.post(
      '/api/ledger/journals/:journalId/release',
      described('releaseLedgerJournal', 'Accept the loss of a local journal', {
        description:
          'For a journal whose disk is lost. Its open holds are then settled as after a crash, and its budget is free again. Calls that only the journal has stay unbilled. The process must have been silent for 10 s.',
        params: ledgerJournalParamsSchema,
        response: { 204: emptySchema, ...errorResponses(401, 403, 404, 409) },
      }),
      async (request, reply) => {
        await ledger.releaseJournal(request.params.journalId, actorOf(request))
        return reply.code(204).send(null)
      },
    )
  }
}

function renderJournal({ journalId, instanceId, place, ...journal }: OpenJournal): LedgerJournalBody {
  return {
    journalId,
    instanceId,
    place,
    startedAt: journal.startedAt.toISOString(),
    heartbeatAt: journal.heartbeatAt.toISOString(),
    silent: journal.isSilent,
    openHolds: journal.openHolds,
    reservedUsd: formatPicoUsd(journal.reservedPicoUsd),
  }
}
