import { AppError, type Clock, type Log, raceSignal } from '../kernel/index.ts'
import { ProviderError } from '../providers/index.ts'
import { type Deployment, type DeploymentHealth, sideOf } from '../models/index.ts'
import { backoffMs, chooseByWeight } from './choose-deployment.ts'
import { createDeadlines } from './deadlines.ts'
import { createCircuitBreakers } from './circuit-breaker.ts'
import { judgeFailure } from './retry-policy.ts'

/** Sends one call to the deployments of one model and side until one answers, or sending it again would be wrong. */
export interface Router extends DeploymentHealth {
  /**
   * Resolves with the first answer. Rejects with RoutingFailure (cause: the last ProviderError), with the signal's reason
   * when it aborts, or with whatever else `attempt` throws. The signal given to `attempt` also follows the caller's after the
   * attempt has resolved, so that a stream ends with its client; its time limit does not.
   */
  run<T>(
    call: RoutedCall,
    attempt: (deployment: Deployment, signal: AbortSignal) => Promise<T>,
  ): Promise<{ value: T; deployment: Deployment; attempts: AttemptRecord[] }>
  /** Those that would be called now. */
  available(deployments: readonly Deployment[]): Deployment[]
}

interface RoutedCall {
  /** Deployments of one model, all of one side (eu / not eu). */
  candidates: readonly Deployment[]
  signal: AbortSignal
  /** False: the answer is whole when `attempt` resolves, and the signal is let go then. Default true. */
  streamed?: boolean
  maximumAttempts?: number
  /** Until `attempt` resolves. */
  perAttemptTimeoutMs?: number
  /** Over all attempts and pauses. */
  totalTimeoutMs?: number
}

export interface AttemptRecord {
  deploymentId: string
  durationMs: number
  /** `answered` or the error's class. */
  outcome: string
  status: number | null
}

/** No deployment answered. `cause` is the last ProviderError; `toClientError` turns it into what the client sees. */
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

/** One try each for up to six deployments; three tries where there are fewer. */
const maximumAttemptsBounds = { least: 3, most: 6 }
/** The compatible API's SDKs wait ten minutes for an answer. */
const defaultAttemptTimeoutMs = 600_000
const defaultTotalTimeoutMs = 660_000
/** Longest pause before the same deployment is tried again; a provider that asks for more is not. */
const maximumPauseMs = 8_000

export interface RouterMetrics {
  attempt(deploymentId: string, outcome: string): void
}

export function createRouter({
  clock,
  random,
  log,
  metrics,
}: {
  clock: Clock
  /** In [0, 1). */
  random: () => number
  log: Log
  metrics?: RouterMetrics
}): Router {
  const health = createCircuitBreakers({ clock })
  const deadlines = createDeadlines({ clock })

  async function tryOne<T>(
    deployment: Deployment,
    timeoutMs: number,
    { signal, streamed = true }: RoutedCall,
    attempt: (deployment: Deployment, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    // Not AbortSignal.any, which costs 14 to 30 µs a call on Node 26; this is below one.
    const ended = new AbortController()
    let timedOut: ProviderError | undefined
    const onAbort = () => ended.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const cancelDeadline = deadlines.start(timeoutMs, () => {
      timedOut = timeoutError(timeoutMs)
      ended.abort(timedOut)
    })
    let keepListening = false
    health.begin(deployment.id)
    try {
      // Raced, so that an attempt that does not heed its signal cannot hold the client.
      const value = await raceSignal(attempt(deployment, ended.signal), ended.signal)
      health.succeeded(deployment.id)
      keepListening = streamed
      return value
    } catch (thrown) {
      const error = signal.aborted ? thrown : (timedOut ?? thrown)
      if (signal.aborted || !(error instanceof ProviderError)) health.released(deployment.id)
      else if (health.failed(deployment.id, error) === 'open')
        log.warn({ deployment: deployment.id, errorClass: error.errorClass, status: error.status }, 'circuit opened')
      throw error
    } finally {
      cancelDeadline()
      if (!keepListening) signal.removeEventListener('abort', onAbort)
    }
  }

  return {
    async run(call, attempt) {
      assertOneSide(call.candidates)
      const startedMs = clock.monotonicMs()
      const totalTimeoutMs = call.totalTimeoutMs ?? defaultTotalTimeoutMs
      const remainingMs = () => totalTimeoutMs - (clock.monotonicMs() - startedMs)
      const maximumAttempts = call.maximumAttempts ?? defaultAttempts(call.candidates.length)
      const attempts: AttemptRecord[] = []
      const excluded = new Set<string>()
      /** Each deployment's last error in this run. */
      const errors = new Map<string, ProviderError>()
      let last: ProviderError | null = null

      while (attempts.length < maximumAttempts) {
        call.signal.throwIfAborted()
        const deployment = choose(call.candidates, excluded, attempts)
        if (!deployment) break
        const tries = attempts.filter((record) => record.deploymentId === deployment.id).length
        if (tries > 0) {
          const pauseMs = Math.max(
            backoffMs(tries - 1, random()),
            (errors.get(deployment.id)?.retryAfterSeconds ?? 0) * 1000,
          )
          if (pauseMs > maximumPauseMs || pauseMs >= remainingMs()) break
          await clock.sleep(pauseMs, call.signal)
          // Others may have met the same trouble meanwhile.
          if (!health.check(deployment.id).admitted) continue
        }
        const leftMs = remainingMs()
        if (leftMs <= 0) break
        const attemptStartedMs = clock.monotonicMs()
        const record = (outcome: string, status: number | null) => {
          attempts.push({
            deploymentId: deployment.id,
            durationMs: clock.monotonicMs() - attemptStartedMs,
            outcome,
            status,
          })
          metrics?.attempt(deployment.id, outcome)
        }
        try {
          const timeoutMs = Math.min(call.perAttemptTimeoutMs ?? defaultAttemptTimeoutMs, leftMs)
          const value = await tryOne(deployment, timeoutMs, call, attempt)
          record('answered', null)
          return { value, deployment, attempts }
        } catch (error) {
          call.signal.throwIfAborted()
          if (!(error instanceof ProviderError)) throw error
          record(error.errorClass, error.status)
          errors.set(deployment.id, error)
          last = error
          const { retry } = judgeFailure(error)
          log.info(
            { deployment: deployment.id, errorClass: error.errorClass, status: error.status, retry },
            'an attempt failed',
          )
          if (retry === 'stop') break
          if (retry === 'elsewhere') excluded.add(deployment.id)
        }
      }
      throw new RoutingFailure(last ?? unavailable(call.candidates), attempts)
    },
    available: (deployments) => deployments.filter((deployment) => health.check(deployment.id).admitted),
    reportFailure(deploymentId, error) {
      if (health.failed(deploymentId, error) === 'open')
        log.warn({ deployment: deploymentId, errorClass: error.errorClass, status: error.status }, 'circuit opened')
      metrics?.attempt(deploymentId, `stream_${error.errorClass}`)
    },
    reportSuccess(deploymentId, others) {
      health.succeeded(deploymentId)
      for (const other of others) {
        if (health.view(other).accountError?.class === 'authentication') health.clearAccountError(other)
      }
    },
    health: (deploymentId) => health.view(deploymentId),
    reset: (deploymentIds) => health.reset(deploymentIds),
  }

  /** Fresh ones before tried ones, willing ones before reluctant ones, then by weight. */
  function choose(
    candidates: readonly Deployment[],
    excluded: ReadonlySet<string>,
    attempts: readonly AttemptRecord[],
  ): Deployment | undefined {
    let best: Deployment[] = []
    let bestRank = Number.POSITIVE_INFINITY
    for (const candidate of candidates) {
      if (excluded.has(candidate.id)) continue
      const admission = health.check(candidate.id)
      if (!admission.admitted) continue
      const tries = attempts.filter((record) => record.deploymentId === candidate.id).length
      const rank = tries * 2 + (admission.reluctant ? 1 : 0)
      if (rank < bestRank) best = []
      if (rank > bestRank) continue
      bestRank = rank
      best.push(candidate)
    }
    return best.length < 2 ? best[0] : chooseByWeight(best, random())
  }

  /** Nothing could even be tried: every deployment rests or has an open circuit. */
  function unavailable(candidates: readonly Deployment[]): ProviderError {
    const refusals = candidates
      .map((candidate) => health.check(candidate.id))
      .filter((admission) => !admission.admitted)
    const waitMs = Math.min(...refusals.map((refusal) => refusal.waitMs), maximumAttemptsWaitMs)
    const limited = refusals.length > 0 && refusals.every((refusal) => refusal.reason === 'rate_limit')
    return limited
      ? new ProviderError('rate_limit', 'The provider’s rate limit is reached.', {
          retryable: true,
          retryAfterSeconds: waitMs / 1000,
        })
      : new ProviderError('overloaded', 'The provider has been failing and is left alone for a moment.', {
          retryable: true,
          retryAfterSeconds: waitMs / 1000,
        })
  }
}

function timeoutError(timeoutMs: number): ProviderError {
  const seconds = Math.ceil(timeoutMs / 1000)
  return new ProviderError('timeout', `The provider did not answer within ${seconds} seconds.`, { retryable: false })
}

/** What `retry-after` says where nothing better is known. */
const maximumAttemptsWaitMs = 3_600_000

function defaultAttempts(candidates: number): number {
  return Math.min(maximumAttemptsBounds.most, Math.max(maximumAttemptsBounds.least, candidates))
}

/** The last door before a call leaves: candidates of both sides are a bug that must not become a call. */
function assertOneSide(candidates: readonly Deployment[]): void {
  const sides = new Set(candidates.map((candidate) => sideOf(candidate.hosting)))
  if (sides.size > 1 || sides.has(null))
    throw new AppError('internal_error', 'The request could not be routed.', {
      internal: `candidates of several sides: ${candidates.map((candidate) => candidate.id).join(', ')}`,
    })
}
