import { createAccounts } from '../accounts/index.ts'
import { type ChangeFeed, type Database, recordChange } from '../database/index.ts'
import type { SecretBox } from '../kernel/index.ts'
import { createAdminLog, createOperatorTokenStore, createOperatorTokens } from '../operators/index.ts'
import { createOrganisationStore, createOrganisations } from '../organisations/index.ts'
import type { PartContext } from './foundation.ts'

interface AccessDependencies extends PartContext {
  control: Database
  changeFeed: ChangeFeed
  secretBox: SecretBox
  /** Signs cookies, and encrypts the secrets of second factors. */
  accountsSecret: string
}

/** Organisations with their keys, operator tokens, people, and the log of what they change. */
export async function openAccess(dependencies: AccessDependencies) {
  const { config, control, changeFeed, secretBox, accountsSecret, clock, log, onStop } = dependencies
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
  const { publicUrl } = config.settings.server
  const accounts = createAccounts({ database: control, secret: accountsSecret, publicUrl, clock, log })
  onStop(() => accounts.close())
  const adminLog = createAdminLog({ database: control })
  return { organisationStore, organisations, operatorTokens, accounts, adminLog }
}
