import { AppError } from '../../platform/kernel/index.ts'
import type { Deployment, DeploymentHealth } from '../models/index.ts'
import { ProviderError } from '../providers/index.ts'
import { createCircuitBreakers, createDeploymentTraffic, type FailingDeployment } from './deployment-state.ts'
import { judgeFailure } from './retry-policy.ts'
import {
  type Attempt,
  type AttemptRecord,
  createDeadlines,
  type Progress,
  recordFailure,
  type RoutedCall,
  type RouterDependencies,
  type RouterState,
  Trial,
  type TrialEnds,
} from './trial.ts'

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

interface RoutedAnswer<T> {
  value: T
  deployment: Deployment
  attempts: AttemptRecord[]
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
const defaultTotalTimeoutMs = 660_000
/** Longest pause before a retry at the same deployment. A provider that requires a longer pause is not retried. */
const maximumPauseMs = 8_000
/** Upper bound on `retry-after` if no deployment was available. */
const maximumRetryAfterMs = 3_600_000

export function createRouter(dependencies: RouterDependencies): Router {
  const { clock, attempts, history } = dependencies
  const breakers = createCircuitBreakers({ clock, onChange: history?.circuitChanged })
  const traffic = createDeploymentTraffic({ clock })
  const state: RouterState = { ...dependencies, breakers, traffic, deadlines: createDeadlines({ clock }) }
  return {
    run(call, attempt) {
      return new Promise((resolve, reject) => {
        assertOneSide(call.candidates)
        new Run(state, call, attempt, resolve, reject).next()
      })
    },
    available: (deployments) => deployments.filter((deployment) => breakers.check(deployment.id).admitted),
    reportFailure: (deploymentId, error) => recordFailure(state, deploymentId, error),
    reportBrokenStream(deploymentId, error) {
      recordFailure(state, deploymentId, error)
      if (judgeFailure(error).health === 'fault') {
        traffic.brokenStream(deploymentId)
        history?.brokenStream(deploymentId, error.errorClass)
      }
      attempts?.inc({ deployment: deploymentId, outcome: `stream_${error.errorClass}` })
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

/** One call, from deployment to deployment. */
class Run<T> implements TrialEnds<T> {
  readonly #state: RouterState
  readonly #call: RoutedCall
  readonly #attempt: Attempt<T>
  readonly #progress: Progress
  readonly #resolve: (answer: RoutedAnswer<T>) => void
  readonly #reject: (error: unknown) => void

  constructor(
    state: RouterState,
    call: RoutedCall,
    attempt: Attempt<T>,
    resolve: (answer: RoutedAnswer<T>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#state = state
    this.#call = call
    this.#attempt = attempt
    const deadlineMs = state.clock.monotonicMs() + (call.totalTimeoutMs ?? defaultTotalTimeoutMs)
    this.#progress = { deadlineMs, attempts: [], lastError: null }
    this.#resolve = resolve
    this.#reject = reject
  }

  next(): void {
    const { candidates, signal, maximumAttempts = defaultAttempts(candidates.length) } = this.#call
    const { clock, breakers } = this.#state
    const progress = this.#progress
    if (signal.aborted) return this.#reject(signal.reason)
    if (progress.attempts.length >= maximumAttempts) return this.#giveUp()
    const deployment = choose(this.#state, candidates, progress)
    if (!deployment) return this.#giveUp()
    const pauseMs = pauseBefore(this.#state, deployment, progress)
    if (pauseMs > maximumPauseMs || clock.monotonicMs() + pauseMs >= progress.deadlineMs) return this.#giveUp()
    if (pauseMs === 0) return this.#try(deployment)
    clock
      .sleep(pauseMs, signal)
      // Calls of other clients may have opened its circuit meanwhile.
      .then(() => (breakers.check(deployment.id).admitted ? this.#try(deployment) : this.next()))
      .catch(this.#reject)
  }

  #try(deployment: Deployment) {
    if (this.#state.clock.monotonicMs() >= this.#progress.deadlineMs) return this.#giveUp()
    new Trial(this.#state, this.#call, deployment, this.#progress, this).begin(this.#attempt)
  }

  #giveUp() {
    const { lastError, attempts } = this.#progress
    this.#reject(new RoutingFailure(lastError ?? unavailable(this.#state, this.#call.candidates), attempts))
  }

  answered(value: T, deployment: Deployment): void {
    this.#resolve({ value, deployment, attempts: this.#progress.attempts })
  }

  failed(next: 'retry' | 'stop'): void {
    if (next === 'retry') this.next()
    else this.#giveUp()
  }

  broken(error: unknown): void {
    this.#reject(error)
  }
}

/** Zero for a deployment that was not tried yet. */
function pauseBefore({ random }: RouterState, deployment: Deployment, { attempts, errors }: Progress): number {
  const tries = triesOf(deployment, attempts)
  if (tries === 0) return 0
  const retryAfterMs = (errors?.get(deployment.id)?.retryAfterSeconds ?? 0) * 1000
  return Math.max(backoffMs(tries - 1, random()), retryAfterMs)
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

function defaultAttempts(candidates: number): number {
  return Math.min(maximumAttemptsBounds.most, Math.max(maximumAttemptsBounds.least, candidates))
}

/** Last check before a call is sent: candidates of both sides are a bug. */
function assertOneSide(candidates: readonly Deployment[]): void {
  const side = candidates[0]?.side
  if (side === null || candidates.some((candidate) => candidate.side !== side))
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
