export { countJournalRejects, loadFastSpenders, loadUsedBudgets } from './alerts.store.ts'
export { createCostCheck } from './cost-check.ts'
export { freshness, noteFreshness, usageRoutes } from './usage.routes.ts'
export { percentilesOf } from './usage-report-parts.ts'
export { hasEndMark as hasJournalEnd } from './journal/index.ts'
export { JournalError, type JournalFiles, removeJournal } from './journal/index.ts'
export type { InstanceFacts } from './instance.store.ts'
export { repairRoutes } from './repair.routes.ts'
export { createLedger, type LedgerService } from './ledger.ts'
export type { RefusalReason } from './ledger-writer.ts'
export { addToOutbox } from './outbox.store.ts'
export * from './port.ts'
export {
  basisPointsPerWhole,
  costOf,
  type PriceSchedule,
  type TokenPrices,
  type UnitPrices,
  withDefaults,
} from './prices.ts'
export { createTagErasure } from './tag-erasure.store.ts'
export { renderBudget } from './usage-report.ts'
export { loadBudgetsLeft } from './usage.store.ts'
