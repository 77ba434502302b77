import type { ProviderDeclarationBody } from '../../contract/models.ts'
import { type SecretBox, invalidField } from '../../platform/kernel/index.ts'
import type { SealedColumn } from '../../tenants/operators/index.ts'
import { hostOf, type ProviderSettings } from '../providers/index.ts'
import type { ProviderSecrets } from './from-operator.ts'

/** Secrets of the operator's providers, sealed in the database. */

export const providerSecretsColumn: SealedColumn = {
  kind: 'providers',
  table: 'catalogue_providers',
  id: 'id',
  column: 'secrets_sealed',
  contextOf: (id) => `provider:${id}`,
}

/** `undefined` keeps the stored value, null removes it. */
export interface SecretsChange {
  apiKey?: string | null | undefined
  headers?: Readonly<Record<string, string>> | null | undefined
  credentials?: string | null | undefined
}

interface SealedSecrets {
  id: string
  secrets_sealed: string | null
}

export function openSecrets(secretBox: SecretBox, { id, secrets_sealed: sealed }: SealedSecrets): ProviderSecrets {
  return sealed === null
    ? {}
    : (JSON.parse(secretBox.open(sealed, providerSecretsColumn.contextOf(id))) as ProviderSecrets)
}

/** Secrets sealed with another secret key cannot be opened; the provider can still be replaced. */
export function openOrDropSecrets(secretBox: SecretBox, row: SealedSecrets): ProviderSecrets {
  try {
    return openSecrets(secretBox, row)
  } catch {
    return {}
  }
}

export function secretColumns(secretBox: SecretBox, id: string, secrets: ProviderSecrets) {
  const { apiKey, headers, credentials } = secrets
  return {
    secrets_sealed:
      Object.keys(secrets).length === 0
        ? null
        : secretBox.seal(JSON.stringify(secrets), providerSecretsColumn.contextOf(id)),
    api_key_last_four: lastFourOf(apiKey),
    header_names: Object.keys(headers ?? {}).sort(),
    has_credentials: credentials !== undefined,
  }
}

/**
 * The secrets after a change of a provider. Throws AppError if a stored one would be sent to another address than that for which it was
 * given: a person who may change a provider must not learn its key by naming another server.
 */
export function mergeSecrets(
  kept: ProviderSecrets,
  change: SecretsChange,
  before: ProviderDeclarationBody | null | undefined,
  after: ProviderDeclarationBody | null,
): ProviderSecrets {
  assertSameAddress(kept, change, before, after)
  const merged: ProviderSecrets = {}
  const apiKey = change.apiKey === undefined ? kept.apiKey : change.apiKey
  const headers = change.headers === undefined ? kept.headers : change.headers
  const credentials = change.credentials === undefined ? kept.credentials : change.credentials
  if (apiKey) merged.apiKey = apiKey
  if (headers && Object.keys(headers).length > 0) merged.headers = { ...headers }
  if (credentials) merged.credentials = credentials
  return merged
}

function assertSameAddress(
  kept: ProviderSecrets,
  change: SecretsChange,
  before: ProviderDeclarationBody | null | undefined,
  after: ProviderDeclarationBody | null,
): void {
  if (!after || (before && addressOf(before) === addressOf(after))) return
  for (const name of ['apiKey', 'headers', 'credentials'] as const)
    if (kept[name] !== undefined && change[name] === undefined)
      throw invalidField(
        name,
        `${name} must be sent again, or null to remove it, because the provider has another address now.`,
      )
}

/** Scheme, host and port of the calls; without `baseUrl` what decides them. */
function addressOf({ baseUrl, region = '', ...declaration }: ProviderDeclarationBody): string {
  if (baseUrl !== undefined) return URL.parse(baseUrl)?.origin ?? baseUrl
  return `${hostOf({ ...declaration, id: '' } as ProviderSettings)} ${region}`
}

/** A shorter key is not shown in part: four characters would be too much of it. */
const shortestShownKey = 12

/** What an operator sees of an API key. */
export function lastFourOf(apiKey: string | undefined): string | null {
  if (apiKey === undefined) return null
  return apiKey.length >= shortestShownKey ? apiKey.slice(-4) : '****'
}
