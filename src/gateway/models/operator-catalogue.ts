import type { PriceSchedule } from '../billing/index.ts'
import type {
  AddDeployments,
  DeploymentBody,
  DiscoveredModels,
  ModelBody,
  NewPrice,
  PatchProvider,
  PriceBody,
  ProbeProvider,
  ProviderBody,
  PutDeployment,
  PutModel,
  ProviderTest,
  PutProvider,
} from '../../contract/models.ts'
import { suffixProblem } from '../../contract/provider-address.ts'
import {
  AppError,
  notMetadata,
  type ChangeSource,
  type Clock,
  type RequestId,
  invalidField,
} from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import type { ProviderSettings } from '../providers/index.ts'
import { discoverModels, planDeployments } from './add-models.ts'
import type { BuiltModel } from './build-catalogue.ts'
import type { CatalogueStore } from './catalogue.store.ts'
import type { LiveCatalogue } from './create-catalogue.ts'
import type { DeploymentHealth } from './deployment-health.ts'
import { toProvider } from './from-configuration.ts'
import { type RenderContext, renderDeployment, renderModel, renderPrices, renderProvider } from './render-catalogue.ts'
import type { PriceSnapshot } from './price-snapshot.ts'
import type { ChangedBy } from './record-change.ts'
import { testProvider } from './test-provider.ts'
import { allEntries, type Entry } from './views/view-context.ts'

/** The operator's changes at run time. When a method resolves, the change is validated, recorded and in force on this instance. */
export type OperatorCatalogue = ReturnType<typeof createOperatorCatalogue>

/** A `validFrom` this far in the past is accepted as now: clocks differ. */
const pastToleranceMs = 60_000

const builtInProvider = 'portico'
/** No stored provider can have this id. */
const probedId = '(not stored)'

interface OperatorCatalogueDependencies {
  store: CatalogueStore
  catalogue: LiveCatalogue
  deploymentHealth: DeploymentHealth
  changes: Pick<ChangeSource, 'caughtUp'>
  snapshot: PriceSnapshot
  clock: Clock
}

export function createOperatorCatalogue(dependencies: OperatorCatalogueDependencies) {
  return {
    ...providerMethods(dependencies),
    ...addingMethods(dependencies),
    ...modelMethods(dependencies),
    ...deploymentMethods(dependencies),
    ...priceMethods(dependencies),
  }
}

function providerMethods(dependencies: OperatorCatalogueDependencies) {
  const { store, catalogue, deploymentHealth, clock } = dependencies
  const show = (id: string) => renderProvider(findProvider(catalogue, id), catalogue.versionOf('provider', id))
  return {
    providers: (): ProviderBody[] => [...catalogue.built().providers.keys()].map(show),
    provider: show,
    async putProvider(id: string, body: PutProvider, by: ChangedBy): Promise<ProviderBody> {
      const { enabled, apiKey, headers, credentials, format, ...rest } = body
      if (id === builtInProvider)
        throw new AppError('conflict', 'The built-in provider cannot be replaced; disable its model instead.')
      const { settings } = format === undefined ? findProvider(catalogue, id) : { settings: { format } }
      assertAddress(body.baseUrl, settings.format)
      const declaration = format === undefined ? null : { format, ...rest }
      await store.putProvider(id, { enabled, declaration, secrets: { apiKey, headers, credentials } }, by)
      await applyChange(
        dependencies,
        entriesOf(catalogue, id).map(({ deployment }) => deployment.id),
      )
      return show(id)
    },
    async patchProvider(id: string, patch: PatchProvider, by: ChangedBy): Promise<ProviderBody> {
      if (id === builtInProvider && Object.keys(patch).some((name) => name !== 'enabled'))
        throw new AppError('conflict', 'The built-in provider has no settings.')
      assertAddress(patch.baseUrl, findProvider(catalogue, id).settings.format)
      await store.patchProvider(id, patch, by)
      await applyChange(
        dependencies,
        entriesOf(catalogue, id).map(({ deployment }) => deployment.id),
      )
      return show(id)
    },
    async removeProvider(id: string, actor: Actor): Promise<void> {
      const dependent = entriesOf(catalogue, id).find(({ origin }) => origin === 'operator')
      if (dependent && catalogue.built().providers.get(id)?.origin === 'operator')
        throw new AppError('conflict', `The deployment ${dependent.deployment.id} uses this provider; remove it first.`)
      assertRemoved(await store.removeProvider(id, actor), 'provider', id)
      await applyChange(dependencies, [])
    },
    /** Sends one real call and stores the result; see testProvider. */
    async testProvider(id: string, model: string | undefined, requestId: RequestId): Promise<ProviderTest> {
      assertEnabled(findProvider(catalogue, id))
      const result = await testProvider(
        { providerId: id, model, entries: entriesOf(catalogue, id), requestId },
        { provider: () => catalogue.provider({ providerId: id }), deploymentHealth, clock },
      )
      await store.saveTest(result)
      return result
    },
  }
}

/** Models of a provider's listing, and the deployments that are made of them. */
function addingMethods(dependencies: OperatorCatalogueDependencies) {
  const { store, catalogue, snapshot, clock } = dependencies
  return {
    discoverModels(id: string): Promise<DiscoveredModels> {
      const declared = findProvider(catalogue, id)
      assertEnabled(declared)
      const provider = catalogue.provider({ providerId: id })
      return discoverModels({ declared, provider, built: catalogue.built(), snapshot, clock })
    },
    async probeProvider({ apiKey, headers, credentials, ...declaration }: ProbeProvider): Promise<DiscoveredModels> {
      assertAddress(declaration.baseUrl, declaration.format)
      const secrets = Object.entries({ apiKey, headers, credentials }).filter(
        ([, value]) => value !== undefined && value !== null,
      )
      const settings = { ...declaration, ...Object.fromEntries(secrets), id: probedId } as ProviderSettings
      const declared = { ...toProvider(settings), origin: 'operator', declaredIn: 'operator', replaces: null } as const
      const provider = catalogue.openProvider(declared.settings)
      try {
        return await discoverModels({ declared, provider, built: catalogue.built(), snapshot, clock })
      } finally {
        await provider.close()
      }
    },
    async addDeployments(id: string, body: AddDeployments, actor: Actor): Promise<{ data: DeploymentBody[] }> {
      const { priceLists } = findProvider(catalogue, id)
      const added = planDeployments(id, body, { built: catalogue.built(), priceLists, snapshot })
      await store.addDeployments(added, actor)
      const ids = added.map((one) => one.id)
      await applyChange(dependencies, ids)
      const context = renderContext(dependencies)
      const entries = allEntries(catalogue).filter(({ deployment }) => ids.includes(deployment.id))
      return { data: entries.map((entry) => renderDeployment(entry.model, entry, context)) }
    },
  }
}

function modelMethods(dependencies: OperatorCatalogueDependencies) {
  const { store, catalogue, snapshot } = dependencies
  return {
    models(): { data: ModelBody[]; snapshotDate: string; problems: string[] } {
      const { models, problems } = catalogue.built()
      const context = renderContext(dependencies)
      return {
        data: [...models.values()].map((model) => renderModel(model, context)),
        snapshotDate: snapshot.date,
        problems: [...problems],
      }
    },
    model: (id: string): ModelBody => renderModel(findModel(catalogue, id), renderContext(dependencies)),
    async putModel(id: string, body: PutModel, by: ChangedBy): Promise<ModelBody> {
      assertFreeAliases(catalogue, id, body.aliases)
      await store.putModel(id, body, by)
      await applyChange(dependencies, [])
      return renderModel(findModel(catalogue, id), renderContext(dependencies))
    },
    async patchModel(id: string, patch: PutModel, by: ChangedBy): Promise<ModelBody> {
      findModel(catalogue, id)
      assertFreeAliases(catalogue, id, patch.aliases)
      await store.patchModel(id, patch, by)
      await applyChange(dependencies, [])
      return renderModel(findModel(catalogue, id), renderContext(dependencies))
    },
    async removeModel(id: string, actor: Actor): Promise<void> {
      assertRemoved(await store.removeModel(id, actor), 'model', id)
      await applyChange(dependencies, [])
    },
  }
}

function deploymentMethods(dependencies: OperatorCatalogueDependencies) {
  const { store, catalogue } = dependencies
  const show = (id: string) => {
    const entry = findDeployment(catalogue, id)
    return renderDeployment(entry.model, entry, renderContext(dependencies))
  }
  return {
    deployments(): DeploymentBody[] {
      const context = renderContext(dependencies)
      return allEntries(catalogue).map((entry) => renderDeployment(entry.model, entry, context))
    },
    deployment: show,
    async putDeployment(id: string, body: PutDeployment, by: ChangedBy): Promise<DeploymentBody> {
      const known = allEntries(catalogue).some(({ deployment }) => deployment.id === id)
      for (const field of ['model', 'provider'] as const) {
        if (body[field] === undefined && !known) throw invalidField(field, `${field} is required for a new deployment.`)
      }
      if (body.provider !== undefined && !catalogue.built().providers.has(body.provider))
        throw invalidField('provider', `There is no provider ${body.provider}.`)
      await store.putDeployment(id, body, by)
      await applyChange(dependencies, [id])
      return show(id)
    },
    async patchDeployment(id: string, patch: PutDeployment, by: ChangedBy): Promise<DeploymentBody> {
      findDeployment(catalogue, id)
      await store.patchDeployment(id, patch, by)
      await applyChange(dependencies, isTrafficChange(patch) ? [] : [id])
      return show(id)
    },
    async removeDeployment(id: string, actor: Actor): Promise<void> {
      assertRemoved(await store.removeDeployment(id, actor), 'deployment', id)
      await applyChange(dependencies, [id])
    },
  }
}

function priceMethods(dependencies: OperatorCatalogueDependencies) {
  const { store, catalogue, clock } = dependencies
  const pricesOf = (deploymentId: string) =>
    renderPrices(findDeployment(catalogue, deploymentId).deployment, renderContext(dependencies))
  return {
    prices: pricesOf,
    async addPrice(deploymentId: string, { validFrom, ...price }: NewPrice, actor: Actor): Promise<PriceBody> {
      findDeployment(catalogue, deploymentId)
      const nowMs = clock.now()
      const validFromMs = validFrom === undefined ? nowMs : Date.parse(validFrom)
      if (validFromMs < nowMs - pastToleranceMs)
        throw invalidField('validFrom', 'validFrom must not be in the past: later calls are already billed.')
      const id = await store.addPrice(deploymentId, price, validFromMs, actor)
      await applyChange(dependencies, [])
      const shown = pricesOf(deploymentId).find((one) => one.id === id)
      if (!shown) throw new AppError('internal_error', 'The price was stored but cannot be shown.')
      return shown
    },
    async removePrice(deploymentId: string, priceId: string, actor: Actor): Promise<void> {
      assertRemoved(await store.removePrice(deploymentId, priceId, actor), 'price', priceId)
      await applyChange(dependencies, [])
    },
  }
}

/** Waits until this instance has read the change, and resets the health that was recorded with the old settings. */
async function applyChange(
  { changes, deploymentHealth }: OperatorCatalogueDependencies,
  deploymentIds: readonly string[],
): Promise<void> {
  await changes.caughtUp()
  deploymentHealth.reset(deploymentIds)
}

/** The error messages of a provider reach its operator, and its answers reach clients. */
function assertAddress(baseUrl: string | null | undefined, format: string): void {
  if (!baseUrl) return
  if (notMetadata.hostRefusal(new URL(baseUrl).hostname))
    throw invalidField('baseUrl', 'baseUrl must not be a link-local address or a metadata service of a cloud.')
  const problem = suffixProblem(baseUrl, format)
  if (problem) throw invalidField('baseUrl', `baseUrl ${problem.error}.`)
}

function assertRemoved(removed: boolean, what: string, id: string): void {
  if (!removed) throw new AppError('not_found', `The operator has declared no ${what} ${id}.`)
}

function renderContext({ catalogue, deploymentHealth, clock }: OperatorCatalogueDependencies): RenderContext {
  return {
    nowMs: clock.now(),
    health: deploymentHealth.health,
    versionOf: catalogue.versionOf,
    priceId: (deploymentId: string, schedule: PriceSchedule) => catalogue.operatorPriceId(deploymentId, schedule),
  }
}

function findProvider(catalogue: LiveCatalogue, id: string) {
  const provider = catalogue.built().providers.get(id)
  if (!provider) throw new AppError('not_found', `There is no provider ${id}.`)
  return provider
}

function findModel(catalogue: LiveCatalogue, id: string): BuiltModel {
  const model = catalogue.built().models.get(id)
  if (!model) throw new AppError('not_found', `There is no model ${id}.`)
  return model
}

/** Such a change does not change the health that was observed. */
function isTrafficChange(patch: PutDeployment): boolean {
  return Object.keys(patch).every((name) => name === 'weight' || name === 'enabled')
}

function assertEnabled({ settings, enabled }: { settings: { id: string }; enabled: boolean }): void {
  if (!enabled) throw new AppError('conflict', `The provider ${settings.id} is disabled; enable it first.`)
}

function assertFreeAliases(catalogue: LiveCatalogue, id: string, added: readonly string[] = []): void {
  const { models, aliases } = catalogue.built()
  for (const alias of added) {
    const holder = models.has(alias) ? alias : aliases.get(alias)
    if (holder !== undefined && holder !== id)
      throw new AppError('conflict', `The alias ${alias} already refers to ${holder}.`, { param: 'aliases' })
  }
}

function findDeployment(catalogue: LiveCatalogue, id: string): Entry {
  const entry = allEntries(catalogue).find(({ deployment }) => deployment.id === id)
  if (!entry) throw new AppError('not_found', `There is no deployment ${id}.`)
  return entry
}

function entriesOf(catalogue: LiveCatalogue, providerId: string): Entry[] {
  return allEntries(catalogue).filter(({ deployment }) => deployment.providerId === providerId)
}
