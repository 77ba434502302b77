import type { PriceSchedule } from '../billing/index.ts'
import { hostOf, type ResolvedTraits, resolveTraits } from '../providers/index.ts'
import { type Deployment, type Hosting, type Model, euPrefix } from './catalogue.ts'
import type { Declarations, DeploymentDeclaration, ModelDeclaration, ProviderDeclaration } from './declarations.ts'
import { knownDimensions } from './embedding-dimensions.ts'
import { findInLists, snapshotSchedules } from './price-lists.ts'
import type { PriceSnapshot, SnapshotModel } from './price-snapshot.ts'

/** The merged declarations: what can be called, and why the rest cannot. Immutable; each change builds a new one. */
export interface BuiltCatalogue {
  readonly providers: ReadonlyMap<string, DeclaredProvider>
  /** By canonical id, sorted by id; includes models that no deployment can serve. */
  readonly models: ReadonlyMap<string, BuiltModel>
  /** Alias → canonical id. */
  readonly aliases: ReadonlyMap<string, string>
  /** For the operator: dropped aliases, and deployments that cannot serve with the reason. */
  readonly problems: readonly string[]
}

export interface DeclaredProvider extends ProviderDeclaration {
  /** The source with the highest precedence, including one that only enables or disables. */
  readonly origin: Declarations['origin']
  readonly declaredIn: Declarations['origin']
  /** The source of the settings that the operator's declaration replaces. */
  readonly replaces: Declarations['origin'] | null
}

interface DeclaredDeployment {
  readonly deployment: Deployment
  /** What the model accepts, as far as it is known. */
  readonly traits: ResolvedTraits
  readonly origin: Declarations['origin'] | 'snapshot'
  /** The source that has declared it; the operator may only have changed fields of it. */
  readonly declaredIn: Declarations['origin'] | 'snapshot'
  readonly enabled: boolean
  /** Why the deployment cannot serve; null: it can. */
  readonly problem: string | null
}

export interface BuiltModel extends Model {
  readonly enabled: boolean
  readonly origin: Declarations['origin'] | 'snapshot'
  /** Deployments that can serve, by side. */
  readonly sides: { readonly eu: readonly Deployment[]; readonly other: readonly Deployment[] }
  /** Includes those that cannot serve. */
  readonly all: readonly DeclaredDeployment[]
}

/** Base tier: output costs at most this, in attoUsd per token (2 dollars per million tokens: the small models of 2026). */
const baseTierOutputAttoUsd = 2_000_000_000_000n
/** For models that no list contains. If the output cap is unknown, it is the whole context. */
const unknownContextTokens = 131_072

/**
 * Merges the declarations, lowest priority first. A provider is replaced as a whole, models and deployments field by field. Models from a
 * provider's snapshot lists have the lowest priority.
 */
export function buildCatalogue(snapshot: PriceSnapshot, sources: readonly Declarations[]): BuiltCatalogue {
  const problems: string[] = []
  const providers = mergeProviders(sources)
  const complete = new Set(sources.flatMap((source) => source.complete))
  const layers = [fromSnapshot(snapshot, providers, complete), ...sources]
  const facts = mergeById<ModelDeclaration>(layers.map((layer) => layer.models))
  const deployments = mergeById<DeploymentDeclaration>(layers.map((layer) => layer.deployments))
  const operatorPrices = groupPrices(sources)

  const byModel = new Map<string, DeclaredDeployment[]>()
  for (const declared of deployments.values()) {
    // Overrides a deployment that no longer exists, so its model is unknown.
    if (!declared.modelId || !declared.providerId) {
      problems.push(`deployment ${declared.id}: its model or its provider is not declared`)
      continue
    }
    const entry = buildDeployment(snapshot, declared, providers, operatorPrices.get(declared.id) ?? [])
    if (entry.problem !== null && layers[0]!.deployments.every(({ id }) => id !== declared.id))
      problems.push(`deployment ${declared.id}: ${entry.problem}`)
    const declaring = layers.filter((layer) => layer.deployments.some(({ id }) => id === declared.id))
    const [declaredIn, origin] = [declaring[0]!.origin, declaring.at(-1)!.origin]
    const list = byModel.get(declared.modelId) ?? []
    list.push({ ...entry, origin, declaredIn, enabled: declared.enabled !== false })
    byModel.set(declared.modelId, list)
  }

  const models = new Map<string, BuiltModel>()
  for (const id of [...new Set([...facts.keys(), ...byModel.keys()])].sort()) {
    if (id.startsWith(euPrefix)) {
      problems.push(`model ${id}: an id must not begin with ${euPrefix}`)
      continue
    }
    const origin = layers.findLast((layer) => layer.models.some((model) => model.id === id))?.origin ?? 'snapshot'
    const declared = facts.get(id) ?? { id }
    const deploymentsOfModel = byModel.get(id) ?? []
    models.set(id, buildModel(snapshot, declared, deploymentsOfModel, deployments, providers, origin))
  }
  const aliases = collectAliases(models, problems)
  return { providers, models, aliases, problems }
}

/** A declaration replaces the provider; a switch only enables or disables it. */
function mergeProviders(sources: readonly Declarations[]): Map<string, DeclaredProvider> {
  const providers = new Map<string, DeclaredProvider>()
  for (const { origin, providers: declared, switches } of sources) {
    for (const provider of declared) {
      const replaces = providers.get(provider.settings.id)?.declaredIn ?? null
      providers.set(provider.settings.id, { ...provider, origin, declaredIn: origin, replaces })
    }
    for (const { providerId, enabled } of switches) {
      const provider = providers.get(providerId)
      if (provider) providers.set(providerId, { ...provider, enabled, origin })
    }
  }
  return providers
}

/** The lists of each provider that offers its whole list. Models in `complete` get declared deployments only. */
function fromSnapshot(
  snapshot: PriceSnapshot,
  providers: ReadonlyMap<string, ProviderDeclaration>,
  complete: ReadonlySet<string>,
): { origin: 'snapshot'; models: ModelDeclaration[]; deployments: DeploymentDeclaration[] } {
  const models: ModelDeclaration[] = []
  const deployments: DeploymentDeclaration[] = []
  for (const provider of providers.values()) {
    if (!provider.enabled || provider.models !== 'snapshot') continue
    const seen = new Set<string>()
    for (const name of provider.priceLists) {
      for (const model of snapshot.lists[name]?.models ?? []) {
        if (seen.has(model.id)) continue
        seen.add(model.id)
        models.push({ id: model.id, aliases: model.aliases ?? [] })
        if (complete.has(model.id)) continue
        deployments.push({
          id: `${provider.settings.id}/${model.id}`,
          modelId: model.id,
          providerId: provider.settings.id,
        })
      }
    }
  }
  return { origin: 'snapshot', models, deployments }
}

function buildDeployment(
  snapshot: PriceSnapshot,
  declared: DeploymentDeclaration,
  providers: ReadonlyMap<string, ProviderDeclaration>,
  dated: readonly PriceSchedule[],
): Pick<DeclaredDeployment, 'deployment' | 'traits' | 'problem'> {
  const provider = providers.get(declared.providerId)
  const baseModel = declared.baseModel ?? declared.modelId
  const found = findInLists(snapshot, provider?.priceLists ?? [], baseModel)
  const listed = found?.model
  const known = listed ?? findFacts(snapshot, provider, declared)
  const wireId = declared.wireId ?? listed?.wire ?? baseModel
  // If the operator chose the model's id, the id on the wire is more specific.
  const names = { id: wireId, baseModel: known?.id ?? declared.baseModel ?? wireId }
  const traits = resolveTraits(provider && hostOf(provider.settings), { ...names, traits: declared.traits })
  const contextTokens = known?.contextTokens ?? traits.contextTokens
  const stated = declared.prices
    ? [declared.prices]
    : listed
      ? snapshotSchedules(listed, snapshot.date, found?.list)
      : discovered(provider)
  const earliest = dated.at(-1)?.validFrom ?? Number.POSITIVE_INFINITY
  const hosting = declared.hosting ?? provider?.hosting ?? ''
  const deployment: Deployment = {
    id: declared.id,
    providerId: declared.providerId,
    wire: {
      ...names,
      acceptsTemperature: declared.acceptsTemperature ?? traits.acceptsTemperature ?? known?.temperature !== false,
      reasoning: declared.reasoning ?? traits.reasoning ?? known?.reasoningModel === true,
      maxOutputTokens:
        declared.traits?.maxOutputTokens ?? known?.maxOutputTokens ?? traits.maxOutputTokens ?? unknownContextTokens,
      ...(contextTokens !== undefined && { contextTokens }),
      ...(declared.traits && { traits: declared.traits }),
    },
    hosting,
    side: sideOf(hosting),
    region: declared.region ?? provider?.settings.region ?? null,
    weight: declared.weight ?? 1,
    prices: [...dated, ...stated.filter((schedule) => schedule.validFrom < earliest)],
  }
  return { deployment, traits, problem: problemOf(declared, provider, deployment) }
}

/** null: nothing is declared, or a name that resembles the EU: `EU`, `eu-west-1`, `europe`. */
function sideOf(hosting: Hosting): Deployment['side'] {
  if (hosting === 'eu') return 'eu'
  return /^[a-z0-9][a-z0-9-]*$/.test(hosting) && !hosting.startsWith('eu') ? 'other' : null
}

function problemOf(
  declared: DeploymentDeclaration,
  provider: ProviderDeclaration | undefined,
  deployment: Deployment,
): string | null {
  if (!provider) return `there is no provider ${declared.providerId}`
  if (!provider.enabled) return `the provider ${declared.providerId} is disabled`
  if (declared.enabled === false) return 'it is disabled'
  if (deployment.hosting === '') return 'no hosting is declared (eu, us, global, local …)'
  if (deployment.side === null) return `the hosting ${deployment.hosting} is ambiguous; for the EU write eu`
  if (deployment.prices.length === 0) return 'it has no price'
  return deployment.weight > 0 ? null : 'its weight is not above 0'
}

function discovered(provider: ProviderDeclaration | undefined): PriceSchedule[] {
  return provider?.models === 'discovered' && provider.discoveredPrices ? [provider.discoveredPrices] : []
}

/**
 * Facts only: prices from another provider's list do not apply. A model whose id the operator chose, without a base model, has the facts of
 * its id on the wire.
 */
function findFacts(
  snapshot: PriceSnapshot,
  provider: ProviderDeclaration | undefined,
  { modelId, baseModel = modelId, wireId }: DeploymentDeclaration,
): SnapshotModel | undefined {
  const lists = [...(provider?.priceLists ?? []), ...Object.keys(snapshot.lists)]
  const known = findInLists(snapshot, lists, baseModel)
  return (known ?? (baseModel === modelId && wireId !== undefined ? findInLists(snapshot, lists, wireId) : undefined))
    ?.model
}

function buildModel(
  snapshot: PriceSnapshot,
  declared: ModelDeclaration,
  all: BuiltModel['all'],
  declarations: ReadonlyMap<string, DeploymentDeclaration>,
  providers: ReadonlyMap<string, ProviderDeclaration>,
  origin: BuiltModel['origin'],
): BuiltModel {
  const known = all.map(({ deployment }) => {
    const lists = providers.get(deployment.providerId)?.priceLists ?? []
    const base = declarations.get(deployment.id)?.baseModel ?? declared.id
    const listed = findInLists(snapshot, lists, base) ?? findInLists(snapshot, Object.keys(snapshot.lists), base)
    if (listed) return listed
    const model = findFacts(snapshot, providers.get(deployment.providerId), declarations.get(deployment.id)!)
    return model && { model, ownedBy: undefined }
  })
  const listed = known.filter((entry) => entry !== undefined)
  const models = listed.map((entry) => entry.model)
  const contextTokens =
    declared.contextTokens ??
    largest(all.flatMap(({ deployment }) => deployment.wire.contextTokens ?? [])) ??
    unknownContextTokens
  const usable = all.filter((entry) => entry.problem === null).map((entry) => entry.deployment)
  const retirements = models.map((model) => (model.retires === undefined ? null : Date.parse(model.retires)))
  const kind = declared.kind ?? models[0]?.kind ?? 'chat'
  // Tiers are about answers: the price of a search unit is no price of output.
  const tier = declared.tier ?? (kind === 'rerank' ? 'base' : tierOf(usable))
  const maxOutputTokens =
    declared.maxOutputTokens ??
    largest(models.map((model) => model.maxOutputTokens)) ??
    largest(all.flatMap(({ traits }) => traits.maxOutputTokens ?? [])) ??
    contextTokens
  const withLimits = (deployment: Deployment): Deployment => ({
    ...deployment,
    wire: {
      ...deployment.wire,
      maxOutputTokens: declared.maxOutputTokens ?? deployment.wire.maxOutputTokens,
      ...(declared.contextTokens !== undefined && { contextTokens: declared.contextTokens }),
    },
  })
  const deployments = usable.map(withLimits)
  return {
    id: declared.id,
    kind,
    aliases: declared.aliases ?? [],
    ownedBy: declared.ownedBy ?? listed[0]?.ownedBy ?? all[0]?.deployment.providerId ?? 'portico',
    created: declared.created ?? releasedAt(models, snapshot.date),
    tier,
    plans: declared.plans ?? (tier === 'base' ? ['free', 'team', 'enterprise'] : ['team', 'enterprise']),
    contextTokens,
    maxOutputTokens: kind === 'chat' ? maxOutputTokens : 0,
    dimensions: declared.dimensions ?? models.find((model) => model.dimensions)?.dimensions ?? dimensionsOf(kind, all),
    retiresAt:
      declared.retiresAt === undefined
        ? // Another provider may continue to serve a model that one provider has switched off.
          retirements.every((day) => day !== null)
          ? largest(retirements)
          : null
        : declared.retiresAt,
    deployments,
    enabled: declared.enabled !== false,
    origin,
    sides: {
      eu: deployments.filter(({ side }) => side === 'eu'),
      other: deployments.filter(({ side }) => side === 'other'),
    },
    all: all.map((entry) => ({ ...entry, deployment: withLimits(entry.deployment) })),
  }
}

function dimensionsOf(kind: Model['kind'], all: BuiltModel['all']): number | null {
  if (kind !== 'embedding') return null
  const names = all.flatMap(({ deployment: { wire } }) => [wire.baseModel ?? wire.id, wire.id])
  return names.map(knownDimensions).find((known) => known !== null) ?? null
}

function tierOf(deployments: readonly Deployment[]): Model['tier'] {
  const outputs = deployments.flatMap((deployment) => deployment.prices.slice(0, 1).map((price) => price.base.output))
  return outputs.length > 0 && outputs.every((output) => output <= baseTierOutputAttoUsd) ? 'base' : 'premium'
}

function releasedAt(models: readonly SnapshotModel[], fallback: string): number {
  const days = models.map((model) => model.released).filter((day) => day !== undefined)
  return Date.parse(days.sort()[0] ?? fallback) / 1000
}

const largest = (values: readonly number[]): number | null => (values.length === 0 ? null : Math.max(...values))

/** A canonical id wins over an alias. If two models have the same alias, the first by id keeps it. */
function collectAliases(models: ReadonlyMap<string, BuiltModel>, problems: string[]): Map<string, string> {
  const aliases = new Map<string, string>()
  for (const model of models.values()) {
    for (const alias of model.aliases) {
      if (alias === model.id) continue
      const holder = models.has(alias) ? alias : aliases.get(alias)
      if (alias.startsWith(euPrefix)) problems.push(`alias ${alias} of ${model.id}: must not begin with ${euPrefix}`)
      else if (holder !== undefined && holder !== model.id)
        problems.push(`alias ${alias} of ${model.id}: it already refers to ${holder}`)
      else aliases.set(alias, model.id)
    }
  }
  return aliases
}

/** Later members win field by field; an absent field keeps the earlier value. */
function mergeById<Declared extends { readonly id: string }>(
  layers: readonly (readonly Declared[])[],
): Map<string, Declared> {
  const merged = new Map<string, Declared>()
  for (const declared of layers.flat()) {
    const stated = Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== undefined))
    merged.set(declared.id, { ...merged.get(declared.id), ...stated } as Declared)
  }
  return merged
}

/** Newest first. */
function groupPrices(sources: readonly Declarations[]): Map<string, PriceSchedule[]> {
  const grouped = new Map<string, PriceSchedule[]>()
  for (const { deploymentId, schedule } of sources.flatMap((source) => source.prices)) {
    grouped.set(deploymentId, [...(grouped.get(deploymentId) ?? []), schedule])
  }
  for (const schedules of grouped.values()) schedules.sort((left, right) => right.validFrom - left.validFrom)
  return grouped
}
