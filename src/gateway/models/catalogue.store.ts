import type { ModelKind } from '../../contract/model-kinds.ts'
import {
  type AddDeployments,
  type NewPrice,
  type PatchProvider,
  type PutDeployment,
  type PutModel,
  providerDeclarationSchema,
  putDeploymentSchema,
  putModelSchema,
  statedPricesSchema,
} from '../../contract/models.ts'
import type { Queryable } from '../../platform/database/index.ts'
import { assertVersion, type Log, describeError, versionOf } from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import { type PriceRow, removePrice, writePrice } from './catalogue-prices.store.ts'
import {
  changeProvider,
  describeProvider,
  patchedProvider,
  type ProviderChange,
  type ProviderDependencies,
  type ProviderRow,
  providerTests,
  versionedProvider,
} from './catalogue-providers.store.ts'
import { type Declarations, versionKey } from './declarations.ts'
import { type StoredCatalogue, toDeclarations } from './from-operator.ts'
import { openSecrets } from './provider-secrets.ts'
import { asRecord, type ChangedBy, record } from './record-change.ts'

/** The operator's declarations in the control database. One transaction writes a change, its admin log entry and the change feed. */
export type CatalogueStore = ReturnType<typeof createCatalogueStore>

const tables = {
  provider: 'catalogue_providers',
  model: 'catalogue_models',
  deployment: 'catalogue_deployments',
} as const

interface DeclarationRow {
  id: string
  declaration: unknown
}

interface StoreDependencies extends ProviderDependencies {
  log: Log
}

export function createCatalogueStore(dependencies: StoreDependencies) {
  return {
    /** Rows that cannot be read (another secret key, a shape of another version) are omitted and logged. */
    loadDeclarations: (): Promise<Declarations> => loadDeclarations(dependencies),
    putProvider: (id: string, provider: ProviderChange, by: ChangedBy) =>
      changeProvider(dependencies, id, () => provider, by),
    /** Throws `conflict` if the operator has not declared the provider and something else than `enabled` changes. */
    patchProvider: (id: string, patch: PatchProvider, by: ChangedBy) =>
      changeProvider(dependencies, id, (before) => patchedProvider(id, before, patch), by),
    putModel: (id: string, model: PutModel, by: ChangedBy) =>
      changeDeclaration(dependencies, { subjectType: 'model', id, change: () => model, by }),
    putDeployment: (id: string, deployment: PutDeployment, by: ChangedBy) =>
      changeDeclaration(dependencies, { subjectType: 'deployment', id, change: () => deployment, by }),
    patchModel: (id: string, patch: PutModel, by: ChangedBy) =>
      changeDeclaration(dependencies, { subjectType: 'model', id, change: (before) => ({ ...before, ...patch }), by }),
    patchDeployment: (id: string, patch: PutDeployment, by: ChangedBy) =>
      changeDeclaration(dependencies, {
        subjectType: 'deployment',
        id,
        change: (before) => ({ ...before, ...patch }),
        by,
      }),
    /** All or none. */
    addDeployments: (added: readonly AddedDeployment[], actor: Actor) => addDeployments(dependencies, added, actor),
    /** Returns the price's id. Throws `conflict` if the deployment has a price with the same `validFromMs`. */
    addPrice: (
      deploymentId: string,
      price: Omit<NewPrice, 'validFrom'>,
      validFromMs: number,
      actor: Actor,
    ): Promise<string> =>
      dependencies.database.transaction((transaction) =>
        writePrice(dependencies, transaction, { deploymentId, price, validFromMs, actor }),
      ),
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
  const versions = [
    ...providers.map((row) => [versionKey('provider', row.id), versionOf(versionedProvider(row))] as const),
    ...models.map((row) => [versionKey('model', row.id), versionOf(versionedDeclaration(row))] as const),
    ...deployments.map((row) => [versionKey('deployment', row.id), versionOf(versionedDeclaration(row))] as const),
  ]
  return { ...toDeclarations(stored), versions: new Map(versions) }
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

interface DeclarationChange {
  subjectType: 'model' | 'deployment'
  id: string
  change: (before: Record<string, unknown>) => PutModel | PutDeployment
  by: ChangedBy
}

function changeDeclaration(dependencies: StoreDependencies, change: DeclarationChange): Promise<void> {
  return dependencies.database.transaction((transaction) => writeDeclaration(dependencies, transaction, change))
}

/** Of what the version of a model or a deployment is made. */
const versionedDeclaration = (row: DeclarationRow | undefined) =>
  row ? { declaration: asRecord(row.declaration) } : {}

async function writeDeclaration(
  dependencies: StoreDependencies,
  transaction: Queryable,
  { subjectType, id, change, by: { actor, ifMatch } }: DeclarationChange,
): Promise<void> {
  const table = tables[subjectType]
  const [before] = await transaction.query<DeclarationRow>(
    `SELECT id, declaration FROM ${table} WHERE id = $1 FOR UPDATE`,
    [id],
  )
  assertVersion(ifMatch, versionedDeclaration(before))
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
      await writeDeclaration(dependencies, transaction, { subjectType: 'deployment', id, change, by: { actor } })
      if (kind !== undefined)
        await writeDeclaration(dependencies, transaction, {
          subjectType: 'model',
          id: deployment.model,
          change: (before) => ({ ...before, kind }),
          by: { actor },
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
    const before = subjectType === 'provider' ? describeProvider(row as ProviderRow) : asRecord(row.declaration)
    await record(dependencies, transaction, { actor, subjectType, subjectId: id, before, after: null })
    return true
  })
}
