/** Something that the user can put right before asking again; ends the command with exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The service refused, or could not be reached; ends the command with exit code 1. */
export class FailedError extends Error {
  readonly details: { status?: number; code?: string | null; param?: string | null; requestId?: string | null }

  constructor(message: string, details: FailedError['details'] = {}, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'FailedError'
    this.details = details
  }
}
