import { recordChange } from '../database/index.ts'
import { createAdminLog, createOperatorTokenStore, createOperatorTokens } from '../operators/index.ts'
import { createOrganisationStore, createOrganisations } from '../organisations/index.ts'
import type { Foundation } from './foundation.ts'

export type Access = Awaited<ReturnType<typeof openAccess>>

/** Organisations with their keys, operator tokens, and the log of what both change. */
export async function openAccess({ config, control, changeFeed, secretBox, clock, log, onStop }: Foundation) {
  const organisationStore = createOrganisationStore(control, recordChange)
  const organisations = await createOrganisations({ store: organisationStore, changeFeed, clock, log, secretBox })
  onStop(() => organisations.close())
  const operatorTokens = await createOperatorTokens({
    store: createOperatorTokenStore(control, recordChange),
    changeFeed,
    clock,
    configuredToken: config.secrets.operatorToken,
  })
  onStop(() => operatorTokens.close())
  return { organisationStore, organisations, operatorTokens, adminLog: createAdminLog({ database: control }) }
}
