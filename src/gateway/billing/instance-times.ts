/** How an instance shows that it is alive, and how others find out that it is not. In milliseconds. */
export interface InstanceTimes {
  /** An instance without a heartbeat for this long is presumed dead: its calls are settled by policy and its leases are freed. */
  expiryMs: number
  /** Interval of heartbeats and of the maintenance of thresholds, leases and webhooks. */
  heartbeatEveryMs: number
  /** Longest wait for one heartbeat; well below the expiry, so that a hanging connection does not cost the leases. */
  heartbeatTimeoutMs: number
  /** Between two heartbeats at most, unless the database or this process was frozen. */
  steadyGapMs: number
  /** After a gap all instances look silent. Within this time those that are alive write a heartbeat: one that hangs ends before. */
  steadyAfterMs: number
}

/** Tests pass a shorter expiry. The other times keep their share of it, because their order keeps bills exact. */
export function instanceTimes(expiryMs = 10_000): InstanceTimes {
  return {
    expiryMs,
    heartbeatEveryMs: 0.1 * expiryMs,
    heartbeatTimeoutMs: 0.3 * expiryMs,
    steadyGapMs: 0.4 * expiryMs,
    steadyAfterMs: 0.5 * expiryMs,
  }
}
