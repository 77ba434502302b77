export { toClientError } from './client-error.ts'
export { createHistoryCounts, createHistoryWriter } from './deployment-history.ts'
export {
  type FailureNow,
  loadCalledToday,
  loadFailures,
  loadHistory,
  type StoredHistory,
} from './deployment-history.store.ts'
export { createRouter, type Router } from './router.ts'
export type { Attempting } from './trial.ts'
