import type { ModelKind } from '../../contract/model-kinds.ts'
import {
  type AddDeployments,
  type NewPrice,
  type PatchProvider,
  type ProviderDeclarationBody,
  type PutDeployment,
  type PutModel,
  type ProviderTest,
  providerDeclarationSchema,
  putDeploymentSchema,
  putModelSchema,
  statedPricesSchema,
} from '../../contract/models.ts'
import type { Database, Queryable, RecordChange } from '../../platform/database/index.ts'
import {
  AppError,
  type Clock,
  type Log,
  type SecretBox,
  createUuid,
  describeError,
} from '../../platform/kernel/index.ts'
import { type Actor, changedFields, recordAdminChange } from '../../tenants/operators/index.ts'
import { modelsTopic, providersTopic } from './create-catalogue.ts'
import type { Declarations } from './declarations.ts'
import { type StoredCatalogue, toDeclarations } from './from-operator.ts'
import { type SecretsChange, mergeSecrets, openOrDropSecrets, openSecrets, secretColumns } from './provider-secrets.ts'

interface ProviderChange {
  enabled: boolean
  /** null: only overrides a provider that is declared elsewhere. */
  declaration: ProviderDeclarationBody | null
  secrets: SecretsChange
}

/** The operator's declarations in the control database. One transaction writes a change, its admin log entry and the change feed. */
export type CatalogueStore = ReturnType<typeof createCatalogueStore>

const tables = {
  provider: 'catalogue_providers',
  model: 'catalogue_models',
  deployment: 'catalogue_deployments',
} as const

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

interface StoreDependencies {
  database: Database
  secretBox: SecretBox
  recordChange: RecordChange
  clock: Clock
  log: Log
}

export function createCatalogueStore(dependencies: StoreDependencies) {
  return {
    /** Rows that cannot be read (another secret key, a shape of another version) are omitted and logged. */
    loadDeclarations: (): Promise<Declarations> => loadDeclarations(dependencies),
    putProvider: (id: string, provider: ProviderChange, actor: Actor) =>
      changeProvider(dependencies, id, () => provider, actor),
    /** Throws `conflict` if the operator has not declared the provider and something else than `enabled` changes. */
    patchProvider: (id: string, patch: PatchProvider, actor: Actor) =>
      changeProvider(dependencies, id, (before) => patchedProvider(id, before, patch), actor),
    putModel: (id: string, model: PutModel, actor: Actor) =>
      changeDeclaration(dependencies, 'model', id, () => model, actor),
    putDeployment: (id: string, deployment: PutDeployment, actor: Actor) =>
      changeDeclaration(dependencies, 'deployment', id, () => deployment, actor),
    patchModel: (id: string, patch: PutModel, actor: Actor) =>
      changeDeclaration(dependencies, 'model', id, (before) => ({ ...before, ...patch }), actor),
    patchDeployment: (id: string, patch: PutDeployment, actor: Actor) =>
      changeDeclaration(dependencies, 'deployment', id, (before) => ({ ...before, ...patch }), actor),
    /** All or none. */
    addDeployments: (added: readonly AddedDeployment[], actor: Actor) => addDeployments(dependencies, added, actor),
    /** Returns the price's id. Throws `conflict` if the deployment has a price with the same `validFromMs`. */
    addPrice: (
      deploymentId: string,
      price: Omit<NewPrice, 'validFrom'>,
      validFromMs: number,
      actor: Actor,
    ): Promise<string> => addPrice(dependencies, deploymentId, price, validFromMs, actor),
    /** Removing returns false if there was nothing to remove. */
    removeProvider: (id: string, actor: Actor): Promise<boolean> => remove(dependencies, 'provider', id, actor),
    removeModel: (id: string, actor: Actor): Promise<boolean> => remove(dependencies, 'model', id, actor),
    removeDeployment: (id: string, actor: Actor): Promise<boolean> => remove(dependencies, 'deployment', id, actor),
    removePrice: (deploymentId: string, priceId: string, actor: Actor): Promise<boolean> =>
      removePrice(dependencies, deploymentId, priceId, actor),
    ...providerTests(dependencies),
  }
}

/** A deployment with what goes with it, where the catalogue does not have it already. */
export interface AddedDeployment {
  id: string
  deployment: PutDeployment & { model: string }
  kind: ModelKind | undefined
  prices: AddDeployments['deployments'][number]['prices']
}

function providerTests({ database, clock }: StoreDependencies) {
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

async function loadDeclarations({ database, secretBox, log }: StoreDependencies): Promise<Declarations> {
  const providers = await database.query<ProviderRow>(`SELECT * FROM catalogue_providers ORDER BY id`)
  const models = await database.query<DeclarationRow>(`SELECT id, declaration FROM catalogue_models ORDER BY id`)
  const deployments = await database.query<DeclarationRow>(
    `SELECT id, declaration FROM catalogue_deployments ORDER BY id`,
  )
  const prices = await database.query<PriceRow>(`SELECT * FROM catalogue_prices ORDER BY deployment_id, valid_from`)
  const stored: StoredCatalogue = {
    providers: readRows(log, 'provider', providers, (row) => ({
      id: row.id,
      enabled: row.enabled,
      declaration: row.declaration === null ? null : providerDeclarationSchema.parse(row.declaration),
      secrets: openSecrets(secretBox, row),
    })),
    models: readRows(log, 'model', models, (row) => ({ id: row.id, ...putModelSchema.parse(row.declaration) })),
    deployments: readRows(log, 'deployment', deployments, (row) => ({
      id: row.id,
      ...putDeploymentSchema.parse(row.declaration),
    })),
    prices: readRows(log, 'price', prices, (row) => ({
      id: row.id,
      deploymentId: row.deployment_id,
      validFrom: row.valid_from.getTime(),
      createdAt: row.created_at.getTime(),
      prices: statedPricesSchema.parse(row.prices),
    })),
  }
  return toDeclarations(stored)
}

/** Omits rows that cannot be read and logs them. */
function readRows<Row extends { id: string }, Value>(
  log: Log,
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

function changeProvider(
  dependencies: StoreDependencies,
  id: string,
  change: (before: ProviderRow | undefined) => ProviderChange,
  actor: Actor,
): Promise<void> {
  const { database, secretBox, clock } = dependencies
  return database.transaction(async (transaction) => {
    const [before] = await transaction.query<ProviderRow>(
      `SELECT * FROM catalogue_providers WHERE id = $1 FOR UPDATE`,
      [id],
    )
    const { enabled, declaration, secrets } = change(before)
    const kept = before ? openOrDropSecrets(secretBox, before) : {}
    const merged = mergeSecrets(kept, secrets, before?.declaration as ProviderDeclarationBody | null, declaration)
    const row: ProviderRow = { id, enabled, declaration, ...secretColumns(secretBox, id, merged) }
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
    // The last four characters of a new key may equal the old ones, so a change of secrets is recorded explicitly.
    const secretsChanged = before && JSON.stringify(merged) !== JSON.stringify(kept) ? { secretsChanged: true } : {}
    await record(dependencies, transaction, {
      actor,
      subjectType: 'provider',
      subjectId: id,
      before: before ? describeRow(before) : null,
      after: { ...describeRow(row), ...secretsChanged },
    })
  })
}

function patchedProvider(id: string, before: ProviderRow | undefined, patch: PatchProvider): ProviderChange {
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

function changeDeclaration(
  dependencies: StoreDependencies,
  subjectType: 'model' | 'deployment',
  id: string,
  change: (before: Record<string, unknown>) => PutModel | PutDeployment,
  actor: Actor,
): Promise<void> {
  return dependencies.database.transaction((transaction) =>
    writeDeclaration(dependencies, transaction, { subjectType, id, change, actor }),
  )
}

async function writeDeclaration(
  dependencies: StoreDependencies,
  transaction: Queryable,
  {
    subjectType,
    id,
    change,
    actor,
  }: {
    subjectType: 'model' | 'deployment'
    id: string
    change: (before: Record<string, unknown>) => PutModel | PutDeployment
    actor: Actor
  },
): Promise<void> {
  const table = tables[subjectType]
  const [before] = await transaction.query<DeclarationRow>(
    `SELECT id, declaration FROM ${table} WHERE id = $1 FOR UPDATE`,
    [id],
  )
  const declaration = change(asRecord(before?.declaration))
  await transaction.execute(
    `INSERT INTO ${table} (id, declaration, created_at, updated_at) VALUES ($1, $2::jsonb, $3, $3)
     ON CONFLICT (id) DO UPDATE SET declaration = excluded.declaration, updated_at = excluded.updated_at`,
    [id, JSON.stringify(declaration), new Date(dependencies.clock.now())],
  )
  await record(dependencies, transaction, {
    actor,
    subjectType,
    subjectId: id,
    before: before ? asRecord(before.declaration) : null,
    after: { ...declaration },
  })
}

function addDeployments(
  dependencies: StoreDependencies,
  added: readonly AddedDeployment[],
  actor: Actor,
): Promise<void> {
  const nowMs = dependencies.clock.now()
  return dependencies.database.transaction(async (transaction) => {
    for (const { id, deployment, kind, prices } of added) {
      const change = () => deployment
      await writeDeclaration(dependencies, transaction, { subjectType: 'deployment', id, change, actor })
      if (kind !== undefined)
        await writeDeclaration(dependencies, transaction, {
          subjectType: 'model',
          id: deployment.model,
          change: (before) => ({ ...before, kind }),
          actor,
        })
      if (prices)
        await writePrice(dependencies, transaction, { deploymentId: id, price: prices, validFromMs: nowMs, actor })
    }
  })
}

function remove(
  dependencies: StoreDependencies,
  subjectType: keyof typeof tables,
  id: string,
  actor: Actor,
): Promise<boolean> {
  return dependencies.database.transaction(async (transaction) => {
    const [row] = await transaction.query<DeclarationRow>(
      `DELETE FROM ${tables[subjectType]} WHERE id = $1 RETURNING *`,
      [id],
    )
    if (!row) return false
    const before = subjectType === 'provider' ? describeRow(row as ProviderRow) : asRecord(row.declaration)
    await record(dependencies, transaction, { actor, subjectType, subjectId: id, before, after: null })
    return true
  })
}

function addPrice(
  dependencies: StoreDependencies,
  deploymentId: string,
  price: Omit<NewPrice, 'validFrom'>,
  validFromMs: number,
  actor: Actor,
): Promise<string> {
  return dependencies.database.transaction((transaction) =>
    writePrice(dependencies, transaction, { deploymentId, price, validFromMs, actor }),
  )
}

async function writePrice(
  dependencies: StoreDependencies,
  transaction: Queryable,
  {
    deploymentId,
    price,
    validFromMs,
    actor,
  }: { deploymentId: string; price: Omit<NewPrice, 'validFrom'>; validFromMs: number; actor: Actor },
): Promise<string> {
  const { clock } = dependencies
  const id = createUuid(clock.now())
  const added = await transaction.execute(
    `INSERT INTO catalogue_prices (id, deployment_id, valid_from, prices, created_at)
     VALUES ($1, $2, $3, $4::jsonb, $5) ON CONFLICT (deployment_id, valid_from) DO NOTHING`,
    [id, deploymentId, new Date(validFromMs), JSON.stringify(price), new Date(clock.now())],
  )
  if (added === 0)
    throw new AppError(
      'conflict',
      'The deployment already has a price with this validFrom; choose another validFrom.',
      {
        param: 'validFrom',
      },
    )
  await record(dependencies, transaction, {
    actor,
    subjectType: 'price',
    subjectId: deploymentId,
    before: null,
    after: { id, validFrom: new Date(validFromMs).toISOString(), ...price },
  })
  return id
}

function removePrice(
  dependencies: StoreDependencies,
  deploymentId: string,
  priceId: string,
  actor: Actor,
): Promise<boolean> {
  return dependencies.database.transaction(async (transaction) => {
    const [row] = await transaction.query<PriceRow>(
      `DELETE FROM catalogue_prices WHERE id = $1 AND deployment_id = $2 RETURNING *`,
      [priceId, deploymentId],
    )
    if (!row) return false
    await record(dependencies, transaction, {
      actor,
      subjectType: 'price',
      subjectId: deploymentId,
      before: { id: priceId, validFrom: row.valid_from.toISOString(), ...asRecord(row.prices) },
      after: null,
    })
    return true
  })
}

interface RecordedChange {
  actor: Actor
  subjectType: 'provider' | 'model' | 'deployment' | 'price'
  subjectId: string
  /** null: created. */
  before: Record<string, unknown> | null
  /** null: removed. */
  after: Record<string, unknown> | null
}

/** Writes the admin log and the change feed; nothing if no field changed. */
async function record(
  { recordChange, clock }: StoreDependencies,
  transaction: Queryable,
  { actor, subjectType, subjectId, before, after }: RecordedChange,
): Promise<void> {
  const verb = before === null ? 'created' : after === null ? 'removed' : 'updated'
  const changed =
    before && after ? changedFields({ ...emptied(after, before) }, emptied(before, after)) : { before, after }
  if (!changed) return
  await recordAdminChange(transaction, {
    actor,
    atMs: clock.now(),
    action: `${subjectType}.${verb}` as const,
    subjectType,
    subjectId,
    organisationId: null,
    ...changed,
  })
  await recordChange(transaction, subjectType === 'provider' ? providersTopic : modelsTopic, subjectId)
}

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
