export { type Authenticators } from './authentication.ts'
export { assertSameSite, forbidden, visibleOrganisations } from './authorisation.ts'
export { renderErrorBody, toAppError } from './error-renderer.ts'
export { type EventStream, startEventStream } from './event-stream.ts'
export { headerList } from './header-list.ts'
export {
  type App,
  describeRoutes,
  type MembershipRole,
  type OrganisationScope,
  type Person,
  type RouteAuthentication,
  type Routes,
} from './route.ts'
export { type Metrics, type MetricsServer, createMetrics, startMetricsServer } from './metrics.ts'
export { operationsRoutes } from './operations.routes.ts'
export { createServer } from './server.ts'
