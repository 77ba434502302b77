import type { PriceSchedule } from '../billing/index.ts'
import type { Plan } from '../organisations/index.ts'
import type { ModelTraits, ProviderSettings } from '../providers/index.ts'
import type { Hosting, Model } from './catalogue.ts'

/**
 * What the catalogue is built from. Three sources speak this language: the built-in one (offline model), the configuration
 * file, and the operator's declarations in the database; a later one wins over a former.
 */

/** `snapshot`: all models of its price lists. `discovered`: those its own listing names. `declared`: only those that are declared. */
export type ModelSource = 'snapshot' | 'discovered' | 'declared'

export interface ProviderDeclaration {
  readonly settings: ProviderSettings
  readonly enabled: boolean
  /** Of its deployments, unless they say otherwise. '' where nothing was declared and nothing follows from the format. */
  readonly hosting: Hosting
  /** Names of lists in the snapshot; a former one wins. */
  readonly priceLists: readonly string[]
  readonly models: ModelSource
  /** What discovered models cost; absent: they have no price and are not listed. */
  readonly discoveredPrices?: PriceSchedule
}

/** Facts of a model; what is absent comes from the sources below it. */
export interface ModelDeclaration {
  readonly id: string
  readonly enabled?: boolean
  readonly kind?: Model['kind']
  readonly aliases?: readonly string[]
  readonly ownedBy?: string
  /** Unix seconds. */
  readonly created?: number
  readonly tier?: Model['tier']
  readonly plans?: readonly Plan[]
  readonly contextTokens?: number
  readonly maxOutputTokens?: number
  readonly dimensions?: number
  readonly retiresAt?: number | null
}

export interface DeploymentDeclaration {
  readonly id: string
  readonly modelId: string
  readonly providerId: string
  readonly enabled?: boolean
  /** Default: the id in the price list, else the model's id. */
  readonly wireId?: string
  /**
   * The model behind a deployment name or an id of the operator's own; finds facts and prices. Default: the model's id; facts of an id that
   * nobody knows are those of the id on the wire.
   */
  readonly baseModel?: string
  readonly acceptsTemperature?: boolean
  readonly reasoning?: boolean
  /** Each field wins over what is known of the model. */
  readonly traits?: ModelTraits
  readonly hosting?: Hosting
  readonly region?: string | null
  readonly weight?: number
  /** Replaces the snapshot's prices. */
  readonly prices?: PriceSchedule
}

export interface Declarations {
  readonly origin: 'built-in' | 'discovered' | 'configuration' | 'operator'
  readonly providers: readonly ProviderDeclaration[]
  /** Of providers that a source below declares. */
  readonly switches: readonly { readonly providerId: string; readonly enabled: boolean }[]
  readonly models: readonly ModelDeclaration[]
  readonly deployments: readonly DeploymentDeclaration[]
  /** Dated prices of a deployment; from the earliest on they replace whatever the sources below say. */
  readonly prices: readonly { readonly id: string; readonly deploymentId: string; readonly schedule: PriceSchedule }[]
  /** Models whose deployments are stated completely here: none is added from a snapshot list. */
  readonly complete: readonly string[]
}

export const noDeclarations: Omit<Declarations, 'origin'> = {
  providers: [],
  switches: [],
  models: [],
  deployments: [],
  prices: [],
  complete: [],
}
