import type { FastifyRequest } from 'fastify'
import type { AppError, Telemetry } from '../kernel/index.ts'
import type { App } from './route.ts'

/** A server span for each request that Fastify answers; direct-calls.ts does the same for the others. Before all other hooks. */
export function traceRequests(
  app: App,
  telemetry: Telemetry,
  failureOf: (request: FastifyRequest) => AppError | undefined,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const span = telemetry.request({
      method: request.method,
      requestId: request.id,
      traceparent: traceparentOf(request.headers.traceparent),
    })
    request.span = span
    reply.raw.once('close', () =>
      span.end({
        route: request.routeOptions.url ?? 'none',
        status: reply.raw.statusCode,
        // Not set on routes without an organisation.
        organisationId: request.organisation?.id,
        code: failureOf(request)?.code ?? (reply.raw.writableFinished ? undefined : 'client_closed'),
      }),
    )
    done()
  })
  // The events of a body that has arrived belong to no request, so the span becomes the current one after it.
  app.addHook('preHandler', (request, _reply, done) => request.span!.run(done))
}

/** Repeated headers are an array or joined, and then no valid value. */
export function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
