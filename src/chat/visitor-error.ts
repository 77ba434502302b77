import { AppError, type ErrorCode, describeError } from '../kernel/index.ts'

const unavailable = 'This assistant is unavailable at the moment.'
const busy = 'This assistant is busy. Try again in a moment.'

const words: Partial<Record<ErrorCode, string>> = {
  rate_limit_exceeded: busy,
  overloaded: busy,
  shutting_down: busy,
  request_timeout: busy,
  upstream_timeout: busy,
  context_length_exceeded: 'The conversation is too long for this assistant. Shorten it.',
  content_filter: 'This assistant cannot answer this message. Change it and try again.',
}

/**
 * A failed answer in words for visitors of a published Space, who can neither raise a budget nor reach an operator. Code and status stay
 * for the client's program; the reason goes into the log.
 */
export function toVisitorError(thrown: unknown): AppError {
  const error =
    thrown instanceof AppError
      ? thrown
      : new AppError('internal_error', unavailable, { internal: describeError(thrown), cause: thrown })
  return new AppError(error.code, words[error.code] ?? unavailable, {
    internal: error.internal ?? error.message,
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    cause: thrown,
  })
}
