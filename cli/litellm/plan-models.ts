import {
  newDeploymentParamsSchema,
  newModelParamsSchema,
  type PutModel,
  type StatedPricesBody,
} from '../../src/contract/models.ts'
import type { ImportPlan, PlannedDeployment, PlannedModel, PlannedProvider, Report } from './import-plan.ts'
import type { LitellmConfig, LitellmModel } from './litellm-config.ts'
import { type ProviderContext, createProviders } from './plan-provider.ts'
import { type NamedProvider, nameProvider } from './provider-names.ts'
import { type Parameters, numberOf, perMillion, textOf } from './read-values.ts'

/** `model_info.mode` of models that the gateway can serve. */
const kinds: Readonly<Record<string, 'chat' | 'embedding' | 'rerank'>> = {
  chat: 'chat',
  completion: 'chat',
  responses: 'chat',
  embedding: 'embedding',
  rerank: 'rerank',
}

/** Fields of `litellm_params` that the import reads. */
const readParameters: ReadonlySet<string> = new Set([
  'model',
  'api_key',
  'api_base',
  'base_url',
  'api_version',
  'custom_llm_provider',
  'litellm_credential_name',
  'organization',
  'extra_headers',
  'region_name',
  'rpm',
  'tpm',
  'weight',
  'aws_region_name',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'vertex_project',
  'vertex_location',
  'vertex_credentials',
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
])

interface Entry {
  deployment: PlannedDeployment
  share: { weight?: number; rpm?: number; tpm?: number }
}

/** `model_list` and `model_group_alias` as providers, models and deployments. */
export function planModels(
  config: LitellmConfig,
  context: ProviderContext,
): Pick<ImportPlan, 'providers' | 'models' | 'deployments'> {
  const { report } = context
  const { providers, providerOf } = createProviders(context)
  const models = new Map<string, PlannedModel>()
  const entries: Entry[] = []
  for (const [at, model] of (config.model_list ?? []).entries()) {
    const setting = `model_list[${at}] ${model.model_name}`
    const parameters = withCredential(config, model.litellm_params)
    const named = nameProvider(model.litellm_params.model, textOf(parameters.custom_llm_provider))
    if (!named) {
      report.skipped(setting, `Portico has no provider for ${model.litellm_params.model}.`)
      continue
    }
    const problem = problemOf(model)
    if (problem !== undefined) {
      report.skipped(setting, problem)
      continue
    }
    const provider = providerOf(named, parameters, setting)
    if (!provider) continue
    reportUnread(parameters, setting, report)
    if (`${model.model_name}${named.wireId}`.includes('*')) {
      offerAll(provider, named, setting, report)
      continue
    }
    addFacts(models, model)
    entries.push(planDeployment(model, { named, provider, parameters, entries }))
  }
  applyWeights(entries)
  addAliases(models, config, entries, report)
  return {
    providers,
    models: [...models.values()].filter(({ facts }) => Object.keys(facts).length > 0),
    deployments: entries.map(({ deployment }) => deployment),
  }
}

/** `litellm_credential_name` refers to an entry of `credential_list`. */
function withCredential(config: LitellmConfig, parameters: Parameters): Parameters {
  const name = textOf(parameters.litellm_credential_name)
  const credential = config.credential_list?.find((one) => one.credential_name === name)
  return { ...credential?.credential_values, ...parameters }
}

function problemOf({ model_name: name, model_info: info }: LitellmModel): string | undefined {
  const mode = textOf(info?.mode)
  if (mode !== undefined && !Object.hasOwn(kinds, mode)) return `Portico does not serve models of the mode ${mode}.`
  if (name.includes('*')) return undefined
  if (name.startsWith('eu/')) return 'A name must not begin with eu/: the prefix chooses the hosting.'
  const isId = newModelParamsSchema.safeParse({ id: name }).success
  return isId ? undefined : 'The name has characters that an id cannot have: use letters, digits and . _ : @ + / -.'
}

function reportUnread(parameters: Parameters, setting: string, report: Report): void {
  for (const name of Object.keys(parameters))
    if (!readParameters.has(name)) report.noEqual(`${setting}.${name}`, describeUnread(name))
}

function describeUnread(name: string): string {
  if (/timeout/.test(name)) return 'Time limits belong to the provider in Portico: change them there.'
  if (name === 'order') return 'Deployments have weights, no order.'
  return 'Portico sets no parameters for a model; clients send them.'
}

function offerAll(provider: PlannedProvider, named: NamedProvider, setting: string, report: Report): void {
  const hasList = named.format !== 'azure' && (named.format !== 'openai' || provider.declaration.flavour !== undefined)
  if (named.wireId !== '*' || !hasList)
    return report.noEqual(
      setting,
      'Patterns of names cannot be imported. Choose the models of this provider in the console.',
    )
  provider.declaration = { ...provider.declaration, models: 'snapshot' }
  report.differs(
    setting,
    `Portico offers the models of ${provider.id} that have a price, under their names without a prefix.`,
  )
}

function addFacts(models: Map<string, PlannedModel>, { model_name: id, model_info: info }: LitellmModel): void {
  const facts: PutModel = { ...models.get(id)?.facts }
  const kind = kinds[textOf(info?.mode) ?? 'chat']
  if (kind !== undefined && kind !== 'chat') facts.kind = kind
  const context = numberOf(info?.max_input_tokens)
  const output = numberOf(info?.max_output_tokens)
  if (context !== undefined && context >= 1) facts.contextTokens = Math.trunc(context)
  if (output !== undefined && output >= 1) facts.maxOutputTokens = Math.trunc(output)
  models.set(id, { id, facts })
}

function planDeployment(
  model: LitellmModel,
  {
    named,
    provider,
    parameters,
    entries,
  }: { named: NamedProvider; provider: PlannedProvider; parameters: Parameters; entries: readonly Entry[] },
): Entry {
  const { model_name: name, model_info: info } = model
  const base = textOf(info?.base_model)?.split('/').at(-1)
  const plain = `${provider.id}/${name}`
  let id = plain
  for (let count = 2; entries.some(({ deployment }) => deployment.id === id); count++) id = `${plain}#${count}`
  const prices = pricesOf({ ...parameters, ...info })
  const body = {
    model: name,
    provider: provider.id,
    ...(named.wireId === name ? {} : { wireId: named.wireId }),
    ...baseModelOf(name, named.wireId, base),
    // LiteLLM's `region_name: eu` is a declaration of the operator.
    ...(textOf(parameters.region_name) === 'eu' ? { hosting: 'eu' } : {}),
  }
  // `rpm` and `tpm` also appear next to litellm_params.
  const share = (field: string) => numberOf(parameters[field]) ?? numberOf(model[field])
  return {
    deployment: { id, body, ...(prices ? { prices } : {}) },
    share: Object.fromEntries(['weight', 'rpm', 'tpm'].map((field) => [field, share(field)])),
  }
}

/** The model behind a name of the operator's choice selects prices and facts. */
function baseModelOf(name: string, wireId: string, stated: string | undefined): { baseModel?: string } {
  const base = stated ?? (wireId === name ? undefined : wireId)
  if (base === undefined || base === name) return {}
  return newDeploymentParamsSchema.safeParse({ id: base }).success &&
    newModelParamsSchema.safeParse({ id: base }).success
    ? { baseModel: base }
    : {}
}

function pricesOf(fields: Parameters): StatedPricesBody | undefined {
  const input = numberOf(fields.input_cost_per_token)
  if (input === undefined) return undefined
  const price = (field: string) => {
    const value = numberOf(fields[field])
    return value === undefined ? undefined : perMillion(value)
  }
  const optional = {
    output: price('output_cost_per_token'),
    cacheRead: price('cache_read_input_token_cost'),
    cacheWrite: price('cache_creation_input_token_cost'),
  }
  const stated = Object.entries(optional).filter(([, value]) => value !== undefined)
  return { input: perMillion(input), ...Object.fromEntries(stated) }
}

/** LiteLLM's default strategy divides calls by `weight`, else by `rpm`, else by `tpm`. One deployment needs no weight. */
function applyWeights(entries: readonly Entry[]): void {
  for (const group of Map.groupBy(entries, ({ deployment }) => deployment.body.model).values()) {
    const field = (['weight', 'rpm', 'tpm'] as const).find((name) => group.some(({ share }) => (share[name] ?? 0) > 0))
    if (group.length < 2 || field === undefined) continue
    for (const { deployment, share } of group)
      if ((share[field] ?? 0) > 0) deployment.body.weight = Math.min(share[field]!, 1_000_000)
  }
}

function addAliases(
  models: Map<string, PlannedModel>,
  config: LitellmConfig,
  entries: readonly Entry[],
  report: Report,
): void {
  const aliases = (config.router_settings?.model_group_alias ?? {}) as Record<string, unknown>
  for (const [alias, target] of Object.entries(aliases)) {
    const setting = `router_settings.model_group_alias.${alias}`
    const id = textOf(target) ?? textOf((target as Parameters | null)?.model)
    const model = id === undefined ? undefined : models.get(id)
    if (!model || entries.every(({ deployment }) => deployment.body.model !== id)) {
      report.skipped(setting, 'Its model is not imported.')
      continue
    }
    if (!newModelParamsSchema.safeParse({ id: alias }).success) {
      report.skipped(setting, 'The name has characters that an id cannot have.')
      continue
    }
    model.facts = { ...model.facts, aliases: [...(model.facts.aliases ?? []), alias] }
  }
}
