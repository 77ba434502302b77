import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config/index.ts'
import { ConfigError } from '../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { CatalogueConfiguration } from '../../gateway/models/index.ts'

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
