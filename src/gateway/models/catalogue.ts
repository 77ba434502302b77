import type { PriceSchedule } from '../billing/index.ts'
import type { ModelKind } from '../../contract/model-kinds.ts'
import type { Organisation, Plan } from '../../tenants/organisations/index.ts'
import type { Capability, Provider, WireModel } from '../providers/index.ts'

/** Declared by the operator, never guessed. Only `eu` serves `eu/` ids, and `eu` never serves an id without it. */
export type Hosting = 'eu' | 'us' | 'global' | 'local' | (string & {})

export interface Deployment {
  /** Unique; appears in receipts and in `x-portico-deployment`. */
  readonly id: string
  /** ProviderSettings.id */
  readonly providerId: string
  readonly wire: WireModel
  readonly hosting: Hosting
  /** What the hosting serves: `eu` for `eu/` ids, `other` for ids without. null: it is unclear, and the deployment serves neither. */
  readonly side: 'eu' | 'other' | null
  readonly region: string | null
  /** Share of the traffic among the deployments of one model and side (eu / not eu); above 0. */
  readonly weight: number
  /** Newest first; the one in force is the first whose validFrom has passed. Never empty: a deployment without prices is not listed. */
  readonly prices: readonly PriceSchedule[]
}

export interface Model {
  /** Canonical id, without `eu/`. */
  readonly id: string
  readonly kind: ModelKind
  readonly aliases: readonly string[]
  readonly ownedBy: string
  /** Unix seconds. */
  readonly created: number
  readonly tier: 'base' | 'premium'
  readonly plans: readonly Plan[]
  readonly contextTokens: number
  readonly maxOutputTokens: number
  /** Embedding models only. */
  readonly dimensions: number | null
  /** Milliseconds since the epoch: when the provider switches the model off. From then on it is neither listed nor callable. */
  readonly retiresAt: number | null
  readonly deployments: readonly Deployment[]
}

/** The models that can be called now, from memory; the change feed keeps it up to date. */
export interface Catalogue {
  /** Ids of chat models (`eu/` twins included) that a completion of this organisation would accept. */
  list(organisation: Organisation, nowMs: number): ListedModel[]
  /** The entry of `list` that an id or alias resolves to. */
  find(organisation: Organisation, requestedId: string, nowMs: number): ListedModel | undefined
  /**
   * The model behind a canonical id or alias, with or without `eu/`, and the deployments of that side that have a price now. undefined:
   * unknown, disabled, retired, not in the plan, or no deployment of that side. Also resolves embedding and rerank models.
   */
  resolve(organisation: Organisation, requestedId: string, nowMs: number): ResolvedModel | undefined
  /** What `resolve` finds for some id, of every kind. */
  callable(organisation: Organisation, nowMs: number): ResolvedModel[]
  /** The deployments of a resolved model that can do all of this, as far as it is known. */
  capable(resolved: ResolvedModel, capabilities: Iterable<Capability>): readonly Deployment[]
  /** The live provider of a deployment. Get it for each call: a provider with changed settings is a new instance. */
  provider(deployment: Pick<Deployment, 'providerId'>): Provider
  /** Cheapest-first base-tier chat models of the organisation, for Space chat when credits are exhausted. */
  baseTierModels(organisation: Organisation, nowMs: number): Model[]
}

export interface ListedModel {
  /** Canonical; with `eu/` for the EU side. */
  id: string
  /** Unix seconds. */
  created: number
  ownedBy: string
}

/** A chat model of the organisation's plan, and the deployments of each side that have a price now. One side may be empty. */
export interface OfferedModel {
  readonly model: Model
  readonly sides: { readonly eu: readonly Deployment[]; readonly other: readonly Deployment[] }
  /** The organisation has disabled it: neither listed nor callable. */
  readonly isDisabled: boolean
}

export interface ResolvedModel {
  readonly model: Model
  readonly eu: boolean
  /** Never empty, all of one side. */
  readonly deployments: readonly Deployment[]
}

/** The prefix that forces EU hosting. */
export const euPrefix = 'eu/'
