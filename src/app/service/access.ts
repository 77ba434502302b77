import { type AccountSecrets, createAccounts } from '../../tenants/accounts/index.ts'
import type { Config } from '../config/config.ts'
import { type ChangeFeed, type Database, recordChange } from '../../platform/database/index.ts'
import { publicNetworks, type SecretBox } from '../../platform/kernel/index.ts'
import {
  createAdminLog,
  createOperatorTokenStore,
  createOperatorTokens,
  openAdminLogRetention,
} from '../../tenants/operators/index.ts'
import {
  createOrganisationLimiter,
  createOrganisationStore,
  createOrganisations,
} from '../../tenants/organisations/index.ts'
import type { PartContext } from './foundation.ts'
import { openFetch } from './outgoing-fetch.ts'

/** Connecting to the single sign-on provider: a person is waiting. */
const connectTimeoutMs = 5_000

interface AccessDependencies extends PartContext {
  control: Database
  changeFeed: ChangeFeed
  secretBox: SecretBox
  accountSecrets: AccountSecrets
}

/** Organisations with their keys, operator tokens, people, and the log of what they change. */
export async function openAccess(dependencies: AccessDependencies) {
  const { config, control, changeFeed, secretBox, accountSecrets, passwordHashing, clock, log, onStop } = dependencies
  const organisationStore = createOrganisationStore(control, recordChange)
  const organisations = await createOrganisations({
    store: organisationStore,
    changeFeed,
    clock,
    log,
    secretBox,
    webhookRule: publicNetworks(config.settings.network.webhookNetworks),
  })
  onStop(() => organisations.close())
  const operatorTokens = await createOperatorTokens({
    store: createOperatorTokenStore(control, recordChange),
    changeFeed,
    clock,
    configuredToken: config.secrets.operatorToken,
  })
  onStop(() => operatorTokens.close())
  const accounts = createAccounts({
    database: control,
    ...accountSecrets,
    publicUrl: config.settings.server.publicUrl,
    ...toSignInSettings(config),
    fetch: openInternet(config, onStop),
    passwordHashing,
    clock,
    log,
  })
  onStop(() => accounts.close())
  const adminLog = createAdminLog({ database: control, clock })
  const retention = openAdminLogRetention({
    database: control,
    keepDays: config.settings.adminLog.keepDays,
    clock,
    log,
  })
  onStop(() => retention.close())
  const limiter = createOrganisationLimiter({ clock })
  return { organisationStore, organisations, limiter, operatorTokens, accounts, adminLog }
}

function toSignInSettings({ settings, secrets }: Config) {
  const { passwordSignIn, singleSignOn } = settings.accounts
  const { ssoClientSecret: clientSecret = '' } = secrets
  return { passwordSignIn, singleSignOn: singleSignOn && { ...singleSignOn, clientSecret } }
}

/** `fetch` through the configured proxy, with the configured certificate authorities. */
function openInternet(config: Config, onStop: PartContext['onStop']): typeof fetch {
  const { fetch, close } = openFetch(config, { limits: { connectTimeoutMs }, proxies: config.proxies })
  onStop(close)
  return fetch
}
