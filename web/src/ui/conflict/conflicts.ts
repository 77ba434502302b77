import { ApiError } from '../../api/client.ts'

/** Another instance may show what was read before the change for up to a second. */
export const maximumAttempts = 5

export const isConflict = (error: unknown) =>
  error instanceof ApiError && error.status === 409 && error.param === 'if-match'
