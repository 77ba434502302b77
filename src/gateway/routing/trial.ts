import { type AttemptSpan, Bag, CallEnd, type Clock, type EndSignal, type Log } from '../../platform/kernel/index.ts'
import type { Deployment } from '../models/index.ts'
import { ProviderError } from '../providers/index.ts'
import type { DeploymentHistory } from './deployment-history.ts'
import type { CircuitBreakers, DeploymentTraffic, TrafficOutcome } from './deployment-state.ts'
import { judgeFailure } from './retry-policy.ts'

export type Attempt<T> = (deployment: Deployment, signal: EndSignal, span: AttemptSpan | null) => Promise<T>

/** Begins the span of an attempt; `number` is 1 for the first. */
export type Attempting = (deployment: Deployment, number: number) => AttemptSpan | null

export interface RoutedCall {
  /** Deployments of one model, all of one side (eu / not eu). */
  candidates: readonly Deployment[]
  signal: EndSignal
  /** Absent: attempts are not traced. */
  attempting?: Attempting | undefined
  /** Called when an attempt has failed, before the next one. */
  onFailed?: () => void
  /** False: the answer is complete when `attempt` resolves, and the caller's signal is no longer followed. Default true. */
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
  /** HTTP status of a failure, if there was one. */
  status: number | null
}

export interface RouterDependencies {
  clock: Clock
  /** In [0, 1). */
  random: () => number
  log: Log
  /** Counts each attempt, and each stream that breaks. */
  attempts?: { inc(labels: { deployment: string; outcome: string }): void }
  /** Absent: outcomes are not kept beyond the traffic of the last minutes. */
  history?: DeploymentHistory
}

export interface RouterState extends RouterDependencies {
  breakers: CircuitBreakers
  traffic: DeploymentTraffic
  deadlines: Deadlines
}

/** Progress of one `run`. */
export interface Progress {
  deadlineMs: number
  attempts: AttemptRecord[]
  /** Deployments that must not be called again in this run; undefined while there are none. */
  excluded?: Set<string>
  /** Last error of each deployment in this run; undefined while there are none. */
  errors?: Map<string, ProviderError>
  lastError: ProviderError | null
}

/** The compatible API's SDKs wait ten minutes for an answer. */
const defaultAttemptTimeoutMs = 600_000

/** One of them is called, once. */
export interface TrialEnds<T> {
  answered(value: T, deployment: Deployment): void
  /** By a ProviderError, which is in the progress. */
  failed(next: 'retry' | 'stop'): void
  /** By the caller's signal, or by an error that is no ProviderError. */
  broken(error: unknown): void
}

/**
 * One attempt with its time limit, and what is recorded of it. Callbacks instead of promises: whatever a call awaits is alive for as long as its
 * provider works, and is copied by each collection of garbage meanwhile.
 */
export class Trial<T> {
  readonly #state: RouterState
  readonly #call: RoutedCall
  readonly #deployment: Deployment
  readonly #progress: Progress
  readonly #span: AttemptSpan | null
  readonly #startedMs: number
  readonly #ended = new CallEnd()
  #timedOut: ProviderError | undefined
  readonly #ends: TrialEnds<T>
  #cancelDeadline: () => void = () => {}
  #isOver = false

  constructor(state: RouterState, call: RoutedCall, deployment: Deployment, progress: Progress, ends: TrialEnds<T>) {
    this.#ends = ends
    this.#state = state
    this.#call = call
    this.#deployment = deployment
    this.#progress = progress
    this.#startedMs = state.clock.monotonicMs()
    this.#span = call.attempting ? call.attempting(deployment, progress.attempts.length + 1) : null
  }

  begin(attempt: Attempt<T>): void {
    const { signal, perAttemptTimeoutMs = defaultAttemptTimeoutMs } = this.#call
    const timeoutMs = Math.min(perAttemptTimeoutMs, this.#progress.deadlineMs - this.#startedMs)
    signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#cancelDeadline = this.#state.deadlines.start(timeoutMs, () =>
      this.#end((this.#timedOut = timeoutError(timeoutMs))),
    )
    this.#state.breakers.begin(this.#deployment.id)
    try {
      // A fault of a callback rejects the call too, instead of leaving it without an end.
      attempt(this.#deployment, this.#ended, this.#span).then(this.#answered, this.#failed).catch(this.#broken)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** At once: an attempt that ignores its signal must not delay the client. */
  #end(reason: unknown) {
    this.#ended.abort(reason)
    try {
      this.#failed(reason)
    } catch (error) {
      this.#broken(error)
    }
  }

  readonly #broken = (error: unknown) => this.#ends.broken(error)

  readonly #onAbort = () => this.#end(this.#call.signal.reason)

  readonly #answered = (value: T) => {
    if (this.#isOver) return
    const { streamed = true } = this.#call
    this.#close(streamed)
    this.#ends.answered(value, this.#deployment)
    const { breakers, traffic, history } = this.#state
    const { id } = this.#deployment
    breakers.succeeded(id)
    const durationMs = this.#record('answered', null)
    traffic.attempt(id, 'answered')
    history?.attempt(id, 'answered', null)
    const measure = streamed ? 'firstBytes' : 'finished'
    traffic[measure](id, durationMs)
    history?.[measure](id, durationMs)
  }

  readonly #failed = (thrown: unknown) => {
    if (this.#isOver) return
    this.#close(false)
    const { signal, onFailed } = this.#call
    onFailed?.()
    const error = signal.aborted ? signal.reason : (this.#timedOut ?? thrown)
    if (!signal.aborted && error instanceof ProviderError) return this.#ends.failed(this.#judge(error))
    this.#state.breakers.released(this.#deployment.id)
    this.#span?.end('cancelled', null)
    this.#ends.broken(error)
  }

  #close(keepListening: boolean) {
    this.#isOver = true
    this.#cancelDeadline()
    if (!keepListening) this.#call.signal.removeEventListener('abort', this.#onAbort)
  }

  /** Reports a failure to the circuit breaker and decides what follows. */
  #judge(error: ProviderError): 'retry' | 'stop' {
    const { traffic, history, log } = this.#state
    const { id } = this.#deployment
    const { errorClass, status } = error
    recordFailure(this.#state, id, error)
    this.#record(errorClass, status)
    const progress = this.#progress
    ;(progress.errors ??= new Map()).set(id, error)
    progress.lastError = error
    const { retry, health } = judgeFailure(error)
    // A call that was not sent is no observation of the deployment.
    if (health !== 'none') {
      traffic.attempt(id, outcomesOfHealth[health])
      history?.attempt(id, outcomesOfHealth[health], errorClass)
    }
    log.info({ deployment: id, errorClass, status, retry }, 'an attempt failed')
    if (retry === 'elsewhere') (progress.excluded ??= new Set()).add(id)
    return retry === 'stop' ? 'stop' : 'retry'
  }

  #record(outcome: string, status: number | null): number {
    const durationMs = this.#state.clock.monotonicMs() - this.#startedMs
    this.#progress.attempts.push({ deploymentId: this.#deployment.id, durationMs, outcome, status })
    this.#state.attempts?.inc({ deployment: this.#deployment.id, outcome })
    this.#span?.end(outcome, status)
    return durationMs
  }
}

const outcomesOfHealth = {
  fault: 'failed',
  account: 'failed',
  rate_limit: 'limited',
  answered: 'rejected',
} as const satisfies Record<string, TrafficOutcome>

export function recordFailure({ breakers, log }: RouterState, deploymentId: string, error: ProviderError) {
  const event = breakers.failed(deploymentId, error)
  const fields = { deployment: deploymentId, errorClass: error.errorClass, status: error.status }
  if (event === 'circuit') log.warn(fields, 'circuit opened')
  // Without the provider's message, which may repeat the prompt.
  if (event === 'account') log.warn(fields, 'the provider rejects the key, the account or the model of a deployment')
}

function timeoutError(timeoutMs: number): ProviderError {
  const seconds = Math.ceil(timeoutMs / 1000)
  return new ProviderError('timeout', `The provider did not answer within ${seconds} seconds.`, { retryable: false })
}

/** Deadlines are seconds and minutes; this precision is enough. */
const deadlineTickMs = 100

/** Many deadlines with one timer: nearly all are cancelled long before they are due. */
interface Deadlines {
  /** Calls `onDue` once, at most one tick late, unless the returned function is called before. */
  start(ms: number, onDue: () => void): () => void
}

/** The timer runs only while a deadline is pending and never keeps the process alive. */
export function createDeadlines({ clock }: { clock: Clock }): Deadlines {
  const waiting = new Bag<{ dueMs: number; onDue: () => void }>()
  let stop: (() => void) | undefined

  function tick() {
    const nowMs = clock.monotonicMs()
    waiting.removeIf(({ dueMs, onDue }) => {
      if (dueMs > nowMs) return false
      onDue()
      return true
    })
    if (waiting.size > 0) return
    stop?.()
    stop = undefined
  }

  return {
    start(ms, onDue) {
      stop ??= clock.every(deadlineTickMs, tick)
      return waiting.add({ dueMs: clock.monotonicMs() + ms, onDue })
    },
  }
}
