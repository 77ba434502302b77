import { recordChange } from '../database/index.ts'
import {
  createAdminLog,
  createOperatorTokenStore,
  createOperatorTokens,
  createOrganisationStore,
  createOrganisations,
} from '../organisations/index.ts'
import type { Foundation } from './foundation.ts'

export type Access = Awaited<ReturnType<typeof openAccess>>

/** Who asks, and what they may. */
export async function openAccess({ config, control, changeFeed, secretBox, clock, log, onStop }: Foundation) {
  const organisations = await createOrganisations({
    store: createOrganisationStore(control, recordChange),
    changeFeed,
    clock,
    log,
    secretBox,
  })
  onStop(() => organisations.close())
  const operatorTokens = await createOperatorTokens({
    store: createOperatorTokenStore(control, recordChange),
    changeFeed,
    clock,
    configuredToken: config.secrets.operatorToken,
  })
  onStop(() => operatorTokens.close())
  return { organisations, operatorTokens, adminLog: createAdminLog({ database: control }) }
}
