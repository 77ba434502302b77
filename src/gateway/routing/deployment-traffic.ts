import type { Clock } from '../../platform/kernel/index.ts'
import { type TrafficView, trafficSlotMs, trafficSlots } from '../models/index.ts'

/**
 * Counts the calls of each deployment in a sliding window, for the operator's pages. Of this instance, in memory. A deployment takes about
 * 16 KB from its first call on, whatever its traffic; recording allocates nothing.
 */
export type DeploymentTraffic = ReturnType<typeof createDeploymentTraffic>

/** Most deployments that are counted (16 MB in all); the one that was added first is dropped first. */
const maximumTracked = 1_000
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
    if (tracked.size >= maximumTracked) tracked.delete(tracked.keys().next().value!)
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
