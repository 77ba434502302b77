import { AppError, describeError, type Log } from '../kernel/index.ts'
import { statusOf } from './error-renderer.ts'

export interface AnsweredRequest {
  requestId: string
  method: string
  route: string
  /** Of a request without a route, as `UnknownRoutes.loggable` makes it. */
  path?: string | undefined
  status: number
  durationMs: number
  organisationId: string | undefined
  personId?: string | undefined
  /** What the request failed with. */
  error: AppError | undefined
  /** With telemetry, also where the trace is not sampled. */
  traceId?: string | undefined
}

/** The line of each answered request. It has nothing of its address that a client chooses: tokens of links are parts of paths. */
export function logRequest(log: Log, { error, durationMs, ...request }: AnsweredRequest): void {
  log.info(
    {
      ...request,
      durationMs: Math.round(durationMs * 10) / 10,
      ...(error && { code: error.code, param: loggableParam(error) }),
      ...(error?.code === 'overloaded' && { reason: reasonOf(error) }),
    },
    'request',
  )
}

/** Longest name of a field in the contract; tokens, keys and most texts are longer, or have other characters. */
const fieldName = /^(?:[A-Za-z][\w-]{0,29}|\d{1,6})$/

/** The field without names that a client has chosen, such as those of a query or of the keys in `metadata`: `*` in their place. */
function loggableParam({ param }: AppError): string | undefined {
  if (param === null) return undefined
  const parts = param.split('.', maximumFieldParts)
  return parts.map((part) => (fieldName.test(part) ? part : '*')).join('.')
}

const maximumFieldParts = 12

/** What is overloaded, full or away. The messages of these errors are fixed texts; others may quote the request, and are not logged. */
function reasonOf(error: AppError): string | undefined {
  if (error.internal !== undefined || error.code !== 'overloaded') return error.internal
  const { cause } = error
  const inner = cause instanceof AppError ? reasonOf(cause) : cause === undefined ? undefined : describeError(cause)
  return inner ?? error.message
}

/** The line of an error that an operator should know. */
export function logFailure(log: Log, requestId: string, error: AppError): void {
  const status = statusOf(error.code)
  if (status < 500 && error.internal === undefined) return
  const stack = error.code === 'internal_error' && error.cause instanceof Error ? error.cause.stack : undefined
  log[status >= 500 ? 'error' : 'warn'](
    { requestId, code: error.code, param: loggableParam(error), internal: reasonOf(error), stack },
    // Not error.message, which is for the client and may quote the request.
    'a request failed',
  )
}
