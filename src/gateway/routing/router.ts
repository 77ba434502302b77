import { AppError, type AttemptSpan, type Clock, type Log } from '../../platform/kernel/index.ts'
import { type Deployment, type DeploymentHealth, sideOf } from '../models/index.ts'
import { ProviderError } from '../providers/index.ts'
import type { DeploymentHistory } from './deployment-history.ts'
import {
  type CircuitBreakers,
  createCircuitBreakers,
  createDeploymentTraffic,
  type DeploymentTraffic,
  type FailingDeployment,
  type TrafficOutcome,
} from './deployment-state.ts'
import { judgeFailure } from './retry-policy.ts'

/** Sends one call to the deployments of one model and side until one answers or a retry would be wrong. */
export interface Router extends DeploymentHealth {
  /**
   * Resolves with the first answer. Rejects with RoutingFailure (cause: the last ProviderError), with the reason of the caller's
   * signal, or with any other error that `attempt` throws. The signal passed to `attempt` follows the caller's signal after
   * `attempt` has resolved too, so that a stream ends with its client; the time limit ends when `attempt` resolves.
   */
  run<T>(call: RoutedCall, attempt: Attempt<T>): Promise<RoutedAnswer<T>>
  /** The deployments that may be called now. */
  available(deployments: readonly Deployment[]): Deployment[]
  /** Records that a stream failed after `run` had resolved. */
  reportBrokenStream(deploymentId: string, error: ProviderError): void
  /** Records the speed of a complete answer. */
  reportAnswer(deploymentId: string, answer: { outputTokens: number; durationMs: number; isStream: boolean }): void
  /** What this instance cannot call now, or only after other deployments. */
  failing(): FailingDeployment[]
}

type Attempt<T> = (deployment: Deployment, signal: AbortSignal, span: AttemptSpan | null) => Promise<T>

/** Begins the span of an attempt; `number` is 1 for the first. */
export type Attempting = (deployment: Deployment, number: number) => AttemptSpan | null

interface RoutedAnswer<T> {
  value: T
  deployment: Deployment
  attempts: AttemptRecord[]
}

interface RoutedCall {
  /** Deployments of one model, all of one side (eu / not eu). */
  candidates: readonly Deployment[]
  signal: AbortSignal
  /** Absent: attempts are not traced. */
  attempting?: Attempting | undefined
  /** False: the answer is complete when `attempt` resolves, and the caller's signal is no longer followed. Default true. */
  streamed?: boolean
  maximumAttempts?: number
  /** Until `attempt` resolves. */
  perAttemptTimeoutMs?: number
  /** Over all attempts and pauses. */
  totalTimeoutMs?: number
}

interface AttemptRecord {
  deploymentId: string
  durationMs: number
  /** `answered` or the error's class. */
  outcome: string
  /** HTTP status of a failure, if there was one. */
  status: number | null
}

/** No deployment answered. `cause` is the last ProviderError; `toClientError` maps it to the client's error. */
export class RoutingFailure extends Error {
  readonly error: ProviderError
  readonly attempts: readonly AttemptRecord[]

  constructor(error: ProviderError, attempts: readonly AttemptRecord[]) {
    super(error.message, { cause: error })
    this.name = 'RoutingFailure'
    this.error = error
    this.attempts = attempts
  }
}

/** One attempt for each of up to six deployments; three attempts if there are fewer than three. */
const maximumAttemptsBounds = { least: 3, most: 6 }
/** The compatible API's SDKs wait ten minutes for an answer. */
const defaultAttemptTimeoutMs = 600_000
const defaultTotalTimeoutMs = 660_000
/** Longest pause before a retry at the same deployment. A provider that requires a longer pause is not retried. */
const maximumPauseMs = 8_000
/** Upper bound on `retry-after` if no deployment was available. */
const maximumRetryAfterMs = 3_600_000

interface RouterMetrics {
  attempt(deploymentId: string, outcome: string): void
}

interface RouterDependencies {
  clock: Clock
  /** In [0, 1). */
  random: () => number
  log: Log
  metrics?: RouterMetrics
  /** Absent: outcomes are not kept beyond the traffic of the last minutes. */
  history?: DeploymentHistory
}

interface RouterState extends RouterDependencies {
  breakers: CircuitBreakers
  traffic: DeploymentTraffic
  deadlines: Deadlines
}

export function createRouter(dependencies: RouterDependencies): Router {
  const { clock, metrics, history } = dependencies
  const breakers = createCircuitBreakers({ clock, onChange: history?.circuitChanged })
  const traffic = createDeploymentTraffic({ clock })
  const state: RouterState = { ...dependencies, breakers, traffic, deadlines: createDeadlines({ clock }) }
  return {
    run: (call, attempt) => run(state, call, attempt),
    available: (deployments) => deployments.filter((deployment) => breakers.check(deployment.id).admitted),
    reportFailure: (deploymentId, error) => recordFailure(state, deploymentId, error),
    reportBrokenStream(deploymentId, error) {
      recordFailure(state, deploymentId, error)
      if (judgeFailure(error).health === 'fault') {
        traffic.brokenStream(deploymentId)
        history?.brokenStream(deploymentId, error.errorClass)
      }
      metrics?.attempt(deploymentId, `stream_${error.errorClass}`)
    },
    reportAnswer(deploymentId, { outputTokens, durationMs, isStream }) {
      if (outputTokens > 0) traffic.generated(deploymentId, outputTokens, durationMs)
      // The duration of a whole answer is known from its attempt.
      if (!isStream) return
      traffic.finished(deploymentId, durationMs)
      history?.finished(deploymentId, durationMs)
    },
    reportSuccess(deploymentId, others) {
      breakers.succeeded(deploymentId)
      for (const other of others) {
        if (breakers.view(other).accountError?.class === 'authentication') breakers.clearAccountError(other)
      }
    },
    health: (deploymentId) => breakers.view(deploymentId),
    traffic: (deploymentId) => traffic.view(deploymentId),
    reset: (deploymentIds) => breakers.reset(deploymentIds),
    failing: () => breakers.failing(),
  }
}

/** Progress of one `run`. */
interface Progress {
  deadlineMs: number
  attempts: AttemptRecord[]
  /** Deployments that must not be called again in this run; undefined while there are none. */
  excluded?: Set<string>
  /** Last error of each deployment in this run; undefined while there are none. */
  errors?: Map<string, ProviderError>
  lastError: ProviderError | null
}

async function run<T>(state: RouterState, call: RoutedCall, attempt: Attempt<T>): Promise<RoutedAnswer<T>> {
  const { clock } = state
  assertOneSide(call.candidates)
  const maximumAttempts = call.maximumAttempts ?? defaultAttempts(call.candidates.length)
  const progress: Progress = {
    deadlineMs: clock.monotonicMs() + (call.totalTimeoutMs ?? defaultTotalTimeoutMs),
    attempts: [],
    lastError: null,
  }
  while (progress.attempts.length < maximumAttempts) {
    call.signal.throwIfAborted()
    const deployment = choose(state, call.candidates, progress)
    if (!deployment) break
    const pauseMs = pauseBefore(state, deployment, progress)
    if (pauseMs > maximumPauseMs || clock.monotonicMs() + pauseMs >= progress.deadlineMs) break
    if (pauseMs > 0) {
      await clock.sleep(pauseMs, call.signal)
      // Calls of other clients may have opened its circuit meanwhile.
      if (!state.breakers.check(deployment.id).admitted) continue
    }
    if (clock.monotonicMs() >= progress.deadlineMs) break
    const answer = await tryAndRecord(state, call, deployment, progress, attempt)
    if (answer === 'stop') break
    if (answer !== 'retry') return { value: answer.value, deployment, attempts: progress.attempts }
  }
  throw new RoutingFailure(progress.lastError ?? unavailable(state, call.candidates), progress.attempts)
}

/** Zero for a deployment that was not tried yet. */
function pauseBefore({ random }: RouterState, deployment: Deployment, { attempts, errors }: Progress): number {
  const tries = triesOf(deployment, attempts)
  if (tries === 0) return 0
  const retryAfterMs = (errors?.get(deployment.id)?.retryAfterSeconds ?? 0) * 1000
  return Math.max(backoffMs(tries - 1, random()), retryAfterMs)
}

/** One attempt with its record. Rethrows errors that are not a ProviderError. */
async function tryAndRecord<T>(
  state: RouterState,
  call: RoutedCall,
  deployment: Deployment,
  progress: Progress,
  attempt: Attempt<T>,
): Promise<{ value: T } | 'retry' | 'stop'> {
  const startedMs = state.clock.monotonicMs()
  const span = call.attempting ? call.attempting(deployment, progress.attempts.length + 1) : null
  const record = (outcome: string, status: number | null) => {
    const durationMs = state.clock.monotonicMs() - startedMs
    progress.attempts.push({ deploymentId: deployment.id, durationMs, outcome, status })
    state.metrics?.attempt(deployment.id, outcome)
    span?.end(outcome, status)
    return durationMs
  }
  try {
    const timeoutMs = Math.min(call.perAttemptTimeoutMs ?? defaultAttemptTimeoutMs, progress.deadlineMs - startedMs)
    const value = await tryOnce(state, deployment, timeoutMs, call, attempt, span)
    const durationMs = record('answered', null)
    const { traffic, history } = state
    traffic.attempt(deployment.id, 'answered')
    history?.attempt(deployment.id, 'answered', null)
    const measure = call.streamed === false ? 'finished' : 'firstBytes'
    traffic[measure](deployment.id, durationMs)
    history?.[measure](deployment.id, durationMs)
    return { value }
  } catch (error) {
    if (call.signal.aborted || !(error instanceof ProviderError)) span?.end('cancelled', null)
    call.signal.throwIfAborted()
    if (!(error instanceof ProviderError)) throw error
    record(error.errorClass, error.status)
    ;(progress.errors ??= new Map()).set(deployment.id, error)
    progress.lastError = error
    const { retry, health } = judgeFailure(error)
    // A call that was not sent is no observation of the deployment.
    if (health !== 'none') {
      state.traffic.attempt(deployment.id, outcomesOfHealth[health])
      state.history?.attempt(deployment.id, outcomesOfHealth[health], error.errorClass)
    }
    state.log.info(
      { deployment: deployment.id, errorClass: error.errorClass, status: error.status, retry },
      'an attempt failed',
    )
    if (retry === 'elsewhere') (progress.excluded ??= new Set()).add(deployment.id)
    return retry === 'stop' ? 'stop' : 'retry'
  }
}

const outcomesOfHealth = {
  fault: 'failed',
  account: 'failed',
  rate_limit: 'limited',
  answered: 'rejected',
} as const satisfies Record<string, TrafficOutcome>

/** One attempt with its time limit; reports the outcome to the circuit breaker. */
async function tryOnce<T>(
  state: RouterState,
  deployment: Deployment,
  timeoutMs: number,
  { signal, streamed = true }: RoutedCall,
  attempt: Attempt<T>,
  span: AttemptSpan | null,
): Promise<T> {
  const { breakers, deadlines } = state
  // Not AbortSignal.any, which costs 14 to 30 µs per call on Node 26; this costs less than 1 µs.
  const ended = new AbortController()
  let timedOut: ProviderError | undefined
  // Rejects at once: an attempt that ignores its signal must not delay the client.
  let giveUp: (reason: unknown) => void
  const end = (reason: unknown) => {
    ended.abort(reason)
    giveUp(reason)
  }
  const onAbort = () => end(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const cancelDeadline = deadlines.start(timeoutMs, () => end((timedOut = timeoutError(timeoutMs))))
  let keepListening = false
  breakers.begin(deployment.id)
  try {
    const value = await new Promise<T>((resolve, reject) => {
      giveUp = reject
      attempt(deployment, ended.signal, span).then(resolve, reject)
    })
    breakers.succeeded(deployment.id)
    keepListening = streamed
    return value
  } catch (thrown) {
    const error = signal.aborted ? thrown : (timedOut ?? thrown)
    if (signal.aborted || !(error instanceof ProviderError)) breakers.released(deployment.id)
    else recordFailure(state, deployment.id, error)
    throw error
  } finally {
    cancelDeadline()
    if (!keepListening) signal.removeEventListener('abort', onAbort)
  }
}

function recordFailure({ breakers, log }: RouterState, deploymentId: string, error: ProviderError) {
  const event = breakers.failed(deploymentId, error)
  const fields = { deployment: deploymentId, errorClass: error.errorClass, status: error.status }
  if (event === 'circuit') log.warn(fields, 'circuit opened')
  // Without the provider's message, which may repeat the prompt.
  if (event === 'account') log.warn(fields, 'the provider rejects the key, the account or the model of a deployment')
}

/** Prefers the fewest tries, then deployments without a recent rate limit or account error, then chooses by weight. */
function choose(
  { breakers, random }: RouterState,
  candidates: readonly Deployment[],
  { excluded, attempts }: Progress,
): Deployment | undefined {
  let best: Deployment[] = []
  let bestRank = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    if (excluded?.has(candidate.id)) continue
    const admission = breakers.check(candidate.id)
    if (!admission.admitted) continue
    const rank = triesOf(candidate, attempts) * 2 + (admission.reluctant ? 1 : 0)
    if (rank < bestRank) best = []
    if (rank > bestRank) continue
    bestRank = rank
    best.push(candidate)
  }
  return best.length < 2 ? best[0] : chooseByWeight(best, random())
}

function triesOf({ id }: Deployment, attempts: readonly AttemptRecord[]): number {
  let tries = 0
  for (const { deploymentId } of attempts) if (deploymentId === id) tries++
  return tries
}

/** The error when no deployment could be tried: all wait for a rate limit or have an open circuit. */
function unavailable({ breakers }: RouterState, candidates: readonly Deployment[]): ProviderError {
  const refusals = candidates
    .map((candidate) => breakers.check(candidate.id))
    .filter((admission) => !admission.admitted)
  const waitMs = Math.min(...refusals.map((refusal) => refusal.waitMs), maximumRetryAfterMs)
  const fields = { retryable: true, retryAfterSeconds: waitMs / 1000 }
  return refusals.length > 0 && refusals.every((refusal) => refusal.reason === 'rate_limit')
    ? new ProviderError('rate_limit', 'The provider’s rate limit is reached.', fields)
    : new ProviderError('overloaded', 'The provider has failed repeatedly and is not called for a moment.', fields)
}

function timeoutError(timeoutMs: number): ProviderError {
  const seconds = Math.ceil(timeoutMs / 1000)
  return new ProviderError('timeout', `The provider did not answer within ${seconds} seconds.`, { retryable: false })
}

function defaultAttempts(candidates: number): number {
  return Math.min(maximumAttemptsBounds.most, Math.max(maximumAttemptsBounds.least, candidates))
}

/** Last check before a call is sent: candidates of both sides are a bug. */
function assertOneSide(candidates: readonly Deployment[]): void {
  const [first] = candidates
  const side = first ? sideOf(first.hosting) : undefined
  if (side === null || candidates.some((candidate) => sideOf(candidate.hosting) !== side))
    throw new AppError('internal_error', 'The request could not be routed.', {
      internal: `candidates of several sides: ${candidates.map((candidate) => candidate.id).join(', ')}`,
    })
}

/**
 * Picks one candidate by weight. Pure: `random` is a number in [0, 1). Returns undefined if there are no candidates. Weights that are not
 * above 0 count as 0; if all do, the first candidate is returned.
 */
function chooseByWeight<Candidate extends { readonly weight: number }>(
  candidates: readonly Candidate[],
  random: number,
): Candidate | undefined {
  let total = 0
  for (const candidate of candidates) total += Math.max(0, candidate.weight)
  let rest = random * total
  for (const candidate of candidates) {
    rest -= Math.max(0, candidate.weight)
    if (rest < 0) return candidate
  }
  // Rounding can leave a tiny rest; the last candidate with a weight is correct then.
  return candidates.findLast((candidate) => candidate.weight > 0) ?? candidates[0]
}

/** Exponential backoff with full jitter, so that clients that failed together do not retry together. */
function backoffMs(retry: number, random: number): number {
  return random * Math.min(maximumBackoffMs, firstBackoffMs * 2 ** retry)
}

const firstBackoffMs = 250
const maximumBackoffMs = 8_000

/** Deadlines are seconds and minutes; this precision is enough. */
const deadlineTickMs = 100

/** Many deadlines with one timer: nearly all are cancelled long before they are due. */
interface Deadlines {
  /** Calls `onDue` once, at most one tick late, unless the returned function is called before. */
  start(ms: number, onDue: () => void): () => void
}

/** The timer runs only while a deadline is pending and never keeps the process alive. */
function createDeadlines({ clock }: { clock: Clock }): Deadlines {
  const waiting = new Set<{ dueMs: number; onDue: () => void }>()
  let stop: (() => void) | undefined

  function tick() {
    const nowMs = clock.monotonicMs()
    for (const deadline of waiting) {
      if (deadline.dueMs > nowMs) continue
      waiting.delete(deadline)
      deadline.onDue()
    }
    if (waiting.size > 0) return
    stop?.()
    stop = undefined
  }

  return {
    start(ms, onDue) {
      const deadline = { dueMs: clock.monotonicMs() + ms, onDue }
      waiting.add(deadline)
      stop ??= clock.every(deadlineTickMs, tick)
      return () => waiting.delete(deadline)
    },
  }
}
