import type { PatchProvider, ProviderDeclarationBody, ProviderTest } from '../../contract/models.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { AppError, assertVersion, type SecretBox } from '../../platform/kernel/index.ts'
import { mergeSecrets, openOrDropSecrets, secretColumns, type SecretsChange } from './provider-secrets.ts'
import { asRecord, type ChangedBy, record, type RecordDependencies } from './record-change.ts'

export interface ProviderRow {
  id: string
  enabled: boolean
  declaration: unknown
  secrets_sealed: string | null
  api_key_last_four: string | null
  header_names: string[]
  has_credentials: boolean
  /** Changes with the secrets. */
  secrets_version: number
}

export interface ProviderChange {
  enabled: boolean
  /** null: only overrides a provider that is declared elsewhere. */
  declaration: ProviderDeclarationBody | null
  secrets: SecretsChange
}

export interface ProviderDependencies extends RecordDependencies {
  database: OwnedDatabase
  secretBox: SecretBox
}

export function changeProvider(
  dependencies: ProviderDependencies,
  id: string,
  change: (before: ProviderRow | undefined) => ProviderChange,
  { actor, ifMatch }: ChangedBy,
): Promise<void> {
  const { database, secretBox, clock } = dependencies
  return database.transaction(async (transaction) => {
    const [before] = await transaction.query<ProviderRow>(
      `SELECT * FROM catalogue_providers WHERE id = $1 FOR UPDATE`,
      [id],
    )
    assertVersion(ifMatch, versionedProvider(before))
    const { enabled, declaration, secrets } = change(before)
    const kept = before ? openOrDropSecrets(secretBox, before) : {}
    const merged = mergeSecrets(kept, secrets, before?.declaration as ProviderDeclarationBody | null, declaration)
    const isSecretChanged = JSON.stringify(merged) !== JSON.stringify(kept)
    const secretsVersion = (before?.secrets_version ?? 0) + (isSecretChanged ? 1 : 0)
    const columns = { ...secretColumns(secretBox, id, merged), secrets_version: secretsVersion }
    const row: ProviderRow = { id, enabled, declaration, ...columns }
    await transaction.execute(
      `INSERT INTO catalogue_providers (id, enabled, declaration, secrets_sealed, api_key_last_four, header_names,
         has_credentials, secrets_version, created_at, updated_at)
       VALUES ($1, $2, $3::jsonb, $4, $5, $6::text[], $7, $8, $9, $9)
       ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled, declaration = excluded.declaration,
         secrets_sealed = excluded.secrets_sealed, api_key_last_four = excluded.api_key_last_four,
         header_names = excluded.header_names, has_credentials = excluded.has_credentials,
         secrets_version = excluded.secrets_version, updated_at = excluded.updated_at`,
      [
        id,
        enabled,
        declaration === null ? null : JSON.stringify(declaration),
        row.secrets_sealed,
        row.api_key_last_four,
        row.header_names,
        row.has_credentials,
        row.secrets_version,
        new Date(clock.now()),
      ],
    )
    // The last four characters of a new key may equal the old ones, so a change of secrets is recorded explicitly.
    const secretsChanged = before && isSecretChanged ? { secretsChanged: true } : {}
    await record(dependencies, transaction, {
      actor,
      subjectType: 'provider',
      subjectId: id,
      before: before ? describeProvider(before) : null,
      after: { ...describeProvider(row), ...secretsChanged },
    })
  })
}

export function patchedProvider(id: string, before: ProviderRow | undefined, patch: PatchProvider): ProviderChange {
  const { enabled, apiKey, headers, credentials, ...fields } = patch
  const secrets = { apiKey, headers, credentials }
  const isOnlySwitch = Object.keys(patch).every((name) => name === 'enabled')
  const declared = before?.declaration ?? null
  if (declared === null && !isOnlySwitch)
    throw new AppError('conflict', `The provider ${id} is declared in the configuration; change it there.`)
  const merged = { ...asRecord(declared), ...fields }
  const stated = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null))
  const declaration = declared === null ? null : (stated as unknown as ProviderDeclarationBody)
  return {
    enabled: enabled ?? before?.enabled ?? true,
    declaration,
    secrets,
  }
}

/** Of what the version of a provider is made. */
export const versionedProvider = (row: ProviderRow | undefined) =>
  row ? { ...describeProvider(row), secretsVersion: row.secrets_version } : {}

export function describeProvider(row: ProviderRow): Record<string, unknown> {
  return {
    enabled: row.enabled,
    ...asRecord(row.declaration),
    apiKeyLastFour: row.api_key_last_four,
    headerNames: row.header_names,
    hasCredentials: row.has_credentials,
  }
}

export function providerTests({ database, clock }: ProviderDependencies) {
  return {
    /** Replaces the result of the earlier test. */
    saveTest: (result: ProviderTest) =>
      database.execute(
        `INSERT INTO catalogue_provider_tests (provider_id, tested_at, result) VALUES ($1, $2, $3::jsonb)
         ON CONFLICT (provider_id) DO UPDATE SET tested_at = excluded.tested_at, result = excluded.result`,
        [result.provider, new Date(clock.now()), JSON.stringify(result)],
      ),
    async loadTests(providerIds: readonly string[]): Promise<Map<string, { at: number; result: ProviderTest }>> {
      const rows = await database.query<{ provider_id: string; tested_at: Date; result: ProviderTest }>(
        `SELECT provider_id, tested_at, result FROM catalogue_provider_tests WHERE provider_id = ANY($1::text[])`,
        [providerIds],
      )
      return new Map(rows.map((row) => [row.provider_id, { at: row.tested_at.getTime(), result: row.result }]))
    },
  }
}
