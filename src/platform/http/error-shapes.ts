import type { MessagesErrorBody } from '../../contract/gateway-v2-messages.ts'
import type { AppError } from '../kernel/index.ts'
import { errorHeaders, renderErrorBody, statusOf } from './error-renderer.ts'

/** Paths whose clients are SDKs of the Messages API. */
const messagesPrefix = '/v2/gateway/anthropic/'

/** Types of the Messages API by status. Statuses that it does not document are client errors below 500 and `api_error` above. */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** Status, headers and body of an error, in the shape of the API that `url` belongs to. */
export function errorResponse(error: AppError, { url, requestId }: { url: string; requestId: string }) {
  const isMessages = url.startsWith(messagesPrefix)
  return {
    status: statusOf(error.code),
    // SDKs of the Messages API read the id of a failed request from this header.
    headers: { ...errorHeaders(error), ...(isMessages && { 'request-id': requestId }) },
    body: isMessages ? renderMessagesError(error, requestId) : renderErrorBody(error),
  }
}

/** SDKs that get it send the whole conversation instead: their tool runners use threads unless the server refuses them. */
const noThreads = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

/** The body of an error in the Messages API. The message names the field: the API has no place for `param`. */
export function renderMessagesError(error: AppError, requestId: string): MessagesErrorBody {
  const status = statusOf(error.code)
  const type = messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const isNamed = error.param === null || error.message.includes(error.param)
  const message = isNamed ? error.message : `${error.param}: ${error.message}`
  const details = error.code === 'unsupported_parameter' && error.param === 'thread' ? { details: noThreads } : {}
  return { type: 'error', error: { type, message, ...details }, request_id: requestId }
}
