import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fetch as undiciFetch } from 'undici'
import { type Config, ConfigError } from '../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { CatalogueConfiguration } from '../../gateway/models/index.ts'
import { createConnectionPool } from '../../gateway/providers/index.ts'
import type { SendMail } from '../../tenants/alerts/index.ts'

/** External resources of the configuration: certificates, providers, journal, single sign-on. */

/** Providers and models of the configuration file with their keys, and the settings of the environment. */
export function toCatalogueConfiguration({ settings, secrets }: Config): CatalogueConfiguration {
  return {
    providers: settings.providers.map(
      ({ apiKeyEnv: _key, apiKeyFile: _file, credentialsEnv: _env, credentialsFile: _path, ...provider }) => ({
        ...provider,
        apiKey: secrets.providerKeys.get(provider.id),
        credentials: secrets.providerCredentials.get(provider.id),
      }),
    ),
    models: settings.models,
    openaiApiKey: secrets.openaiApiKey,
    ollamaUrl: settings.ollama.detect ? settings.ollama.url : undefined,
  }
}

/** Additional certificate authorities in PEM format. */
export function readCertificates({ settings }: Config): string | undefined {
  const file = settings.network.caFile
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`network.caFile: cannot read ${file}: ${(error as Error).message}`)
  }
}

/** A server has none: others may replicate it, and a lost disk of this machine then loses no bill. */
export function journalOptions(engine: Database['engine'], { settings }: Config) {
  if (engine !== 'embedded') return undefined
  return {
    mode: settings.ledger.journal === 'database' ? ('database' as const) : ('local' as const),
    folder: path.join(settings.dataFolder, 'ledger-journal'),
  }
}

/** The provider of single sign-on with its secret, if there is one. */
export function singleSignOnOf({ settings, secrets }: Config) {
  const { singleSignOn } = settings.accounts
  return singleSignOn && { ...singleSignOn, clientSecret: secrets.ssoClientSecret ?? '' }
}

type PoolOptions = Parameters<typeof createConnectionPool>[0]

/** `fetch` with the operator's certificates, that connects only to what `rule` accepts, if there is one. */
export function openFetch(
  config: Config,
  options: Pick<PoolOptions, 'limits' | 'rule' | 'proxies'>,
): { fetch: typeof fetch; close: () => Promise<void> } {
  const { dispatcher, close } = createConnectionPool({ ...options, certificateAuthority: readCertificates(config) })
  return {
    fetch: ((address: string, init: object) =>
      undiciFetch(address, { ...init, dispatcher })) as unknown as typeof fetch,
    close,
  }
}

/** The operator's mail server; undefined: none is configured. Its module loads only if there is one. */
export async function openMail(config: Config): Promise<SendMail | undefined> {
  const { host, port, encryption, user, from } = config.settings.mail
  if (host === undefined || from === undefined) return undefined
  const { createSendMail } = await import('../../tenants/alerts/send-mail.ts')
  const certificateAuthority = readCertificates(config)
  return createSendMail({
    host,
    port,
    encryption,
    user,
    from,
    password: config.secrets.mailPassword,
    certificateAuthority,
  })
}
