export { answerCall, type Call } from './visit.ts'
export { createAdmission, createOverloadMonitor } from './load.ts'
export {
  type Authenticators,
  forbidden,
  isAdministratorOf,
  ownerOf,
  visibleOrganisations,
} from './identity.ts'
export { rateLimitHeaders, renderErrorBody, renderMessagesError, toAppError } from './error-renderer.ts'
export { followAccess } from './follow-access.ts'
export { startEventStream } from './event-stream.ts'
export { headerList } from './header-list.ts'
export { type App, describeRoutes, type RequestLimiter, type Routes } from './route.ts'
export { createMetrics, type Metrics, type MetricsServer, startMetricsServer } from './metrics.ts'
export { operationsRoutes } from './operations.routes.ts'
export { createServer } from './server.ts'
