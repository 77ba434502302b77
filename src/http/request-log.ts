import type { AppError, Log } from '../kernel/index.ts'
import { statusOf } from './error-renderer.ts'

/** Longest path in the log, in characters. */
const maximumLoggedPath = 200

export interface AnsweredRequest {
  requestId: string
  method: string
  route: string
  /** As the client sent it. */
  url: string
  status: number
  durationMs: number
  organisationId: string | undefined
  personId?: string | undefined
  /** What the request failed with. */
  error: AppError | undefined
  /** With telemetry, also where the trace is not sampled. */
  traceId?: string | undefined
}

/** The line of each answered request. For unknown paths with the path, without the query, which may contain a secret. */
export function logRequest(log: Log, { url, error, durationMs, ...request }: AnsweredRequest): void {
  const path = error?.code === 'not_found' || error?.code === 'unknown_endpoint' ? url.split('?')[0]! : undefined
  log.info(
    {
      ...request,
      durationMs: Math.round(durationMs * 10) / 10,
      ...(error && { code: error.code, param: error.param ?? undefined, path: path?.slice(0, maximumLoggedPath) }),
    },
    'request',
  )
}

/** The line of an error that an operator should know. */
export function logFailure(log: Log, requestId: string, error: AppError): void {
  const status = statusOf(error.code)
  if (status < 500 && error.internal === undefined) return
  const stack = error.code === 'internal_error' && error.cause instanceof Error ? error.cause.stack : undefined
  log[status >= 500 ? 'error' : 'warn'](
    { requestId, code: error.code, param: error.param, internal: error.internal, stack },
    // Not error.message, which is for the client and may quote the request.
    'a request failed',
  )
}
