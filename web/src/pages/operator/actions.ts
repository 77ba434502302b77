import type { AdminAction } from '@contract/admin-log.ts'

/** Every action of the admin log. The type makes a missing one an error. */
const known: Record<AdminAction, true> = {
  'api_key.created': true,
  'api_key.rotated': true,
  'deployment.created': true,
  'deployment.removed': true,
  'deployment.updated': true,
  'document.created': true,
  'document.removed': true,
  'document.retried': true,
  'document.updated': true,
  'documents.removed': true,
  'documents.retried': true,
  'documents.stopped': true,
  'documents.updated': true,
  'invitation.created': true,
  'invitation.removed': true,
  'member.added': true,
  'member.removed': true,
  'member.updated': true,
  'model.created': true,
  'model.removed': true,
  'model.updated': true,
  'operator_token.created': true,
  'operator_token.rotated': true,
  'organisation.created': true,
  'organisation.removed': true,
  'organisation.updated': true,
  'person.backup_codes_replaced': true,
  'person.created': true,
  'person.password_changed': true,
  'person.password_reset': true,
  'person.password_reset_created': true,
  'person.removed': true,
  'person.session_ended': true,
  'person.single_sign_on_connected': true,
  'person.two_factor_disabled': true,
  'person.two_factor_enabled': true,
  'person.two_factor_prepared': true,
  'person.updated': true,
  'price.created': true,
  'price.removed': true,
  'price.updated': true,
  'provider.created': true,
  'provider.removed': true,
  'provider.updated': true,
  'space.created': true,
  'space.published': true,
  'space.removed': true,
  'space.unpublished': true,
  'space.updated': true,
  'webhook.removed': true,
  'webhook.set': true,
}

export const adminActions = Object.keys(known) as AdminAction[]

/** False for an action of another version. */
export function isAdminAction(action: string): action is AdminAction {
  return action in known
}
