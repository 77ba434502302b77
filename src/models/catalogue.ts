import type { PriceSchedule } from '../billing/index.ts'
import type { Plan } from '../organisations/index.ts'
import type { WireModel } from '../providers/index.ts'

/** Declared by the operator, never guessed. Only `eu` serves `eu/` ids, and `eu` never serves an id without it. */
export type Hosting = 'eu' | 'us' | 'global' | 'local' | (string & {})

export interface Deployment {
  /** Unique; stands in receipts and in `x-portico-deployment`. */
  readonly id: string
  /** ProviderSettings.id */
  readonly providerId: string
  readonly wire: WireModel
  readonly hosting: Hosting
  readonly region: string | null
  /** Share of the traffic among the deployments of one model and side (eu / not eu); above 0. */
  readonly weight: number
  /** Newest first; the one in force is the first whose validFrom has passed. Never empty: what has no price is not listed. */
  readonly prices: readonly PriceSchedule[]
}

export interface Model {
  /** Canonical id, without `eu/`. */
  readonly id: string
  readonly kind: 'chat' | 'embedding'
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
  readonly deployments: readonly Deployment[]
}
