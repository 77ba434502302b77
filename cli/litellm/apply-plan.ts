import type { DeploymentBody, ModelBody, ProviderBody } from '../../src/contract/models.ts'
import type { OrganisationBody } from '../../src/contract/operator.ts'
import type { ApiClient } from '../api-client.ts'
import { FailedError } from '../errors.ts'
import { loadItems } from '../paging.ts'
import type {
  ImportPlan,
  PlannedDeployment,
  PlannedModel,
  PlannedOrganisation,
  PlannedProvider,
} from './import-plan.ts'

/** What happened to one item. `kept`: it exists with other settings, which the import never changes. */
export interface Outcome {
  kind: 'provider' | 'model' | 'deployment' | 'price' | 'organisation'
  id: string
  result: 'created' | 'changed' | 'unchanged' | 'kept' | 'skipped' | 'failed'
  detail: string
}

export interface ApplyOptions {
  client: ApiClient
  dryRun: boolean
  /** Team administrators opt in to the gateway; the import does it for them only if it is asked to. */
  optIn: boolean
}

type Result = Pick<Outcome, 'result'> & { detail?: string }

interface Run extends ApplyOptions {
  outcomes: Outcome[]
  /** Providers whose deployments cannot be created. */
  unusable: Set<string>
}

const maximumOrganisations = 10_000

/** Creates what is missing, in the order in which it depends on each other. A failure concerns one item. */
export async function applyPlan(plan: ImportPlan, options: ApplyOptions): Promise<Outcome[]> {
  const run: Run = { ...options, outcomes: [], unusable: new Set() }
  for (const provider of plan.providers) {
    const result = await record(run, 'provider', provider.id, () => applyProvider(run, provider))
    if (result === 'kept' || result === 'failed') run.unusable.add(provider.id)
  }
  for (const deployment of plan.deployments) await applyDeployment(run, deployment)
  for (const model of plan.models) await record(run, 'model', model.id, () => applyModel(run, model))
  for (const organisation of plan.organisations)
    await record(run, 'organisation', organisation.name, () => applyOrganisation(run, organisation, plan))
  return run.outcomes
}

async function record(
  run: Run,
  kind: Outcome['kind'],
  id: string,
  work: () => Promise<Result>,
): Promise<Outcome['result']> {
  let done: Result
  try {
    done = await work()
  } catch (error) {
    if (!(error instanceof FailedError) || error.details.status === undefined || error.details.status === 401)
      throw error
    done = { result: 'failed', detail: error.message }
  }
  run.outcomes.push({ kind, id, result: done.result, detail: done.detail ?? '' })
  return done.result
}

async function applyProvider(run: Run, { id, declaration, secrets }: PlannedProvider): Promise<Result> {
  const current = await find<ProviderBody>(run, `/api/providers/${encodeURIComponent(id)}`)
  if (!current) {
    await change(run, 'PUT', `/api/providers/${encodeURIComponent(id)}`, { ...declaration, ...secrets })
    return { result: 'created', detail: describeKey(secrets) }
  }
  const differences = differencesOf(current, declaration, secrets)
  if (differences.length === 0) return { result: 'unchanged' }
  return { result: 'kept', detail: `There is a provider with this id and another ${differences.join(', ')}.` }
}

const compared = ['format', 'flavour', 'baseUrl', 'region', 'project', 'apiVersion'] as const

/** Only the last four characters of a stored key can be compared. */
function differencesOf(
  current: ProviderBody,
  declaration: PlannedProvider['declaration'],
  secrets: PlannedProvider['secrets'],
): string[] {
  const different: string[] = compared.filter((name) => (current[name] ?? '') !== (declaration[name] ?? ''))
  if (declaration.hosting !== undefined && declaration.hosting !== current.hosting) different.push('hosting')
  if ((secrets.apiKey?.slice(-4) ?? null) !== current.apiKeyLastFour) different.push('key')
  if ((secrets.credentials !== undefined) !== current.hasCredentials) different.push('credentials')
  if (
    Object.keys(secrets.headers ?? {})
      .sort()
      .join() !== current.headerNames.join()
  )
    different.push('headers')
  return different
}

const describeKey = ({ apiKey, credentials }: PlannedProvider['secrets']) =>
  apiKey === undefined && credentials === undefined ? 'without a key' : 'with its key'

async function applyDeployment(run: Run, { id, body, prices }: PlannedDeployment): Promise<void> {
  const path = `/api/deployments/${encodeURIComponent(id)}`
  let current: DeploymentBody | undefined
  const result = await record(run, 'deployment', id, async () => {
    if (run.unusable.has(body.provider))
      return { result: 'skipped', detail: `Its provider ${body.provider} is not imported.` }
    current = await find<DeploymentBody>(run, path)
    if (current) {
      const isSame = current.model === body.model && current.wireId === (body.wireId ?? body.model)
      return isSame
        ? { result: 'unchanged' }
        : { result: 'kept', detail: `It serves ${current.model} as ${current.wireId}.` }
    }
    await change(run, 'PUT', path, body)
    return { result: 'created', detail: `${body.model} at ${body.provider}` }
  })
  if (prices === undefined || (result !== 'created' && result !== 'unchanged')) return
  await record(run, 'price', id, async () => {
    if (current?.prices.some(({ id: priceId }) => priceId !== null))
      return { result: 'unchanged', detail: 'It has a price of the operator.' }
    await change(run, 'POST', `${path}/prices`, prices)
    return { result: 'created', detail: `${prices.input} US dollars per million input tokens` }
  })
}

/** Facts of a model that exists already are kept; missing aliases are added. */
async function applyModel(run: Run, { id, facts }: PlannedModel): Promise<Result> {
  const path = `/api/models/${encodeURIComponent(id)}`
  const current = await find<ModelBody>(run, path)
  // A deployment alone makes a model, which has no facts of the operator yet.
  const missing = (facts.aliases ?? []).filter((alias) => !current?.aliases.includes(alias))
  if (!current || current.origin === 'snapshot') {
    const aliases = [...(current?.aliases ?? []), ...missing]
    await change(run, 'PUT', path, { ...facts, ...(missing.length > 0 ? { aliases } : {}) })
    return { result: 'created' }
  }
  if (missing.length === 0) return { result: 'unchanged' }
  await change(run, 'PATCH', path, { aliases: [...current.aliases, ...missing] })
  return { result: 'changed', detail: `added the names ${missing.join(', ')}` }
}

async function applyOrganisation(run: Run, planned: PlannedOrganisation, plan: ImportPlan): Promise<Result> {
  const { name, monthlyBudgetUsd, gatewayEnabled, limits } = planned
  const path = `/api/organisations?search=${encodeURIComponent(name)}`
  const { items } = await loadItems<OrganisationBody>(run.client, path, maximumOrganisations)
  if (items.some((one) => one.name === name))
    return { result: 'unchanged', detail: 'There is an organisation with this name.' }
  const body = { name, plan: 'enterprise', monthlyBudgetUsd, gatewayEnabled, limits }
  if (run.dryRun) return { result: 'created', detail: describeBudget(planned) }
  const disabledModels = planned.models === undefined ? [] : await otherModels(run, planned.models, plan)
  const made = await run.client.send<OrganisationBody>('POST', '/api/organisations', { ...body, disabledModels })
  if (run.optIn) await run.client.send('PUT', `/api/organisations/${made.id}/opt-in`, { optIn: true })
  return { result: 'created', detail: describeBudget(planned) }
}

const describeBudget = ({ monthlyBudgetUsd, gatewayEnabled }: PlannedOrganisation) =>
  `${monthlyBudgetUsd} US dollars a month${gatewayEnabled ? '' : ', not enabled'}`

/** The models that the team may not call. Names of LiteLLM are ids or aliases. */
async function otherModels(run: Run, allowed: readonly string[], plan: ImportPlan): Promise<string[]> {
  const { data } = await run.client.get<{ data: ModelBody[] }>('/api/models')
  const names = new Set(allowed)
  const isAllowed = ({ id, aliases }: ModelBody) => names.has(id) || aliases.some((alias) => names.has(alias))
  const planned = new Set(plan.deployments.map(({ body }) => body.model))
  return data
    .filter((model) => (model.callableIds.length > 0 || planned.has(model.id)) && !isAllowed(model))
    .map(({ id }) => id)
}

async function find<Body>({ client }: Run, path: string): Promise<Body | undefined> {
  try {
    return await client.get<Body>(path)
  } catch (error) {
    if (error instanceof FailedError && error.details.status === 404) return undefined
    throw error
  }
}

async function change({ client, dryRun }: Run, method: string, path: string, body: unknown): Promise<void> {
  if (!dryRun) await client.send(method, path, body)
}
