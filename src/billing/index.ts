export type { AuditFinding, AuditTotals } from './audit.store.ts'
export type { AuditReport } from './audit.ts'
export { createLedger, type LedgerDeps, type LedgerObserver, type LedgerService } from './ledger.ts'
export { type Period, periodAt } from './periods.ts'
export * from './port.ts'
export {
  costOf,
  type Cost,
  type PriceSchedule,
  scheduleInForce,
  type TokenPrices,
  type UnitPrices,
  unitPricesAt,
} from './prices.ts'
export { signWebhook, verifyWebhook, type WebhookTarget } from './webhooks.ts'
export { usageRoutes, type UsageRoutesDeps } from './usage.routes.ts'
