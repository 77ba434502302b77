import { AppError, type ErrorCode } from '../../platform/kernel/index.ts'

const unavailable = 'This assistant is unavailable at the moment.'
const busy = 'This assistant is busy. Try again in a moment.'

const texts: Partial<Record<ErrorCode, string>> = {
  rate_limit_exceeded: busy,
  overloaded: busy,
  shutting_down: busy,
  request_timeout: busy,
  upstream_timeout: busy,
  context_length_exceeded: 'The conversation is too long for this assistant. Shorten it.',
  content_filter: 'This assistant cannot answer this message. Change it and try again.',
}

/**
 * The error of a failed answer with a text for visitors of a published Space, who can neither raise a budget nor change a setting. The
 * code and the status stay the same, for the client's program; the original message becomes the internal one, for the log.
 */
export function toVisitorError(error: AppError): AppError {
  return new AppError(error.code, texts[error.code] ?? unavailable, {
    internal: error.internal ?? error.message,
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    // The stack of the first error is in the log.
    cause: error.cause ?? error,
  })
}
