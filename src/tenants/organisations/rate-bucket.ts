import type { RateLimitState } from '../../platform/kernel/index.ts'

/** Token bucket with the capacity of one minute that refills evenly. */
export interface RateBucket {
  /** Negative: used before it was free. */
  left: number
  refilledAtMs: number
}

export const fullBucket = (perMinute: number, nowMs: number): RateBucket => ({ left: perMinute, refilledAtMs: nowMs })

/** Adds what became free since the last time. The limit may have changed in the meantime. */
export function refill(bucket: RateBucket, perMinute: number, nowMs: number): void {
  bucket.left = Math.min(perMinute, bucket.left + ((nowMs - bucket.refilledAtMs) * perMinute) / 60_000)
  bucket.refilledAtMs = nowMs
}

/** Seconds until `wanted` are free. */
export function secondsUntil(bucket: RateBucket, perMinute: number, wanted: number): number {
  return Math.max(0, ((wanted - bucket.left) * 60) / perMinute)
}

export function stateOf(unit: RateLimitState['unit'], bucket: RateBucket, perMinute: number): RateLimitState {
  return {
    unit,
    limit: perMinute,
    remaining: Math.max(0, Math.floor(bucket.left)),
    resetSeconds: Math.ceil(secondsUntil(bucket, perMinute, perMinute)),
  }
}
