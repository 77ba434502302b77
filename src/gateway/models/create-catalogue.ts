import { type ChangeSource, type Clock, type HostedToolKind, type Log, versionOf } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { PriceSchedule } from '../billing/index.ts'
import type {
  Capability,
  ConnectionsView,
  Provider,
  ProviderSettings,
  ResolvedTraits,
  WireFormat,
} from '../providers/index.ts'
import { buildCatalogue, type BuiltCatalogue, type BuiltModel } from './build-catalogue.ts'
import {
  type Catalogue,
  type Deployment,
  euPrefix,
  type ListedModel,
  type Model,
  type OfferedModel,
  type ResolvedModel,
} from './catalogue.ts'
import { type Declarations, noDeclarations, type VersionedKind, versionKey } from './declarations.ts'
import { createDiscovery } from './discovery.ts'
import { builtInDeclarations, type CatalogueConfiguration, fromConfiguration } from './from-configuration.ts'
import type { PriceSnapshot } from './price-snapshot.ts'
import { createProviderPool } from './provider-pool.ts'

/** Topics of the change feed. */
export const providersTopic = 'providers'
export const modelsTopic = 'models'

interface CatalogueDependencies {
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
  /** A provider that is not part of the catalogue; the caller closes it. */
  openProvider(settings: ProviderSettings): Provider
  /** Connections to a provider that are in use; null before its first call. */
  connections(providerId: string): ConnectionsView | null
  /** The id of one of the operator's prices; null for other prices. */
  operatorPriceId(deploymentId: string, schedule: PriceSchedule): string | null
  /** The version of what the operator has declared; a fixed one where that is nothing. */
  versionOf(kind: VersionedKind, id: string): string
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
    openProvider: dependencies.createProvider,
    connections: (providerId) => pool.connections(providerId),
    operatorPriceId: (deploymentId, schedule) =>
      operator.prices.find((price) => price.deploymentId === deploymentId && price.schedule === schedule)?.id ?? null,
    versionOf: (kind, id) => operator.versions.get(versionKey(kind, id)) ?? versionOf({}),
    async close() {
      for (const stop of unsubscribe) stop()
      discovery.close()
      await reloading
      await pool.close()
    },
  }
}

/**
 * Which organisation may call which model, as pure functions. The list and the calls share them, so the list contains exactly what a call
 * accepts.
 */
export function resolveModel(
  catalogue: BuiltCatalogue,
  organisation: Organisation,
  requestedId: string,
  nowMs: number,
): ResolvedModel | undefined {
  const eu = requestedId.startsWith(euPrefix)
  const name = eu ? requestedId.slice(euPrefix.length) : requestedId
  const model = findModel(catalogue, name)
  if (!model || !isAllowed(model, organisation, nowMs)) return undefined
  const deployments = callable(eu ? model.sides.eu : model.sides.other, nowMs)
  return deployments.length === 0 ? undefined : { model, eu, deployments }
}

/** Ollama's tag of a model without a tag. */
const latestTag = ':latest'

/** By canonical id or alias; `name` and `name:latest` are the same model unless both exist. */
export function findModel({ models, aliases }: BuiltCatalogue, name: string): BuiltModel | undefined {
  const twin = name.endsWith(latestTag) ? name.slice(0, -latestTag.length) : name + latestTag
  for (const id of [name, twin]) {
    const model = models.get(id) ?? models.get(aliases.get(id) ?? '')
    if (model) return model
  }
  return undefined
}

export function listModels(catalogue: BuiltCatalogue, organisation: Organisation, nowMs: number): ListedModel[] {
  const entries: ListedModel[] = []
  for (const model of catalogue.models.values()) {
    if (model.kind !== 'chat' || !isAllowed(model, organisation, nowMs)) continue
    const { created, ownedBy } = model
    if (callable(model.sides.other, nowMs).length > 0) entries.push({ id: model.id, created, ownedBy })
    if (callable(model.sides.eu, nowMs).length > 0) entries.push({ id: euPrefix + model.id, created, ownedBy })
  }
  return entries
}

/** Every model that the organisation can call now, of all kinds: once for each side that has deployments. */
function callableModels(catalogue: BuiltCatalogue, organisation: Organisation, nowMs: number): ResolvedModel[] {
  return [...catalogue.models.values()].flatMap((model) => {
    if (!isAllowed(model, organisation, nowMs)) return []
    const other = { model, eu: false, deployments: callable(model.sides.other, nowMs) }
    const eu = { model, eu: true, deployments: callable(model.sides.eu, nowMs) }
    return [other, eu].filter(({ deployments }) => deployments.length > 0)
  })
}

/** The list entry behind a canonical id or alias, with or without `eu/`. */
function findListed(
  catalogue: BuiltCatalogue,
  organisation: Organisation,
  requestedId: string,
  nowMs: number,
): ListedModel | undefined {
  const resolved = resolveModel(catalogue, organisation, requestedId, nowMs)
  if (resolved?.model.kind !== 'chat') return undefined
  const { id, created, ownedBy } = resolved.model
  return { id: resolved.eu ? euPrefix + id : id, created, ownedBy }
}

/** The chat models that the organisation's plan offers now, those that the organisation has disabled included. */
function offeredModels(catalogue: BuiltCatalogue, organisation: Organisation, nowMs: number): OfferedModel[] {
  return [...catalogue.models.values()].flatMap((model) => {
    if (model.kind !== 'chat' || !isOffered(model, organisation, nowMs)) return []
    const sides = { eu: callable(model.sides.eu, nowMs), other: callable(model.sides.other, nowMs) }
    if (sides.eu.length + sides.other.length === 0) return []
    return [{ model, sides, isDisabled: organisation.disabledModels.includes(model.id) }]
  })
}

function baseTierModels(catalogue: BuiltCatalogue, organisation: Organisation, nowMs: number): Model[] {
  return [...catalogue.models.values()]
    .filter(
      (model) =>
        model.kind === 'chat' &&
        model.tier === 'base' &&
        isAllowed(model, organisation, nowMs) &&
        callable(model.deployments, nowMs).length > 0,
    )
    .sort((left, right) => Number(outputPrice(left, nowMs) - outputPrice(right, nowMs)))
}

function isAllowed(model: BuiltModel, organisation: Organisation, nowMs: number): boolean {
  return isOffered(model, organisation, nowMs) && !organisation.disabledModels.includes(model.id)
}

function isOffered(model: BuiltModel, organisation: Organisation, nowMs: number): boolean {
  return (
    model.enabled && model.plans.includes(organisation.plan) && (model.retiresAt === null || nowMs < model.retiresAt)
  )
}

function callable(deployments: readonly Deployment[], nowMs: number): readonly Deployment[] {
  // Nearly always all of them have a price; then no copy is made.
  return deployments.every((deployment) => priceInForce(deployment, nowMs))
    ? deployments
    : deployments.filter((deployment) => priceInForce(deployment, nowMs))
}

/** The price schedule in force; undefined before the first one starts. */
export function priceInForce(deployment: Deployment, nowMs: number): PriceSchedule | undefined {
  return deployment.prices.find((schedule) => schedule.validFrom <= nowMs)
}

function outputPrice(model: Model, nowMs: number): bigint {
  const prices = model.deployments.map((deployment) => priceInForce(deployment, nowMs)?.base.output ?? 0n)
  return prices.reduce((most, price) => (price > most ? price : most), 0n)
}

/** The deployments of a resolved model that can do all of it, as far as their traits are known. */
function capableDeployments(
  built: BuiltCatalogue,
  { model, deployments }: ResolvedModel,
  capabilities: Iterable<Capability>,
): readonly Deployment[] {
  const needed = [...capabilities]
  const traits = new Map(built.models.get(model.id)?.all.map(({ deployment, traits }) => [deployment.id, traits]))
  return deployments.filter(({ id, providerId, side }) => {
    const format = built.providers.get(providerId)?.settings.format
    const host = { traits: traits.get(id) ?? unknown, format, isEu: side === 'eu' }
    return needed.every((capability) => canServe(host, capability))
  })
}

const unknown: Partial<ResolvedTraits> = {}

/** What lists of models state for each chat model. */
const listedCapabilities: readonly Capability[] = [
  'tools',
  'images',
  'files',
  'audio',
  'json_object',
  'json_schema',
  'several_choices',
  'logprobs',
]

/** What at least one of the deployments can do beyond text; nothing of models of other kinds than chat. */
export function listCapabilities(catalogue: Pick<Catalogue, 'capable'>, resolved: ResolvedModel): Capability[] {
  if (resolved.model.kind !== 'chat') return []
  return listedCapabilities.filter((capability) => catalogue.capable(resolved, [capability]).length > 0)
}

/** Formats whose hosts have the own fields and tools of a family. */
const formatsOf: Readonly<Record<string, readonly WireFormat[]>> = {
  anthropic: ['anthropic'],
  openai: ['openai', 'azure'],
  gemini: ['gemini', 'vertex'],
}

/** Compatible hosts of OpenAI's format have no tools of OpenAI. */
function isOfFamily(
  family: string,
  { traits, format }: { traits: Partial<ResolvedTraits>; format: WireFormat | undefined },
): boolean {
  if (format === undefined || (family === 'openai' && traits.hostedTools === undefined)) return false
  return formatsOf[family]?.includes(format) === true
}

/** What nothing is known about is tried: the host decides. */
export function canServe(
  { traits, format, isEu = false }: { traits: Partial<ResolvedTraits>; format: WireFormat | undefined; isEu?: boolean },
  capability: Capability,
): boolean {
  switch (capability) {
    case 'tools':
      return traits.tools !== false
    case 'named_tool_choice':
      return traits.tools !== false && traits.forcedTools !== false
    case 'forced_tools':
      return traits.tools !== false && (traits.forcedTools ?? true) === true
    case 'parallel_tools':
      return traits.singleToolCall !== false
    case 'images':
    case 'files':
    case 'audio':
    case 'logprobs':
      return traits[capability] !== false
    case 'several_choices':
      return traits.severalChoices !== false
    case 'json_object':
    case 'json_schema':
      return traits.structured !== 'tool' || traits.tools !== false
    case 'tools_with_schema':
      return traits.toolsWithSchema !== false
    case 'tools_with_hosted':
      return traits.toolsWithHosted !== false
    default:
      // No provider states that its searches, containers and calls of servers stay in the EU.
      if (capability.startsWith('use:'))
        return !isEu && traits.hostedTools?.includes(capability.slice('use:'.length) as HostedToolKind) === true
      return capability
        .slice('hosted:'.length)
        .split('|')
        .some((family) => isOfFamily(family, { traits, format }))
  }
}

/** Whether a deployment of the model accepts tools, as far as its traits are known. */
export function acceptsTools(built: BuiltCatalogue, { model, deployments }: ResolvedModel): boolean {
  const refusing = new Set(
    built.models.get(model.id)?.all.flatMap(({ deployment, traits }) => (traits.tools === false ? deployment.id : [])),
  )
  return deployments.some(({ id }) => !refusing.has(id))
}
