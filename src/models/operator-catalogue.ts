import type { PriceSchedule } from '../billing/index.ts'
import type {
  DeploymentBody,
  ModelBody,
  NewPrice,
  PriceBody,
  ProviderBody,
  PutDeployment,
  PutModel,
  ProviderTest,
  PutProvider,
} from '../contract/models.ts'
import { AppError, type ChangeSource, type Clock, type RequestId } from '../kernel/index.ts'
import type { Actor } from '../operators/index.ts'
import type { BuiltModel } from './build-catalogue.ts'
import type { CatalogueStore } from './catalogue.store.ts'
import type { LiveCatalogue } from './create-catalogue.ts'
import type { DeploymentHealth } from './deployment-health.ts'
import { type RenderContext, renderDeployment, renderModel, renderPrices, renderProvider } from './render-catalogue.ts'
import { testProvider } from './test-provider.ts'

/** The operator's changes while Portico runs: checked, recorded, and in force on this instance when a call here resolves. */
export interface OperatorCatalogue {
  providers(): ProviderBody[]
  provider(id: string): ProviderBody
  putProvider(id: string, body: PutProvider, actor: Actor): Promise<ProviderBody>
  removeProvider(id: string, actor: Actor): Promise<void>
  /** Makes one real call; see testProvider. */
  testProvider(id: string, model: string | undefined, requestId: RequestId): Promise<ProviderTest>
  models(): { data: ModelBody[]; snapshotDate: string; problems: string[] }
  model(id: string): ModelBody
  putModel(id: string, body: PutModel, actor: Actor): Promise<ModelBody>
  removeModel(id: string, actor: Actor): Promise<void>
  deployments(): DeploymentBody[]
  deployment(id: string): DeploymentBody
  putDeployment(id: string, body: PutDeployment, actor: Actor): Promise<DeploymentBody>
  removeDeployment(id: string, actor: Actor): Promise<void>
  prices(deploymentId: string): PriceBody[]
  addPrice(deploymentId: string, body: NewPrice, actor: Actor): Promise<PriceBody>
  removePrice(deploymentId: string, priceId: string, actor: Actor): Promise<void>
}

/** A `validFrom` of this much ago still counts as now: clocks differ. */
const pastToleranceMs = 60_000

export function createOperatorCatalogue({
  store,
  catalogue,
  deploymentHealth,
  changes,
  snapshotDate,
  clock,
}: {
  store: CatalogueStore
  catalogue: LiveCatalogue
  deploymentHealth: DeploymentHealth
  changes: Pick<ChangeSource, 'caughtUp'>
  snapshotDate: string
  clock: Clock
}): OperatorCatalogue {
  const context = (): RenderContext => ({
    nowMs: clock.now(),
    health: deploymentHealth.health,
    priceId: (deploymentId: string, schedule: PriceSchedule) => catalogue.operatorPriceId(deploymentId, schedule),
  })

  function findProvider(id: string) {
    const provider = catalogue.built().providers.get(id)
    if (!provider) throw new AppError('not_found', `There is no provider ${id}.`)
    return provider
  }

  function findModel(id: string): BuiltModel {
    const model = catalogue.built().models.get(id)
    if (!model) throw new AppError('not_found', `There is no model ${id}.`)
    return model
  }

  function findDeployment(id: string): { model: BuiltModel; entry: BuiltModel['all'][number] } {
    for (const model of catalogue.built().models.values()) {
      const entry = model.all.find(({ deployment }) => deployment.id === id)
      if (entry) return { model, entry }
    }
    throw new AppError('not_found', `There is no deployment ${id}.`)
  }

  const deploymentsOf = (providerId: string) =>
    [...catalogue.built().models.values()].flatMap((model) =>
      model.all.filter(({ deployment }) => deployment.providerId === providerId),
    )

  /** What was seen under the old settings says nothing about the new ones. */
  async function settle(deploymentIds: readonly string[]) {
    await changes.caughtUp()
    deploymentHealth.reset(deploymentIds)
  }

  async function removed(what: string, id: string, there: Promise<boolean>, deploymentIds: readonly string[]) {
    if (!(await there)) throw new AppError('not_found', `The operator has declared no ${what} ${id}.`)
    await settle(deploymentIds)
  }

  const showDeployment = (id: string) => {
    const { model, entry } = findDeployment(id)
    return renderDeployment(model, entry, context())
  }

  return {
    providers: () => [...catalogue.built().providers.values()].map(renderProvider),
    provider: (id) => renderProvider(findProvider(id)),
    async putProvider(id, body, actor) {
      const { enabled, apiKey, headers, credentials, format, ...rest } = body
      if (id === builtInProvider)
        throw new AppError('conflict', 'The built-in provider cannot be replaced; switch its model off instead.')
      if (format === undefined) findProvider(id)
      const declaration = format === undefined ? null : { format, ...rest }
      await store.putProvider(id, { enabled, declaration, secrets: { apiKey, headers, credentials } }, actor)
      await settle(deploymentsOf(id).map(({ deployment }) => deployment.id))
      return renderProvider(findProvider(id))
    },
    async removeProvider(id, actor) {
      const dependent = deploymentsOf(id).find(({ origin }) => origin === 'operator')
      if (dependent && catalogue.built().providers.get(id)?.origin === 'operator')
        throw new AppError('conflict', `The deployment ${dependent.deployment.id} uses this provider; remove it first.`)
      await removed('provider', id, store.removeProvider(id, actor), [])
    },
    async testProvider(id, model, requestId) {
      const declared = findProvider(id)
      if (!declared.enabled) throw new AppError('conflict', `The provider ${id} is switched off; enable it first.`)
      const entries = [...catalogue.built().models.values()].flatMap((one) =>
        one.all
          .filter(({ deployment }) => deployment.providerId === id)
          .map(({ deployment }) => ({ model: one, deployment })),
      )
      return testProvider(
        { providerId: id, model, entries, requestId },
        { provider: () => catalogue.provider({ providerId: id }), deploymentHealth, clock },
      )
    },
    models: () => {
      const built = catalogue.built()
      const shared = context()
      const data = [...built.models.values()].map((model) => renderModel(model, shared))
      return { data, snapshotDate, problems: [...built.problems] }
    },
    model: (id) => renderModel(findModel(id), context()),
    async putModel(id, body, actor) {
      for (const alias of body.aliases ?? []) {
        const built = catalogue.built()
        const holder = built.models.has(alias) ? alias : built.aliases.get(alias)
        if (holder !== undefined && holder !== id)
          throw new AppError('conflict', `The alias ${alias} already means ${holder}.`, { param: 'aliases' })
      }
      await store.putModel(id, body, actor)
      await settle([])
      return renderModel(findModel(id), context())
    },
    removeModel: (id, actor) => removed('model', id, store.removeModel(id, actor), []),
    deployments: () => {
      const shared = context()
      return [...catalogue.built().models.values()].flatMap((model) =>
        model.all.map((entry) => renderDeployment(model, entry, shared)),
      )
    },
    deployment: showDeployment,
    async putDeployment(id, body, actor) {
      const known = [...catalogue.built().models.values()].some((model) =>
        model.all.some((one) => one.deployment.id === id),
      )
      for (const field of ['model', 'provider'] as const) {
        if (body[field] === undefined && !known)
          throw new AppError('invalid_request', `${field} is required for a new deployment.`, { param: field })
      }
      if (body.provider !== undefined && !catalogue.built().providers.has(body.provider))
        throw new AppError('invalid_request', `There is no provider ${body.provider}.`, { param: 'provider' })
      await store.putDeployment(id, body, actor)
      await settle([id])
      return showDeployment(id)
    },
    removeDeployment: (id, actor) => removed('deployment', id, store.removeDeployment(id, actor), [id]),
    prices: (deploymentId) => renderPrices(findDeployment(deploymentId).entry.deployment, context()),
    async addPrice(deploymentId, { validFrom, ...price }, actor) {
      findDeployment(deploymentId)
      const nowMs = clock.now()
      const validFromMs = validFrom === undefined ? nowMs : Date.parse(validFrom)
      if (validFromMs < nowMs - pastToleranceMs)
        throw new AppError(
          'invalid_request',
          'validFrom must not lie in the past: calls since then have been billed.',
          {
            param: 'validFrom',
          },
        )
      const id = await store.addPrice(deploymentId, price, validFromMs, actor)
      await settle([])
      const shown = renderPrices(findDeployment(deploymentId).entry.deployment, context()).find((one) => one.id === id)
      if (!shown) throw new AppError('internal_error', 'The price was stored but cannot be shown.')
      return shown
    },
    removePrice: (deploymentId, priceId, actor) =>
      removed('price', priceId, store.removePrice(deploymentId, priceId, actor), []),
  }
}

const builtInProvider = 'portico'
