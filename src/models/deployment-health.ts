import type { ProviderError } from '../providers/index.ts'

/** What the operator's view needs of the router: it shows the health of deployments and reports the results of provider tests. */
export interface DeploymentHealth {
  health(deploymentId: string): HealthView
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

export interface HealthView {
  circuit: 'closed' | 'open' | 'half_open'
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
  /** Unix time in milliseconds. */
  at: number
}
