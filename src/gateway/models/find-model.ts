import type { PriceSchedule } from '../billing/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { BuiltCatalogue, BuiltModel } from './build-catalogue.ts'
import {
  type Deployment,
  type ListedModel,
  type Model,
  type OfferedModel,
  type ResolvedModel,
  euPrefix,
} from './catalogue.ts'

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
export function callableModels(catalogue: BuiltCatalogue, organisation: Organisation, nowMs: number): ResolvedModel[] {
  return [...catalogue.models.values()].flatMap((model) => {
    if (!isAllowed(model, organisation, nowMs)) return []
    const other = { model, eu: false, deployments: callable(model.sides.other, nowMs) }
    const eu = { model, eu: true, deployments: callable(model.sides.eu, nowMs) }
    return [other, eu].filter(({ deployments }) => deployments.length > 0)
  })
}

/** The list entry behind a canonical id or alias, with or without `eu/`. */
export function findListed(
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
export function offeredModels(catalogue: BuiltCatalogue, organisation: Organisation, nowMs: number): OfferedModel[] {
  return [...catalogue.models.values()].flatMap((model) => {
    if (model.kind !== 'chat' || !isOffered(model, organisation, nowMs)) return []
    const sides = { eu: callable(model.sides.eu, nowMs), other: callable(model.sides.other, nowMs) }
    if (sides.eu.length + sides.other.length === 0) return []
    return [{ model, sides, isDisabled: organisation.disabledModels.includes(model.id) }]
  })
}

export function baseTierModels(catalogue: BuiltCatalogue, organisation: Organisation, nowMs: number): Model[] {
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
