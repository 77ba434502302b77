export { administrators, members, noOrganisation } from './administrators.ts'
export {
  assertGatewayAccess,
  assertSubscription,
  createOrganisationLimiter,
  isSubscriptionActive,
  type TakenTokens,
  type TokenLimiter,
} from './gate.ts'
export {
  describeOrganisation,
  renderApiKey,
  renderOrganisation,
  versionOfOrganisation,
} from './describe-organisation.ts'
export type { Organisation, Plan } from './organisation.ts'
export { makeOrganisation } from './organisation-change.ts'
export { checkWebhookUrl, createOrganisations, type Organisations } from './organisations.ts'
export { modelSwitchRoutes, organisationRoutes } from './organisations.routes.ts'
export { createOrganisationStore, type OrganisationStore, webhookSecretsColumn } from './organisations.store.ts'
