import type { AdminAction } from '../../contract/admin-log.ts'

/** A change of the library, and the column whose write makes it. */
export interface LibraryChange {
  action: AdminAction
  table: string
  column: string
  after?: Record<string, unknown> | null
}

export interface SignInEndpoint {
  /** The fields of the body that reach the library. Others do nothing, such as the library's `trustDevice`, which skips the second factor. */
  fields: readonly string[]
  /** The secret that the body has to prove: its attempts are limited. */
  secret?: 'password' | 'one-time code' | 'backup code'
  /** Only for signed-in people. */
  needsSession?: boolean
  change?: LibraryChange
}

export const callbackPath = '/callback/sso'

const twoFactorSwitch = { table: 'people', column: 'two_factor_enabled' }

/** The endpoints of the library that clients may call. */
export const signInEndpoints: Record<string, SignInEndpoint> = {
  'POST /sign-in/email': { fields: ['email', 'password'], secret: 'password' },
  'POST /sign-in/social': { fields: ['returnTo'] },
  [`GET ${callbackPath}`]: { fields: [] },
  'POST /sign-out': { fields: [] },
  'GET /get-session': { fields: [] },
  'POST /change-password': {
    fields: ['currentPassword', 'newPassword'],
    secret: 'password',
    needsSession: true,
    change: { action: 'person.password_changed', table: 'people_accounts', column: 'password' },
  },
  'POST /two-factor/enable': {
    fields: ['password'],
    secret: 'password',
    needsSession: true,
    change: { action: 'person.two_factor_prepared', table: 'people_two_factors', column: 'secret' },
  },
  // Writes the column only when it activates the prepared factor of a signed-in person.
  'POST /two-factor/verify-totp': {
    fields: ['code'],
    secret: 'one-time code',
    change: { action: 'person.two_factor_enabled', ...twoFactorSwitch, after: { twoFactorEnabled: true } },
  },
  'POST /two-factor/verify-backup-code': { fields: ['code'], secret: 'backup code' },
  'POST /two-factor/generate-backup-codes': {
    fields: ['password'],
    secret: 'password',
    needsSession: true,
    change: { action: 'person.backup_codes_replaced', table: 'people_two_factors', column: 'backup_codes' },
  },
  'POST /two-factor/disable': {
    fields: ['password'],
    secret: 'password',
    needsSession: true,
    change: { action: 'person.two_factor_disabled', ...twoFactorSwitch, after: { twoFactorEnabled: false } },
  },
}
