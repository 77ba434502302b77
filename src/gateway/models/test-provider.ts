import type { ProviderTest } from '../../contract/models.ts'
import { AppError, type Clock, type RequestId, describeError, invalidField } from '../../platform/kernel/index.ts'
import { type Provider, ProviderError } from '../providers/index.ts'
import type { BuiltModel } from './build-catalogue.ts'
import type { DeploymentHealth } from './deployment-health.ts'
import { priceInForce } from './create-catalogue.ts'

/** A step of a test fails after this time. */
const stepTimeoutMs = 30_000
/** Enough for one word. If a reasoning model uses it up, the key and the model work too. */
const testOutputTokens = 16

type Entry = { model: BuiltModel; deployment: BuiltModel['all'][number]['deployment'] }
type Step = ProviderTest['steps'][number]
type Failure = NonNullable<ProviderTest['error']>

interface TestDependencies {
  provider: () => Provider
  deploymentHealth: Pick<DeploymentHealth, 'reportSuccess' | 'reportFailure'>
  clock: Clock
}

interface TestedProvider {
  providerId: string
  model: string | undefined
  entries: readonly Entry[]
  requestId: RequestId
}

/**
 * Tests a provider in steps: requests its listing, if the format has one, then sends one small real call. `model` (a model id, deployment id
 * or id on the wire) selects the model; the default is the cheapest chat model. Without a deployment only the listing is requested. The call
 * is not billed to an organisation; the provider bills the operator's account. The result updates the health of the deployment; a
 * rejected key updates all deployments of the provider.
 */
export async function testProvider(tested: TestedProvider, dependencies: TestDependencies): Promise<ProviderTest> {
  const { providerId, model, entries } = tested
  const { clock } = dependencies
  const provider = dependencies.provider()
  const entry = chooseEntry(entries, model, clock.now())
  if (!entry && (model !== undefined || !provider.listModels)) throw nothingToCall(providerId, model)
  const startedMs = clock.monotonicMs()
  const listing = await listModels(provider, clock)
  // A key may be allowed to call models and not to list them, so only a missing connection makes the call pointless.
  const answer = entry && !isUnreachable(listing) ? await callModel(provider, entry, tested, dependencies) : undefined
  const error = answer ? answer.error : listing.error
  return {
    ok: error === null,
    provider: providerId,
    deployment: entry?.deployment.id ?? null,
    model: entry?.model.id ?? null,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    steps: describeSteps(listing, answer),
    error,
  }
}

interface Tried {
  /** null: the format has no listing. */
  durationMs: number | null
  models: number | null
  error: Failure | null
  thrown: ProviderError | null
}

async function listModels(provider: Provider, clock: Clock): Promise<Tried> {
  if (!provider.listModels) return { durationMs: null, models: null, error: null, thrown: null }
  return attempt(clock, async (signal) => (await provider.listModels!(signal)).length)
}

async function callModel(
  provider: Provider,
  entry: Entry,
  { entries, requestId }: TestedProvider,
  { deploymentHealth, clock }: TestDependencies,
): Promise<Tried> {
  const tried = await attempt(clock, async (signal) => {
    await callOnce(provider, entry, { signal, requestId })
    return null
  })
  const ids = entries.map(({ deployment }) => deployment.id)
  if (tried.error === null) deploymentHealth.reportSuccess(entry.deployment.id, ids)
  else if (tried.thrown) reportFailure(tried.thrown, entry, entries, deploymentHealth)
  return tried
}

async function attempt(clock: Clock, work: (signal: AbortSignal) => Promise<number | null>): Promise<Tried> {
  const startedMs = clock.monotonicMs()
  const signal = AbortSignal.timeout(stepTimeoutMs)
  const tried = (models: number | null, error: Failure | null, thrown: ProviderError | null): Tried => ({
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    models,
    error,
    thrown,
  })
  try {
    return tried(await work(signal), null, null)
  } catch (caught) {
    const error = signal.aborted ? timeout(caught) : caught
    if (error instanceof ProviderError) return tried(null, describeFailure(error), error)
    return tried(null, { class: 'server_error', status: null, message: describeError(error), code: null }, null)
  }
}

function timeout(cause: unknown): ProviderError {
  const message = `The provider did not answer within ${stepTimeoutMs / 1000} seconds.`
  return new ProviderError('timeout', message, { retryable: false, cause })
}

export function describeFailure(error: ProviderError): Failure {
  return { class: error.errorClass, status: error.status, message: error.message, code: connectionCode(error) }
}

/** Upper bound on the chain of causes. */
const maximumCauses = 6

/** The code of Node or undici behind a failed connection. */
function connectionCode(error: ProviderError): string | null {
  if (error.errorClass !== 'connection' && error.errorClass !== 'timeout') return null
  let current: unknown = error.cause
  for (let depth = 0; depth < maximumCauses && current instanceof Error; depth++) {
    const { code } = current as { code?: unknown }
    if (typeof code === 'string') return code
    current = current instanceof AggregateError ? current.errors[0] : current.cause
  }
  return null
}

/** Without a status nothing of the provider was received. */
function isUnreachable({ error }: Tried): boolean {
  return error !== null && (error.class === 'connection' || error.class === 'timeout') && error.status === null
}

function describeSteps(listing: Tried, answer: Tried | undefined): Step[] {
  const decisive = answer ?? listing
  const step = (name: Step['step'], result: Step['result'], tried?: Tried): Step => ({
    step: name,
    result,
    durationMs: tried?.durationMs ?? null,
    models: tried?.models ?? null,
  })
  if (isUnreachable(decisive))
    return [
      step('connection', 'failed', decisive),
      ...(['credentials', 'listing', 'answer'] as const).map((name) => step(name, 'skipped')),
    ]
  const isRefused = decisive.error?.class === 'authentication'
  const isListed = listing.durationMs !== null && listing.error === null
  return [
    step('connection', 'passed'),
    // Some hosts list their models without a key, so a listing proves nothing about it.
    step('credentials', isRefused ? 'failed' : answer && !answer.error ? 'passed' : 'skipped'),
    // Hosts without a listing answer with an error; then the call decides.
    step('listing', isListed ? 'passed' : answer || isRefused || !listing.error ? 'skipped' : 'failed', listing),
    step('answer', !answer || isRefused ? 'skipped' : answer.error ? 'failed' : 'passed', answer),
  ]
}

/** A rejected key concerns all deployments of the provider. */
function reportFailure(
  error: ProviderError,
  entry: Entry,
  entries: readonly Entry[],
  deploymentHealth: TestDependencies['deploymentHealth'],
): void {
  const concerned = error.errorClass === 'authentication' ? entries : [entry]
  for (const one of concerned) deploymentHealth.reportFailure(one.deployment.id, error)
}

async function callOnce(
  provider: Provider,
  { model, deployment }: Entry,
  { signal, requestId }: { signal: AbortSignal; requestId: RequestId },
): Promise<void> {
  const call = { model: deployment.wire, signal, requestId }
  if (model.kind === 'embedding') await provider.embed?.({ ...call, texts: ['test'], purpose: 'query' })
  else if (model.kind === 'rerank') await provider.rerank?.({ ...call, query: 'test', documents: ['test'] })
  else {
    const messages = [{ role: 'user' as const, content: 'Answer with the word OK.' }]
    await provider.complete({ ...call, request: { messages, maxOutputTokens: testOutputTokens } })
  }
}

/** The selected one; else the cheapest chat model, non-reasoning first; else any. */
function chooseEntry(entries: readonly Entry[], name: string | undefined, nowMs: number): Entry | undefined {
  if (name !== undefined) {
    return entries.find(
      ({ model, deployment }) => model.id === name || deployment.id === name || deployment.wire.id === name,
    )
  }
  const rank = ({ model, deployment }: Entry) =>
    (model.kind === 'chat' ? 0 : 4) + (deployment.wire.reasoning ? 2 : 0) + (model.enabled ? 0 : 1)
  const price = ({ deployment }: Entry) => priceInForce(deployment, nowMs)?.base.output ?? 0n
  return entries.toSorted((left, right) => rank(left) - rank(right) || (price(left) < price(right) ? -1 : 1))[0]
}

function nothingToCall(providerId: string, model: string | undefined): AppError {
  return model === undefined
    ? new AppError(
        'conflict',
        `The provider ${providerId} serves no model yet. Add a deployment, or set its models to snapshot or discovered.`,
      )
    : invalidField('model', `The provider ${providerId} has no deployment of ${model}.`)
}
