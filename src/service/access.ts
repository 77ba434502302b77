import { type ChangeFeed, type Database, recordChange } from '../database/index.ts'
import type { SecretBox } from '../kernel/index.ts'
import { createAdminLog, createOperatorTokenStore, createOperatorTokens } from '../operators/index.ts'
import { createOrganisationStore, createOrganisations } from '../organisations/index.ts'
import type { PartContext } from './foundation.ts'

interface AccessDependencies extends PartContext {
  control: Database
  changeFeed: ChangeFeed
  secretBox: SecretBox
}

/** Organisations with their keys, operator tokens, and the log of what both change. */
export async function openAccess({ config, control, changeFeed, secretBox, clock, log, onStop }: AccessDependencies) {
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
