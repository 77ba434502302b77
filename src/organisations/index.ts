export {
  type Actor,
  type AdminLog,
  type AdminLogEntry,
  type NewAdminLogEntry,
  changedFields,
  createAdminLog,
  recordAdminChange,
} from './admin-log.store.ts'
export { type AuditCheck, auditRoutes, findingsOfCounts } from './audit.routes.ts'
export { assertGatewayAccess, assertSubscription, isSubscriptionActive } from './gate.ts'
export { operatorRoutes } from './operator.routes.ts'
export { type OperatorTokens, createOperatorTokens } from './operator-tokens.ts'
export { createOperatorTokenStore } from './operator-tokens.store.ts'
export type { NewOrganisation, OrganisationChange } from './organisation-change.ts'
export type { Organisation, Plan, Subscription } from './organisation.ts'
export { type NewApiKey, type Organisations, createOrganisations } from './organisations.ts'
export { organisationRoutes } from './organisations.routes.ts'
export { type OrganisationStore, createOrganisationStore } from './organisations.store.ts'
export { type ChangeSource, createSnapshotReloader } from './snapshot-reloader.ts'
