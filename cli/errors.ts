/** A wrong command line or setting, which the user can correct; exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The service rejected the request or could not be reached; exit code 1. */
export class FailedError extends Error {
  readonly details: {
    status?: number
    code?: string | null
    param?: string | null
    requestId?: string | null
    /** From the header Retry-After. */
    retryAfterMs?: number
  }

  constructor(message: string, details: FailedError['details'] = {}, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'FailedError'
    this.details = details
  }
}
