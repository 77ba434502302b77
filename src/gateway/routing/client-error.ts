import { AppError, unavailableError } from '../../platform/kernel/index.ts'
import { mentionsAccount, ProviderError, type ProviderErrorClass } from '../providers/index.ts'
import { RoutingFailure } from './router.ts'

/** Longest part of a provider's message that clients see. */
const maximumMessageCharacters = 500

/**
 * Maps a failed call to the client's error; the only place that maps provider errors to our codes. An error of the operator's account (key,
 * credit) never becomes the client's 401 or 402. AppErrors pass unchanged.
 */
export function toClientError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const error = thrown instanceof RoutingFailure ? thrown.error : thrown
  if (!(error instanceof ProviderError))
    return unavailableError(thrown) ?? new AppError('internal_error', 'The request failed.', { cause: thrown })
  const internal = describe(error, thrown)
  const options = { internal, cause: thrown }
  const wait = error.retryAfterSeconds === null ? {} : { retryAfterSeconds: Math.ceil(error.retryAfterSeconds) }
  switch (error.errorClass) {
    case 'invalid_request':
      return new AppError(
        'invalid_request',
        `The model’s provider rejected the request: ${forClients(error.message)}`,
        { ...options, ...(isFieldPath(error.param) && { param: error.param }) },
      )
    case 'context_length':
      return new AppError(
        'context_length_exceeded',
        `The messages are longer than the model’s context: ${forClients(error.message)}`,
        { ...options, param: 'messages' },
      )
    case 'content_filter':
      return new AppError('content_filter', `The model’s provider refused the content: ${forClients(error.message)}`, {
        ...options,
        param: 'messages',
      })
    case 'rate_limit':
      return new AppError('rate_limit_exceeded', 'The model’s provider has reached its rate limit. Try again later.', {
        ...options,
        // The header is required: a short wait if the provider names none.
        retryAfterSeconds: wait.retryAfterSeconds ?? defaultRetryAfterSeconds,
      })
    case 'share_exhausted':
      return new AppError(
        'rate_limit_exceeded',
        'Your organisation has too many concurrent calls to this model. Try again when one of them has ended.',
        { ...options, ...wait },
      )
    case 'capacity':
      return new AppError('overloaded', 'The service has too many calls to this model. Try again in a moment.', {
        ...options,
        ...wait,
      })
    case 'timeout':
      return new AppError(
        'upstream_timeout',
        'The model’s provider did not answer in time. Try again, or request a shorter answer.',
        options,
      )
    case 'cancelled':
      return new AppError('client_closed', 'The client closed the request.', options)
    case 'authentication':
    case 'quota':
    case 'model_not_found':
      return new AppError(
        'upstream_error',
        'The model’s provider rejected the account of this service. Contact the operator of this service.',
        options,
      )
    case 'overloaded':
    case 'server_error':
    case 'connection':
      return new AppError(
        'upstream_error',
        'The model’s provider failed. Try again in a moment, or use another model.',
        { ...options, ...wait },
      )
  }
}

const defaultRetryAfterSeconds = 1

/** A path of the request's fields, such as `messages[0].content`. Hosts also put sentences there, which may name the operator's account. */
function isFieldPath(param: string | null): param is string {
  return param !== null && /^[\w.[\]-]+$/.test(param)
}

/** A provider's message without the sentences that speak of the operator's account, and without its name in a model's path (Fireworks). */
function forClients(message: string): string {
  const sentences = message.split(/(?<=[.!?])\s+|\n+/)
  const shown = sentences.filter((sentence) => !mentionsAccount(sentence)).join(' ')
  return shorten(shown.replace(/\baccounts\/[\w.-]+\//g, '')) || 'the provider gave no reason that can be shown.'
}

function shorten(message: string): string {
  return message.length <= maximumMessageCharacters ? message : `${message.slice(0, maximumMessageCharacters)}…`
}

/** Failures whose message is about the operator's account or the host. Other messages may quote the prompt, which must not be logged. */
const loggedClasses = new Set<ProviderErrorClass>([
  'authentication',
  'quota',
  'model_not_found',
  'rate_limit',
  'overloaded',
  'share_exhausted',
  'capacity',
])

/** With these a provider describes the request, so its message can quote the prompt. */
const requestStatuses = new Set([400, 413, 422])

/** For the log: class, status, attempts, and the provider’s message (without secrets) if its class may be logged. */
function describe(error: ProviderError, thrown: unknown): string {
  const attempts = thrown instanceof RoutingFailure ? thrown.attempts : []
  const path = attempts.map((attempt) => `${attempt.deploymentId}: ${attempt.outcome}`).join(' → ')
  const mayQuote = error.status !== null && requestStatuses.has(error.status)
  const message = loggedClasses.has(error.errorClass) && !mayQuote ? ` ${shorten(error.message)}` : ''
  return `${error.errorClass} ${error.status ?? ''}${message}${path === '' ? '' : ` (${path})`}`
}
