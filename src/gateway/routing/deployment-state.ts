import type { Clock } from '../../platform/kernel/index.ts'
import { type HealthView, trafficSlotMs, trafficSlots, type TrafficView } from '../models/index.ts'
import type { ProviderError } from '../providers/index.ts'
import { judgeFailure, type Verdict } from './retry-policy.ts'

/** What this instance knows of each deployment, in memory: whether it may be called (circuit breakers), and its calls (traffic). */

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

/** A circuit that was closed has opened, or has closed again. */
export interface CircuitChange {
  kind: 'opened' | 'closed'
  /** Of the failure that opened it. */
  errorClass: string | null
  status: number | null
}

/** What cannot be called now, or only after others: an open circuit, or an account error. */
export interface FailingDeployment {
  deploymentId: string
  kind: 'circuit' | 'account'
  sinceMs: number
  errorClass: string | null
  status: number | null
}

interface CircuitBreakersOptions {
  clock: Clock
  onChange?: ((deploymentId: string, change: CircuitChange) => void) | undefined
}

export function createCircuitBreakers({ clock, onChange }: CircuitBreakersOptions) {
  /** A deployment without failures has no entry. */
  const breakers = new Map<string, CircuitBreaker>()

  function breakerOf(id: string): CircuitBreaker {
    const existing = breakers.get(id)
    if (existing) return existing
    if (breakers.size >= maximumTracked) breakers.delete(breakers.keys().next().value!)
    const created = new CircuitBreaker(clock, (change) => onChange?.(id, change))
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
    view: (id: string): HealthView => (breakers.get(id) ?? new CircuitBreaker(clock, () => {})).view(),
    /** Another deployment with the same key succeeded, so the key is valid. */
    clearAccountError: (id: string) => breakers.get(id)?.clearAccountError(),
    reset(ids: readonly string[]): void {
      for (const id of ids) {
        breakers.get(id)?.close()
        breakers.delete(id)
      }
    },
    failing(): FailingDeployment[] {
      const failing: FailingDeployment[] = []
      for (const [deploymentId, breaker] of breakers) {
        for (const failure of breaker.failures()) failing.push({ deploymentId, ...failure })
      }
      return failing
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

  readonly #changed: (change: CircuitChange) => void

  constructor(clock: Clock, changed: (change: CircuitChange) => void) {
    this.#clock = clock
    this.#changed = changed
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
      this.#closedAt = this.#clock.now()
      this.close()
    }
    this.#record(true)
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

  close() {
    if (this.#openUntilMs > 0) this.#changed({ kind: 'closed', errorClass: null, status: null })
    this.#openUntilMs = 0
    this.#openedAt = null
  }

  released() {
    this.#probing = false
  }

  failures(): Omit<FailingDeployment, 'deploymentId'>[] {
    const { class: errorClass = null, status = null } = this.#lastError ?? {}
    const account = this.#accountError
    return [
      ...(this.#openedAt === null ? [] : [{ kind: 'circuit' as const, sinceMs: this.#openedAt, errorClass, status }]),
      ...(account
        ? [{ kind: 'account' as const, sinceMs: account.at, errorClass: account.class, status: account.status }]
        : []),
    ]
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
    if (this.#openedAt === null) {
      this.#openedAt = this.#clock.now()
      const { class: errorClass = null, status = null } = this.#lastError ?? {}
      this.#changed({ kind: 'opened', errorClass, status })
    }
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

/**
 * Counts the calls of each deployment in a sliding window, for the operator's pages. Of this instance, in memory. A deployment takes about
 * 16 KB from its first call on, whatever its traffic; recording allocates nothing.
 */
export type DeploymentTraffic = ReturnType<typeof createDeploymentTraffic>

/** Most deployments that are counted (16 MB in all); the one that was added first is dropped first. */
const maximumCounted = 1_000
/** Durations are counted in buckets whose bounds grow by this factor, so a percentile is at most 7 % off. */
const bucketFactor = 1.15
/** The last bucket begins at 1.15^98 ms, about 15 minutes. */
const buckets = 100

const logOfFactor = Math.log(bucketFactor)

/** `failed`: the deployment's fault, or its account. `rejected`: the provider refused the request itself. */
export type TrafficOutcome = 'answered' | 'failed' | 'limited' | 'rejected'

export function createDeploymentTraffic({ clock }: { clock: Clock }) {
  const tracked = new Map<string, Traffic>()

  function trafficOf(id: string): Traffic {
    const existing = tracked.get(id)
    if (existing) return existing
    if (tracked.size >= maximumCounted) tracked.delete(tracked.keys().next().value!)
    const created = new Traffic()
    tracked.set(id, created)
    return created
  }
  const slotNow = () => Math.floor(clock.monotonicMs() / trafficSlotMs)

  return {
    attempt: (id: string, outcome: TrafficOutcome) => trafficOf(id).attempt(slotNow(), outcome, clock.now()),
    /** A stream that failed after its call was counted as answered. */
    brokenStream: (id: string) => trafficOf(id).brokenStream(slotNow()),
    /** Time until the first bytes of a stream. */
    firstBytes: (id: string, ms: number) => trafficOf(id).firstBytes(slotNow(), ms),
    /** Time until the end of an answer. */
    finished: (id: string, ms: number) => trafficOf(id).finished(slotNow(), ms),
    generated: (id: string, tokens: number, ms: number) => trafficOf(id).generated(slotNow(), tokens, ms),
    view: (id: string): TrafficView | null => tracked.get(id)?.view(slotNow()) ?? null,
  }
}

/** The counts of one deployment: a ring of slots, each reset when it is used again. */
class Traffic {
  /** The slot's number since the start of the clock; a slot with an old number is empty. */
  readonly #numbers = new Float64Array(trafficSlots).fill(-1)
  readonly #answered = new Uint32Array(trafficSlots)
  readonly #failed = new Uint32Array(trafficSlots)
  readonly #limited = new Uint32Array(trafficSlots)
  readonly #rejected = new Uint32Array(trafficSlots)
  readonly #broken = new Uint32Array(trafficSlots)
  readonly #tokens = new Float64Array(trafficSlots)
  readonly #generationMs = new Float64Array(trafficSlots)
  readonly #latency = new Uint16Array(trafficSlots * buckets)
  readonly #firstBytes = new Uint16Array(trafficSlots * buckets)
  #lastCallAt: number | null = null

  attempt(slot: number, outcome: TrafficOutcome, at: number) {
    const index = this.#indexOf(slot)
    this.#lastCallAt = at
    if (outcome === 'answered') this.#answered[index]!++
    else if (outcome === 'failed') this.#failed[index]!++
    else if (outcome === 'limited') this.#limited[index]!++
    else this.#rejected[index]!++
  }

  brokenStream(slot: number) {
    this.#broken[this.#indexOf(slot)]!++
  }

  firstBytes(slot: number, ms: number) {
    count(this.#firstBytes, this.#indexOf(slot), ms)
  }

  finished(slot: number, ms: number) {
    count(this.#latency, this.#indexOf(slot), ms)
  }

  generated(slot: number, tokens: number, ms: number) {
    const index = this.#indexOf(slot)
    this.#tokens[index]! += tokens
    this.#generationMs[index]! += ms
  }

  view(slot: number): TrafficView {
    /** Oldest first; -1: nothing was recorded in this slot. */
    const indexes: number[] = []
    for (let number = slot - trafficSlots + 1; number <= slot; number++) {
      const index = ringIndex(number)
      indexes.push(this.#numbers[index] === number ? index : -1)
    }
    const each = (counts: Uint32Array | Float64Array) => indexes.map((index) => (index < 0 ? 0 : counts[index]!))
    const total = (counts: Uint32Array | Float64Array) => each(counts).reduce((sum, value) => sum + value, 0)
    const generationMs = total(this.#generationMs)
    const [answered, failed, limited, rejected, broken] = [
      this.#answered,
      this.#failed,
      this.#limited,
      this.#rejected,
      this.#broken,
    ].map(total) as [number, number, number, number, number]
    const perSlot = { failed: each(this.#failed), broken: each(this.#broken), limited: each(this.#limited) }
    const [answeredEach, rejectedEach] = [each(this.#answered), each(this.#rejected)]
    return {
      requests: answered + failed + limited + rejected,
      errors: failed + broken,
      rateLimited: limited,
      rejected,
      latencyMs: percentiles(this.#latency, indexes),
      firstBytesMs: percentiles(this.#firstBytes, indexes),
      outputTokensPerSecond: generationMs > 0 ? (total(this.#tokens) * 1000) / generationMs : null,
      lastCallAt: this.#lastCallAt,
      slots: indexes.map((_, at) => {
        const errors = perSlot.failed[at]! + perSlot.broken[at]!
        const calls = answeredEach[at]! + perSlot.failed[at]! + perSlot.limited[at]! + rejectedEach[at]!
        return { requests: calls, errors, rateLimited: perSlot.limited[at]! }
      }),
    }
  }

  #indexOf(slot: number): number {
    const index = ringIndex(slot)
    if (this.#numbers[index] === slot) return index
    this.#numbers[index] = slot
    for (const counts of [this.#answered, this.#failed, this.#limited, this.#rejected, this.#broken]) counts[index] = 0
    this.#tokens[index] = 0
    this.#generationMs[index] = 0
    this.#latency.fill(0, index * buckets, (index + 1) * buckets)
    this.#firstBytes.fill(0, index * buckets, (index + 1) * buckets)
    return index
  }
}

/** `slot` may be negative in the first minutes of the clock. */
function ringIndex(slot: number): number {
  return ((slot % trafficSlots) + trafficSlots) % trafficSlots
}

function count(histogram: Uint16Array, index: number, ms: number) {
  const bucket = ms <= 1 ? 0 : Math.min(buckets - 1, 1 + Math.floor(Math.log(ms) / logOfFactor))
  const at = index * buckets + bucket
  // Stops at the largest count instead of starting again at 0.
  if (histogram[at]! < 65_535) histogram[at]!++
}

/** Of the slots with these indexes; null without any duration. */
function percentiles(histogram: Uint16Array, indexes: readonly number[]): { p50: number; p95: number } | null {
  const sums = new Float64Array(buckets)
  let total = 0
  for (const index of indexes) {
    if (index < 0) continue
    for (let bucket = 0; bucket < buckets; bucket++) {
      const value = histogram[index * buckets + bucket]!
      sums[bucket]! += value
      total += value
    }
  }
  if (total === 0) return null
  const at = (share: number) => {
    let left = Math.ceil(total * share)
    for (let bucket = 0; bucket < buckets; bucket++) {
      left -= sums[bucket]!
      // The geometric middle of the bucket.
      if (left <= 0) return bucket === 0 ? 1 : Math.round(bucketFactor ** (bucket - 0.5))
    }
    return Math.round(bucketFactor ** (buckets - 1))
  }
  return { p50: at(0.5), p95: at(0.95) }
}
