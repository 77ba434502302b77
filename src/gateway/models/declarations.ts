import type { PriceSchedule } from '../billing/index.ts'
import type { ModelTraits, ProviderSettings } from '../providers/index.ts'
import type { Hosting, Model } from './catalogue.ts'

/**
 * Input of the catalogue. Each source is mapped to this shape: the built-in offline model, discovered models, the configuration file and
 * the operator's declarations in the database. Later sources win.
 */

/** `snapshot`: all models of its price lists. `discovered`: the models that it lists. `declared`: only declared models. */
export type ModelSource = 'snapshot' | 'discovered' | 'declared'

export interface ProviderDeclaration {
  readonly settings: ProviderSettings
  readonly enabled: boolean
  /** Default of its deployments. '' if nothing was declared and the format implies nothing. */
  readonly hosting: Hosting
  /** Names of lists in the snapshot; earlier ones win. */
  readonly priceLists: readonly string[]
  readonly models: ModelSource
  /** `environment`: by OPENAI_API_KEY alone. `detected`: a local Ollama. Absent: in the source itself. */
  readonly declaredBy?: 'environment' | 'detected'
  /** Price of discovered models; absent: they have no price and are not listed. */
  readonly discoveredPrices?: PriceSchedule
}

/** Facts of a model; absent fields come from sources of lower priority. */
export interface ModelDeclaration extends Partial<Omit<Model, 'id' | 'dimensions' | 'deployments'>> {
  readonly id: string
  readonly enabled?: boolean
  readonly dimensions?: number
}

export interface DeploymentDeclaration {
  readonly id: string
  readonly modelId: string
  readonly providerId: string
  readonly enabled?: boolean
  /** Default: the id in the price list, else the model's id. */
  readonly wireId?: string
  /**
   * The model behind a deployment name or an id that the operator chose; facts and prices are looked up by it. Default: the model's id. If
   * no list contains it, the facts are those of the id on the wire.
   */
  readonly baseModel?: string
  readonly acceptsTemperature?: boolean
  readonly reasoning?: boolean
  /** Each field wins over the rules of model-traits. */
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
  /** For providers that another source declares. */
  readonly switches: readonly { readonly providerId: string; readonly enabled: boolean }[]
  readonly models: readonly ModelDeclaration[]
  readonly deployments: readonly DeploymentDeclaration[]
  /** Dated prices of a deployment; from the earliest date on they replace the prices of other sources. */
  readonly prices: readonly { readonly id: string; readonly deploymentId: string; readonly schedule: PriceSchedule }[]
  /** Models whose deployments are complete here: none is added from a snapshot list. */
  readonly complete: readonly string[]
  /** Of what the operator has declared, by `versionKey`. */
  readonly versions: ReadonlyMap<string, string>
}

export const noDeclarations: Omit<Declarations, 'origin'> = {
  providers: [],
  switches: [],
  models: [],
  deployments: [],
  prices: [],
  complete: [],
  versions: new Map(),
}

/** What has a version that changes with it. */
export type VersionedKind = 'provider' | 'model' | 'deployment'

export const versionKey = (kind: VersionedKind, id: string) => `${kind} ${id}`
