import type { OrganisationId } from '../../platform/kernel/index.ts'
import type { Receipt } from './port.ts'
import type { ComparedCosts } from './stated-cost.ts'

/** Called as things happen, for metrics. Must not throw. */
export interface LedgerObserver {
  held?(waitedMs: number): void
  refused?(organisationId: OrganisationId): void
  settled?(receipt: Receipt): void
  /** The provider stated the cost of a settled call. */
  costStated?(receipt: Receipt, compared: ComparedCosts): void
  recovered?(holds: number): void
  thresholdReached?(event: { organisationId: OrganisationId; period: string; percent: number }): void
  /** Old entries were removed. */
  removed?(entries: number): void
}
