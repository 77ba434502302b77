export { toClientError } from './client-error.ts'
export { createHistoryCounts, createHistoryWriter } from './deployment-history.ts'
export {
  type FailureNow,
  loadCalledToday,
  loadFailures,
  loadHistory,
  type StoredHistory,
} from './deployment-history.store.ts'
export { type Attempting, createRouter, type Router } from './router.ts'
