import {
  type NewPrice,
  type ProviderDeclarationBody,
  type PutDeployment,
  type PutModel,
  providerDeclarationSchema,
  putDeploymentSchema,
  putModelSchema,
  statedPricesSchema,
} from '../contract/models.ts'
import type { Database, Queryable, RecordChange } from '../database/index.ts'
import { AppError, type Clock, type Log, type SecretBox, createUuid, describeError } from '../kernel/index.ts'
import { type Actor, changedFields, recordAdminChange } from '../operators/index.ts'
import { modelsTopic, providersTopic } from './create-catalogue.ts'
import type { Declarations } from './declarations.ts'
import { type ProviderSecrets, type StoredCatalogue, toDeclarations } from './from-operator.ts'

/** `undefined` keeps what is stored, null removes it. */
interface SecretsChange {
  apiKey?: string | null | undefined
  headers?: Readonly<Record<string, string>> | null | undefined
  credentials?: string | null | undefined
}

/** The operator's declarations in the control database. Every change writes its record and tells the change feed in one transaction. */
export interface CatalogueStore {
  /** Rows that cannot be read (another secret key, a shape of another version) are left out and logged: closed, not broken. */
  loadDeclarations(): Promise<Declarations>
  putProvider(
    id: string,
    provider: { enabled: boolean; declaration: ProviderDeclarationBody | null; secrets: SecretsChange },
    actor: Actor,
  ): Promise<void>
  putModel(id: string, model: PutModel, actor: Actor): Promise<void>
  putDeployment(id: string, deployment: PutDeployment, actor: Actor): Promise<void>
  /** Throws `conflict` where the deployment has a price of that moment. Returns the price's id. */
  addPrice(deploymentId: string, price: Omit<NewPrice, 'validFrom'>, validFromMs: number, actor: Actor): Promise<string>
  /** false where there was none. */
  removeProvider(id: string, actor: Actor): Promise<boolean>
  removeModel(id: string, actor: Actor): Promise<boolean>
  removeDeployment(id: string, actor: Actor): Promise<boolean>
  removePrice(deploymentId: string, priceId: string, actor: Actor): Promise<boolean>
}

interface ProviderRow {
  id: string
  enabled: boolean
  declaration: unknown
  secrets_sealed: string | null
  api_key_last_four: string | null
  header_names: string[]
  has_credentials: boolean
}
interface DeclarationRow {
  id: string
  declaration: unknown
}
interface PriceRow {
  id: string
  deployment_id: string
  valid_from: Date
  prices: unknown
  created_at: Date
}

/** A key shorter than this would be half shown by its last four characters. */
const shortestShownKey = 12

export function createCatalogueStore({
  database,
  secretBox,
  recordChange,
  clock,
  log,
}: {
  database: Database
  secretBox: SecretBox
  recordChange: RecordChange
  clock: Clock
  log: Log
}): CatalogueStore {
  const openSecrets = (id: string, sealed: string | null): ProviderSecrets =>
    sealed === null ? {} : (JSON.parse(secretBox.open(sealed, `provider:${id}`)) as ProviderSecrets)

  /** Leaves out and logs what cannot be read. */
  function readRows<Row extends { id: string }, Value>(
    what: string,
    rows: readonly Row[],
    read: (row: Row) => Value,
  ): Value[] {
    return rows.flatMap((row) => {
      try {
        return [read(row)]
      } catch (error) {
        log.error({ [what]: row.id, error: describeError(error) }, `a stored ${what} cannot be read and is left out`)
        return []
      }
    })
  }

  async function record(
    transaction: Queryable,
    actor: Actor,
    subjectType: string,
    subjectId: string,
    before: Record<string, unknown> | null,
    after: Record<string, unknown> | null,
  ) {
    const verb = before === null ? 'created' : after === null ? 'removed' : 'updated'
    const changed =
      before && after ? changedFields({ ...emptied(after, before) }, emptied(before, after)) : { before, after }
    if (!changed) return
    await recordAdminChange(transaction, {
      actor,
      atMs: clock.now(),
      action: `${subjectType}.${verb}`,
      subjectType,
      subjectId,
      organisationId: null,
      ...changed,
    })
    await recordChange(transaction, subjectType === 'provider' ? providersTopic : modelsTopic, subjectId)
  }

  function putDeclaration(table: 'catalogue_models' | 'catalogue_deployments', subject: string) {
    return (id: string, declaration: PutModel | PutDeployment, actor: Actor): Promise<void> =>
      database.transaction(async (transaction) => {
        const [before] = await transaction.query<DeclarationRow>(
          `SELECT id, declaration FROM ${table} WHERE id = $1 FOR UPDATE`,
          [id],
        )
        await transaction.execute(
          `INSERT INTO ${table} (id, declaration, created_at, updated_at) VALUES ($1, $2::jsonb, $3, $3)
           ON CONFLICT (id) DO UPDATE SET declaration = excluded.declaration, updated_at = excluded.updated_at`,
          [id, JSON.stringify(declaration), new Date(clock.now())],
        )
        await record(transaction, actor, subject, id, before ? asRecord(before.declaration) : null, { ...declaration })
      })
  }

  function remove(table: 'catalogue_providers' | 'catalogue_models' | 'catalogue_deployments', subject: string) {
    return (id: string, actor: Actor): Promise<boolean> =>
      database.transaction(async (transaction) => {
        const [before] = await transaction.query<DeclarationRow>(
          `DELETE FROM ${table} WHERE id = $1 RETURNING id, declaration`,
          [id],
        )
        if (!before) return false
        await record(transaction, actor, subject, id, asRecord(before.declaration), null)
        return true
      })
  }

  return {
    async loadDeclarations() {
      const providers = await database.query<ProviderRow>(`SELECT * FROM catalogue_providers ORDER BY id`)
      const models = await database.query<DeclarationRow>(`SELECT id, declaration FROM catalogue_models ORDER BY id`)
      const deployments = await database.query<DeclarationRow>(
        `SELECT id, declaration FROM catalogue_deployments ORDER BY id`,
      )
      const prices = await database.query<PriceRow>(`SELECT * FROM catalogue_prices ORDER BY deployment_id, valid_from`)
      const stored: StoredCatalogue = {
        providers: readRows('provider', providers, (row) => ({
          id: row.id,
          enabled: row.enabled,
          declaration: row.declaration === null ? null : providerDeclarationSchema.parse(row.declaration),
          secrets: openSecrets(row.id, row.secrets_sealed),
        })),
        models: readRows('model', models, (row) => ({ id: row.id, ...putModelSchema.parse(row.declaration) })),
        deployments: readRows('deployment', deployments, (row) => ({
          id: row.id,
          ...putDeploymentSchema.parse(row.declaration),
        })),
        prices: readRows('price', prices, (row) => ({
          id: row.id,
          deploymentId: row.deployment_id,
          validFrom: row.valid_from.getTime(),
          createdAt: row.created_at.getTime(),
          prices: statedPricesSchema.parse(row.prices),
        })),
      }
      return toDeclarations(stored)
    },
    putProvider: (id, { enabled, declaration, secrets }, actor) =>
      database.transaction(async (transaction) => {
        const [before] = await transaction.query<ProviderRow>(
          `SELECT * FROM catalogue_providers WHERE id = $1 FOR UPDATE`,
          [id],
        )
        const kept = before ? openStored(openSecrets, before) : {}
        const merged = mergeSecrets(kept, secrets)
        const row: ProviderRow = {
          id,
          enabled,
          declaration,
          secrets_sealed:
            Object.keys(merged).length === 0 ? null : secretBox.seal(JSON.stringify(merged), `provider:${id}`),
          api_key_last_four: merged.apiKey === undefined ? null : lastFour(merged.apiKey),
          header_names: Object.keys(merged.headers ?? {}).sort(),
          has_credentials: merged.credentials !== undefined,
        }
        await transaction.execute(
          `INSERT INTO catalogue_providers (id, enabled, declaration, secrets_sealed, api_key_last_four, header_names,
             has_credentials, created_at, updated_at)
           VALUES ($1, $2, $3::jsonb, $4, $5, $6::text[], $7, $8, $8)
           ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled, declaration = excluded.declaration,
             secrets_sealed = excluded.secrets_sealed, api_key_last_four = excluded.api_key_last_four,
             header_names = excluded.header_names, has_credentials = excluded.has_credentials,
             updated_at = excluded.updated_at`,
          [
            id,
            enabled,
            declaration === null ? null : JSON.stringify(declaration),
            row.secrets_sealed,
            row.api_key_last_four,
            row.header_names,
            row.has_credentials,
            new Date(clock.now()),
          ],
        )
        // A new key may end like the old one: the record says that something changed, never more.
        const secretsChanged = before && JSON.stringify(merged) !== JSON.stringify(kept) ? { secretsChanged: true } : {}
        await record(transaction, actor, 'provider', id, before ? describeRow(before) : null, {
          ...describeRow(row),
          ...secretsChanged,
        })
      }),
    putModel: putDeclaration('catalogue_models', 'model'),
    putDeployment: putDeclaration('catalogue_deployments', 'deployment'),
    addPrice: (deploymentId, price, validFromMs, actor) =>
      database.transaction(async (transaction) => {
        const id = createUuid(clock.now())
        const added = await transaction.execute(
          `INSERT INTO catalogue_prices (id, deployment_id, valid_from, prices, created_at)
           VALUES ($1, $2, $3, $4::jsonb, $5) ON CONFLICT (deployment_id, valid_from) DO NOTHING`,
          [id, deploymentId, new Date(validFromMs), JSON.stringify(price), new Date(clock.now())],
        )
        if (added === 0)
          throw new AppError(
            'conflict',
            'The deployment has a price from that very moment; choose another validFrom.',
            {
              param: 'validFrom',
            },
          )
        const after = { id, validFrom: new Date(validFromMs).toISOString(), ...price }
        await record(transaction, actor, 'price', deploymentId, null, after)
        return id
      }),
    removeProvider: remove('catalogue_providers', 'provider'),
    removeModel: remove('catalogue_models', 'model'),
    removeDeployment: remove('catalogue_deployments', 'deployment'),
    removePrice: (deploymentId, priceId, actor) =>
      database.transaction(async (transaction) => {
        const [row] = await transaction.query<PriceRow>(
          `DELETE FROM catalogue_prices WHERE id = $1 AND deployment_id = $2 RETURNING *`,
          [priceId, deploymentId],
        )
        if (!row) return false
        const before = { id: priceId, validFrom: row.valid_from.toISOString(), ...asRecord(row.prices) }
        await record(transaction, actor, 'price', deploymentId, before, null)
        return true
      }),
  }
}

/** Secrets sealed under another key are lost: replacing the provider must still be possible. */
function openStored(
  openSecrets: (id: string, sealed: string | null) => ProviderSecrets,
  row: ProviderRow,
): ProviderSecrets {
  try {
    return openSecrets(row.id, row.secrets_sealed)
  } catch {
    return {}
  }
}

function mergeSecrets(kept: ProviderSecrets, change: SecretsChange): ProviderSecrets {
  const merged: ProviderSecrets = {}
  const apiKey = change.apiKey === undefined ? kept.apiKey : change.apiKey
  const headers = change.headers === undefined ? kept.headers : change.headers
  const credentials = change.credentials === undefined ? kept.credentials : change.credentials
  if (apiKey) merged.apiKey = apiKey
  if (headers && Object.keys(headers).length > 0) merged.headers = { ...headers }
  if (credentials) merged.credentials = credentials
  return merged
}

const lastFour = (key: string) => (key.length >= shortestShownKey ? key.slice(-4) : '****')

function describeRow(row: ProviderRow): Record<string, unknown> {
  return {
    enabled: row.enabled,
    ...asRecord(row.declaration),
    apiKeyLastFour: row.api_key_last_four,
    headerNames: row.header_names,
    hasCredentials: row.has_credentials,
  }
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** `subject` with a null for each further field of `other`, so that a removed field counts as a change. */
function emptied(other: Record<string, unknown>, subject: Record<string, unknown>): Record<string, unknown> {
  return { ...Object.fromEntries(Object.keys(other).map((name) => [name, null])), ...subject }
}
