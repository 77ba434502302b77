import type { PriceSchedule } from '../billing/index.ts'
import type { ChangeSource, Clock, Log } from '../../platform/kernel/index.ts'
import type { ConnectionsView, Provider, ProviderSettings } from '../providers/index.ts'
import { type BuiltCatalogue, buildCatalogue } from './build-catalogue.ts'
import { capableDeployments } from './capabilities.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { Catalogue, OfferedModel } from './catalogue.ts'
import { type Declarations, noDeclarations } from './declarations.ts'
import { createDiscovery } from './discovery.ts'
import {
  baseTierModels,
  callableModels,
  findListed,
  findModel,
  listModels,
  offeredModels,
  resolveModel,
} from './find-model.ts'
import { type CatalogueConfiguration, builtInDeclarations, fromConfiguration } from './from-configuration.ts'
import { createProviderPool } from './provider-pool.ts'
import type { PriceSnapshot } from './price-snapshot.ts'

/** Topics of the change feed. */
export const providersTopic = 'providers'
export const modelsTopic = 'models'

export interface CatalogueDependencies {
  configuration: CatalogueConfiguration
  snapshot: PriceSnapshot
  /** The operator's declarations; absent: none (tests, benches). */
  store?: { loadDeclarations(): Promise<Declarations> }
  changes?: Pick<ChangeSource, 'subscribe'>
  createProvider: (settings: ProviderSettings) => Provider
  clock: Clock
  log: Log
}

/** A catalogue with a life cycle; call `start` before the first request. */
export interface LiveCatalogue extends Catalogue {
  /** Loads the operator's declarations and lists the models of discovered providers. Rejects if the database cannot be read. */
  start(): Promise<void>
  /** The id of the model with this id or alias, in any organisation. */
  canonicalId(name: string): string | undefined
  /** What `list` would have if the organisation had disabled nothing, with deployments. By id. */
  offered(organisation: Organisation, nowMs: number): OfferedModel[]
  /** The whole catalogue, for the operator's view. */
  built(): BuiltCatalogue
  /** Connections to a provider that are in use; null before its first call. */
  connections(providerId: string): ConnectionsView | null
  /** The id of one of the operator's prices; null for other prices. */
  operatorPriceId(deploymentId: string, schedule: PriceSchedule): string | null
  /** Waits for calls in flight, then closes all providers. */
  close(): Promise<void>
}

/**
 * Builds the catalogue from five sources, lowest priority first: the snapshot lists, the built-in offline model, models that providers list,
 * the configuration, the operator's declarations in the database. Throws on an invalid configuration.
 */
export function createCatalogue(dependencies: CatalogueDependencies): LiveCatalogue {
  const { snapshot, store, changes, clock, log } = dependencies
  const configuration = fromConfiguration(dependencies.configuration)
  const pool = createProviderPool(dependencies)
  let operator: Declarations = { ...noDeclarations, origin: 'operator' }
  let discovered: Declarations = { ...noDeclarations, origin: 'discovered' }
  let built = rebuild()
  let reloading: Promise<void> = Promise.resolve()
  const unsubscribe: (() => void)[] = []

  const discovery = createDiscovery({
    providers: () =>
      [...built.providers.values()].filter((provider) => provider.enabled && provider.models === 'discovered'),
    provider: ({ id }) => pool.get(id),
    onChange: () => {
      discovered = discovery.declarations()
      built = rebuild()
    },
    clock,
    log,
  })

  function rebuild(): BuiltCatalogue {
    const next = buildCatalogue(snapshot, [builtInDeclarations, discovered, configuration, operator])
    pool.replace([...next.providers.values()].filter(({ enabled }) => enabled).map(({ settings }) => settings))
    return next
  }

  /** Loads run one after another, so that an older result never replaces a newer one. */
  function load(): Promise<void> {
    const next = reloading.then(async () => {
      if (!store) return
      const former = new Set(built.problems)
      operator = await store.loadDeclarations()
      built = rebuild()
      for (const problem of built.problems)
        if (!former.has(problem)) log.warn({ problem }, 'the catalogue has a problem')
    })
    reloading = next.catch(() => {})
    return next
  }

  async function reload(): Promise<void> {
    await load()
    // Lists the models of a provider added at run time at once; the change does not wait for it.
    void discovery.refresh()
  }

  return {
    async start() {
      for (const problem of built.problems) log.warn({ problem }, 'the catalogue has a problem')
      for (const topic of [providersTopic, modelsTopic]) {
        if (changes) unsubscribe.push(changes.subscribe(topic, reload))
      }
      await load()
      await discovery.refresh()
    },
    list: (organisation, nowMs) => listModels(built, organisation, nowMs),
    find: (organisation, requestedId, nowMs) => findListed(built, organisation, requestedId, nowMs),
    canonicalId: (name) => findModel(built, name)?.id,
    resolve: (organisation, requestedId, nowMs) => resolveModel(built, organisation, requestedId, nowMs),
    baseTierModels: (organisation, nowMs) => baseTierModels(built, organisation, nowMs),
    callable: (organisation, nowMs) => callableModels(built, organisation, nowMs),
    capable: (resolved, capabilities) => capableDeployments(built, resolved, capabilities),
    provider: ({ providerId }) => pool.get(providerId),
    offered: (organisation, nowMs) => offeredModels(built, organisation, nowMs),
    built: () => built,
    connections: (providerId) => pool.connections(providerId),
    operatorPriceId: (deploymentId, schedule) =>
      operator.prices.find((price) => price.deploymentId === deploymentId && price.schedule === schedule)?.id ?? null,
    async close() {
      for (const stop of unsubscribe) stop()
      discovery.close()
      await reloading
      await pool.close()
    },
  }
}
