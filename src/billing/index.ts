export { createLedger, type LedgerObserver, type LedgerService } from './ledger.ts'
export * from './port.ts'
export { costOf, type PriceSchedule, type TokenPrices } from './prices.ts'
export { usageRoutes } from './usage.routes.ts'
