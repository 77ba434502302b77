import type { ModelTraits, ProviderSettings } from '../providers/index.ts'
import type { Hosting } from './catalogue.ts'
import {
  type Declarations,
  type DeploymentDeclaration,
  type ModelDeclaration,
  type ModelSource,
  type ProviderDeclaration,
  noDeclarations,
} from './declarations.ts'
import { defaultPriceLists, freeSchedule, type StatedPrices, statedSchedule } from './price-lists.ts'

/** Models in the configuration; the shapes are those of src/app/config/models.ts, with secrets filled in. */
export interface CatalogueConfiguration {
  readonly providers: readonly ConfiguredProvider[]
  readonly models: readonly ConfiguredModel[]
  /** OpenAI's models of the snapshot, unless a provider called `openai` is configured. */
  readonly openaiApiKey?: string | undefined
  /** Offers the models of an Ollama at this address while it runs, unless a provider called `ollama` is configured. */
  readonly ollamaUrl?: string | undefined
}

export interface ConfiguredProvider extends DeepReadonly<ProviderSettings> {
  readonly hosting?: Hosting | undefined
  /** Default: see `modelSourceOf`. */
  readonly models?: ModelSource | undefined
  readonly priceLists?: readonly string[] | undefined
  /** Price of discovered models. */
  readonly discoveredPrices?: StatedPrices | undefined
}

export interface ConfiguredModel
  extends
    Omit<ModelDeclaration, 'enabled' | 'created' | 'retiresAt'>,
    Pick<DeploymentDeclaration, 'acceptsTemperature' | 'reasoning' | 'baseModel'> {
  readonly traits?: DeepReadonly<ModelTraits> | undefined
  readonly deployments: readonly (Pick<DeploymentDeclaration, 'wireId' | 'hosting' | 'region' | 'weight'> & {
    readonly provider: string
    readonly prices?: StatedPrices | undefined
    /** Override those of the model field by field. */
    readonly traits?: DeepReadonly<ModelTraits> | undefined
  })[]
}

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T | undefined

/** Throws RangeError on a price that is not a decimal. */
export function fromConfiguration(configuration: CatalogueConfiguration): Declarations {
  const providers = configuration.providers.map(toProvider)
  const isMissing = (id: string) => providers.every(({ settings }) => settings.id !== id)
  const { openaiApiKey: apiKey, ollamaUrl: baseUrl } = configuration
  if (apiKey && isMissing('openai')) {
    const openai = toProvider({ id: 'openai', format: 'openai', flavour: 'openai', apiKey })
    providers.push({ ...openai, declaredBy: 'environment' })
  }
  if (baseUrl && isMissing('ollama'))
    providers.push({ ...toProvider({ id: 'ollama', format: 'ollama', baseUrl }), declaredBy: 'detected' })
  return {
    ...noDeclarations,
    origin: 'configuration',
    providers,
    models: configuration.models.map(toModel),
    deployments: configuration.models.flatMap(toDeployments),
    complete: configuration.models.map((model) => model.id),
  }
}

/** Fills in defaults that follow from the format: hosting, price lists, source of models. */
export function toProvider(provider: ConfiguredProvider): ProviderDeclaration {
  const { hosting: declared, models, priceLists, discoveredPrices } = provider
  const settings = settingsOf(provider)
  const hosting = declared ?? defaultHosting(settings)
  const lists = priceLists ?? defaultPriceLists(settings, hosting)
  const free = settings.format === 'ollama' ? freeSchedule('local model, free of charge') : undefined
  const prices = discoveredPrices ? statedSchedule(discoveredPrices, 'configuration', 0) : free
  return {
    settings,
    enabled: true,
    hosting,
    priceLists: lists,
    models: models ?? modelSourceOf(settings, lists),
    ...(prices ? { discoveredPrices: prices } : {}),
  }
}

const settingNames = [
  'id',
  'format',
  'flavour',
  'baseUrl',
  'apiKey',
  'headers',
  'credentials',
  'region',
  'project',
  'apiVersion',
  'quirks',
  'limits',
] as const satisfies (keyof ProviderSettings)[]

/** The adapter's settings, without fields that only the configuration uses. */
function settingsOf(provider: ConfiguredProvider): ProviderSettings {
  const stated = settingNames.flatMap((name) => (provider[name] === undefined ? [] : [[name, provider[name]]]))
  return Object.fromEntries(stated) as unknown as ProviderSettings
}

/** Default hosting. Clouds with regions have none, so they serve nothing until the operator declares whether they are in the EU. */
function defaultHosting({ format, flavour }: ProviderSettings): Hosting {
  if (format === 'azure' || format === 'bedrock' || format === 'vertex') return ''
  return format === 'ollama' || format === 'offline' || flavour === 'ollama' ? 'local' : 'global'
}

/** Operators choose the names of Azure deployments, and a host without a price list has declared models only. */
function modelSourceOf({ format, flavour }: ProviderSettings, lists: readonly string[]): ModelSource {
  if (format === 'ollama' || flavour === 'ollama') return 'discovered'
  return format === 'azure' || lists.length === 0 ? 'declared' : 'snapshot'
}

function toModel(model: ConfiguredModel): ModelDeclaration {
  const { id, kind, aliases, ownedBy, tier, plans, contextTokens, maxOutputTokens, dimensions } = model
  return { id, kind, aliases, ownedBy, tier, plans, contextTokens, maxOutputTokens, dimensions }
}

function toDeployments(model: ConfiguredModel): DeploymentDeclaration[] {
  const { acceptsTemperature, reasoning, baseModel } = model
  const taken = new Set<string>()
  return model.deployments.map(({ provider, traits, prices, ...place }) => {
    const plain = `${provider}/${model.id}`
    let id = plain
    for (let count = 2; taken.has(id); count++) id = `${plain}#${count}`
    taken.add(id)
    return {
      id,
      modelId: model.id,
      providerId: provider,
      acceptsTemperature,
      reasoning,
      baseModel,
      ...place,
      ...((model.traits || traits) && { traits: { ...model.traits, ...traits } as ModelTraits }),
      prices: prices && statedSchedule(prices, 'configuration', 0),
    }
  })
}

/** The built-in model, which quotes passages and needs no provider. */
export const offlineModelId = 'portico/offline'

/** The catalogue without any configuration: the offline model, free, on this machine. */
export const builtInDeclarations: Declarations = {
  ...noDeclarations,
  origin: 'built-in',
  providers: [
    {
      settings: { id: 'portico', format: 'offline' },
      enabled: true,
      hosting: 'local',
      priceLists: [],
      models: 'declared',
    },
  ],
  models: [
    {
      id: offlineModelId,
      kind: 'chat',
      ownedBy: 'portico',
      // The day of the first release; fixed, so that the list is the same after each start.
      created: Date.UTC(2026, 10, 21) / 1000,
      tier: 'base',
      plans: ['free', 'team', 'enterprise'],
      contextTokens: 1_000_000,
      maxOutputTokens: 16_384,
    },
  ],
  deployments: [
    {
      id: offlineModelId,
      modelId: offlineModelId,
      providerId: 'portico',
      wireId: 'offline',
      prices: freeSchedule('built in, free of charge'),
      traits: { tools: false },
    },
  ],
}
