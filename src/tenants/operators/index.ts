export { type Actor, actorOf, type AdminLog, changedFields, type NewAdminLogEntry, serviceActor } from './admin-log.ts'
export { adminChangesOf, createAdminLog, recordAdminChange } from './admin-log.store.ts'
export { openAdminLogRetention } from './admin-log-retention.ts'
export { adminLogRoutes } from './admin-log.routes.ts'
export { auditRoutes, findingsOfCounts } from './audit.routes.ts'
export { installationKeysColumn, openInstallationKey } from './installation-keys.store.ts'
export { operatorRoutes } from './operator.routes.ts'
export { createOperatorTokens } from './operator-tokens.ts'
export { createOperatorTokenStore } from './operator-tokens.store.ts'
export { createReencryption, type Reencrypted } from './reencryption.ts'
export {
  recordReencryption,
  reencryptColumn,
  renewColumn,
  replaceValue,
  type SealedColumn,
} from './reencryption.store.ts'
