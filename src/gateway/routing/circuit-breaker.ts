import type { HealthView } from '../models/index.ts'
import type { Clock } from '../../platform/kernel/index.ts'
import type { ProviderError } from '../providers/index.ts'
import { type Verdict, judgeFailure } from './retry-policy.ts'

/** The circuit opens when this many of the recent outcomes are failures. A call that is tried three times counts three times. */
export const failuresToOpen = 10
/** Recent outcomes: at most this many … */
const maximumOutcomes = 20
/** … and none older than this. */
const outcomeLifetimeMs = 60_000
/** How long the circuit stays open the first time; doubles with each failed probe. */
export const firstOpenMs = 5_000
const maximumOpenMs = 60_000
/** After a rate limit without `retry-after`, other deployments are preferred for this long. */
const defaultRestMs = 1_000
/** Upper bound on a `retry-after`. */
const maximumRestMs = 3_600_000
/** After an account error (key, credit, unknown model), other deployments are preferred for this long. */
const accountRestMs = 30_000
/** An account error lasts until the operator acts. */
const accountReportMs = 60 * 60_000
/** Longest message of a last error, in characters: enough for an operator to act on. */
const maximumMessageCharacters = 500
/** Most deployments with a circuit breaker; the oldest is dropped first. */
const maximumTracked = 10_000

/** Whether a deployment may be called. `reluctant`: only if no other deployment can be called. */
type Admission =
  | { admitted: true; reluctant: boolean }
  | { admitted: false; reason: 'rate_limit' | 'circuit'; waitMs: number }

/** One circuit breaker per deployment, for this instance only, in memory. */
export type CircuitBreakers = ReturnType<typeof createCircuitBreakers>

export function createCircuitBreakers({ clock }: { clock: Clock }) {
  /** A deployment without failures has no entry. */
  const breakers = new Map<string, CircuitBreaker>()

  function breakerOf(id: string): CircuitBreaker {
    const existing = breakers.get(id)
    if (existing) return existing
    if (breakers.size >= maximumTracked) breakers.delete(breakers.keys().next().value!)
    const created = new CircuitBreaker(clock)
    breakers.set(id, created)
    return created
  }

  return {
    check: (id: string): Admission => breakers.get(id)?.check() ?? { admitted: true, reluctant: false },
    /** Starts a call; in a half-open circuit it is the only probe. Each call ends with `succeeded`, `failed` or `released`. */
    begin: (id: string) => breakers.get(id)?.begin(),
    succeeded: (id: string) => breakers.get(id)?.succeeded(),
    /** Returns what an operator should read in the log: the failure opened the circuit, or is an account error, at most once an hour. */
    failed(id: string, error: ProviderError): 'circuit' | 'account' | null {
      const { health } = judgeFailure(error)
      if (health !== 'answered') return breakerOf(id).failed(error, health)
      breakers.get(id)?.succeeded()
      return null
    },
    /** Ends a call whose outcome is not evidence about the deployment. */
    released: (id: string) => breakers.get(id)?.released(),
    view: (id: string): HealthView => (breakers.get(id) ?? new CircuitBreaker(clock)).view(),
    /** Another deployment with the same key succeeded, so the key is valid. */
    clearAccountError: (id: string) => breakers.get(id)?.clearAccountError(),
    reset(ids: readonly string[]): void {
      for (const id of ids) breakers.delete(id)
    },
  }
}

/** Circuit breaker of one deployment, with its rate-limit pause and last errors. Times are monotonic unless noted. */
class CircuitBreaker {
  readonly #clock: Clock
  #outcomes: { atMs: number; ok: boolean }[] = []
  /** 0: closed. */
  #openUntilMs = 0
  #openForMs = firstOpenMs
  /** Wall time. */
  #openedAt: number | null = null
  #closedAt: number | null = null
  #probing = false
  #restUntilMs = 0
  #avoidUntilMs = 0
  #lastError: HealthView['lastError'] = null
  #accountError: HealthView['accountError'] = null
  #accountReportedMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  check(): Admission {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < this.#restUntilMs) return { admitted: false, reason: 'rate_limit', waitMs: this.#restUntilMs - nowMs }
    if (nowMs < this.#openUntilMs) return { admitted: false, reason: 'circuit', waitMs: this.#openUntilMs - nowMs }
    // Half open: one probe at a time.
    if (this.#openUntilMs > 0 && this.#probing) return { admitted: false, reason: 'circuit', waitMs: firstOpenMs }
    return { admitted: true, reluctant: nowMs < this.#avoidUntilMs }
  }

  begin() {
    if (this.#openUntilMs > 0) this.#probing = true
  }

  succeeded() {
    if (this.#openUntilMs > 0) {
      this.#outcomes = []
      this.#openedAt = null
      this.#closedAt = this.#clock.now()
    }
    this.#record(true)
    this.#openUntilMs = 0
    this.#openForMs = firstOpenMs
    this.#probing = false
    this.clearAccountError()
  }

  failed(error: ProviderError, health: Exclude<Verdict['health'], 'answered'>): 'circuit' | 'account' | null {
    const wasProbe = this.#probing
    this.#probing = false
    if (health === 'none') return null
    const message = error.message.slice(0, maximumMessageCharacters)
    this.#lastError = { class: error.errorClass, status: error.status, message, at: this.#clock.now() }
    const nowMs = this.#clock.monotonicMs()
    switch (health) {
      case 'account':
        this.#avoidUntilMs = nowMs + accountRestMs
        this.#accountError = this.#lastError
        if (nowMs - this.#accountReportedMs < accountReportMs) return null
        this.#accountReportedMs = nowMs
        return 'account'
      case 'rate_limit':
        if (error.retryAfterSeconds === null) this.#avoidUntilMs = nowMs + defaultRestMs
        else this.#restUntilMs = nowMs + Math.min(error.retryAfterSeconds * 1000, maximumRestMs)
        return null
      case 'fault':
        this.#record(false)
        return this.#openAfterFault(wasProbe, nowMs) ? 'circuit' : null
    }
  }

  released() {
    this.#probing = false
  }

  clearAccountError() {
    this.#accountError = null
    this.#avoidUntilMs = 0
  }

  view(): HealthView {
    const nowMs = this.#clock.monotonicMs()
    const recent = this.#outcomes.filter((outcome) => nowMs - outcome.atMs <= outcomeLifetimeMs)
    const circuit = this.#openUntilMs === 0 ? 'closed' : nowMs < this.#openUntilMs ? 'open' : 'half_open'
    const wallTime = (monotonicMs: number) => Math.ceil(this.#clock.now() + monotonicMs - nowMs)
    const ifLater = (monotonicMs: number) => (monotonicMs > nowMs ? wallTime(monotonicMs) : null)
    return {
      circuit,
      since: circuit === 'closed' ? this.#closedAt : circuit === 'open' ? this.#openedAt : wallTime(this.#openUntilMs),
      blockedUntil: ifLater(Math.max(this.#openUntilMs, this.#restUntilMs)),
      openUntil: ifLater(this.#openUntilMs),
      rateLimitedUntil: ifLater(this.#restUntilMs),
      avoidedUntil: ifLater(this.#avoidUntilMs),
      recentFailures: recent.filter((outcome) => !outcome.ok).length,
      recentCalls: recent.length,
      lastError: this.#lastError,
      accountError: this.#accountError,
    }
  }

  /** Returns true if the circuit opened. */
  #openAfterFault(wasProbe: boolean, nowMs: number): boolean {
    const failures = this.#outcomes.filter((outcome) => !outcome.ok).length
    if (!wasProbe && (failures < failuresToOpen || this.#openUntilMs > nowMs)) return false
    if (wasProbe) this.#openForMs = Math.min(this.#openForMs * 2, maximumOpenMs)
    this.#openedAt ??= this.#clock.now()
    this.#openUntilMs = nowMs + this.#openForMs
    return true
  }

  #record(ok: boolean) {
    const nowMs = this.#clock.monotonicMs()
    this.#outcomes.push({ atMs: nowMs, ok })
    if (this.#outcomes.length > maximumOutcomes) this.#outcomes.shift()
    while (this.#outcomes.length > 0 && nowMs - this.#outcomes[0]!.atMs > outcomeLifetimeMs) this.#outcomes.shift()
  }
}
