import type { ProviderError } from '../providers/index.ts'

/** What the operator's view needs of the router: it shows the health of deployments and reports the results of provider tests. */
export interface DeploymentHealth {
  health(deploymentId: string): HealthView
  /** The calls of the last minutes; null: none since the start. */
  traffic(deploymentId: string): TrafficView | null
  /** Deletes the recorded outcomes, for example after a change of settings. */
  reset(deploymentIds: readonly string[]): void
  /** Records a failed call made outside the router. */
  reportFailure(deploymentId: string, error: ProviderError): void
  /**
   * Records a successful call made outside the router. `others` are deployments of the same provider, so the key works for them
   * too: their authentication errors are cleared.
   */
  reportSuccess(deploymentId: string, others: readonly string[]): void
}

/** The window of a TrafficView: 30 slots of 30 seconds, 15 minutes. */
export const trafficSlots = 30
export const trafficSlotMs = 30_000

/** Calls that the router sent, tests and calls that their client cancelled excluded. */
export interface TrafficView {
  requests: number
  /** The fault of the deployment or of its account; includes streams that broke off. */
  errors: number
  rateLimited: number
  /** Requests that the provider refused as invalid, too long or filtered. */
  rejected: number
  /** Until the end of an answer. */
  latencyMs: { p50: number; p95: number } | null
  /** Until the first bytes of a stream. */
  firstBytesMs: { p50: number; p95: number } | null
  outputTokensPerSecond: number | null
  /** Unix time in milliseconds; may be before the window. */
  lastCallAt: number | null
  /** Oldest first; the last one is the current slot. */
  slots: { requests: number; errors: number; rateLimited: number }[]
}

export interface HealthView {
  circuit: 'closed' | 'open' | 'half_open'
  /** Unix time in milliseconds when the circuit got this state; null: closed since the start. A failed probe does not change it. */
  since: number | null
  /** Unix times in milliseconds; null: not waiting. */
  openUntil: number | null
  rateLimitedUntil: number | null
  /** Other deployments are preferred until then, after a rate limit without a time or an account error. */
  avoidedUntil: number | null
  /** Unix time in milliseconds until which the deployment is not called; null: it may be called. */
  blockedUntil: number | null
  recentFailures: number
  recentCalls: number
  lastError: DeploymentError | null
  /** The last call was refused because of the account (key, credit) or the model; null after a success. */
  accountError: DeploymentError | null
}

interface DeploymentError {
  class: string
  status: number | null
  /** Without secrets, shortened. */
  message: string
  /** Unix time in milliseconds. */
  at: number
}
