import { STATUS_CODES } from 'node:http'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { readValue } from '../contract/validation.ts'
import { AppError, createRequestId, type Log } from '../kernel/index.ts'
import { type Authenticators, authenticateOperator, authenticateOrganisation } from './authentication.ts'
import { errorHeaders, rateLimitHeaders, renderErrorBody, statusOf, toAppError } from './error-renderer.ts'
import type { Metrics } from './metrics.ts'
import { describeApi } from './openapi.ts'
import type { OrganisationLimiter } from '../organisations/index.ts'
import type { App, Routes } from './route.ts'

export interface ServerOptions {
  authenticators: Authenticators
  limiter: OrganisationLimiter
  metrics: Metrics
  log: Log
  /** Groups of routes, in order: with this file they are the map of the HTTP surface. */
  routes: Routes[]
  /** JSON bodies above it are a 413. Uploads have a limit of their own. */
  maximumJsonBytes: number
  /** A client that reads nothing of its answer for this time is disconnected. */
  stalledClientMs: number
  /** True while the service stops: new requests get 503, /readyz says so. */
  isStopping: () => boolean
  /** Aborts when the grace of a stop is over: what still runs is ended with the signal's reason. */
  shutdown?: AbortSignal
  publicUrl: string | undefined
  version: string
}

/** Longest time for a request's headers; bounds slow-loris clients. */
const headersTimeoutMs = 30_000
/** Longest time for a whole request including its body: 100 MiB at 1.4 Mbit/s. */
const requestTimeoutMs = 600_000
/** Longer than usual load balancers' idle time (60 s), so that they close first. */
const keepAliveTimeoutMs = 75_000

/** The HTTP server: hooks that hold for every route, then the routes. Does not listen yet. */
export function createServer(options: ServerOptions): App {
  const app: App = fastify({
    logger: false,
    genReqId: createRequestId,
    bodyLimit: options.maximumJsonBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: (error, request, reply) => sendError(options, error, request, reply),
    clientErrorHandler(error, socket) {
      const status = (error as NodeJS.ErrnoException).code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
      if (socket.writable) socket.end(rawError(status))
      else socket.destroy()
    },
  }).withTypeProvider() as unknown as App
  app.server.headersTimeout = headersTimeoutMs
  app.setValidatorCompiler(({ schema, httpPart }) => createValidator(schema as z.ZodType, httpPart))
  // Answers are built from typed values: validating them again would cost the hot path and could only turn an answer into a 500.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  app.removeContentTypeParser('text/plain')
  app.decorate('stalledClientMs', options.stalledClientMs)
  app.decorateRequest('organisation', null as never)
  app.decorateRequest('requestId', null as never)
  app.decorateRequest('clientSignal', null as never)

  addHooks(app, options)
  describeApi(app, options)
  // Inside a plugin, so that the OpenAPI plugin above has loaded and sees every route.
  void app.register(async (scope) => {
    // A route that does not say who may call it must not come to be.
    scope.addHook('onRoute', (route) => {
      if ((route.config as { auth?: string } | undefined)?.auth === undefined)
        throw new Error(`no auth on ${route.url}`)
    })
    for (const routes of options.routes) routes(scope as unknown as App)
  })
  app.setErrorHandler((error, request, reply) => sendError(options, error, request, reply))
  app.setNotFoundHandler((request, reply) => sendError(options, notFound(app, request), request, reply))
  return app
}

/** The whole of each part of a request, as an error names it where no single field is wrong. */
const requestParts: Record<string, string> = {
  body: 'the request body',
  querystring: 'the query',
  params: 'the path',
  headers: 'the headers',
}

function createValidator(schema: z.ZodType, httpPart: string | undefined) {
  return (value: unknown) => {
    const read = readValue(schema, value, requestParts[httpPart ?? 'body'] ?? 'the request')
    if ('value' in read) return read
    return { error: new AppError('invalid_request', read.problem.message, { param: read.problem.param || undefined }) }
  }
}

function addHooks(app: App, options: ServerOptions) {
  const { metrics, authenticators } = options
  const inFlight = new Set<AbortController>()
  options.shutdown?.addEventListener('abort', () => {
    for (const controller of inFlight) controller.abort(options.shutdown?.reason)
  })
  app.addHook('onRequest', (request, reply, done) => {
    metrics.httpInFlight.inc()
    request.requestId = request.id as never
    reply.header('x-request-id', request.id)
    const gone = new AbortController()
    request.clientSignal = gone.signal
    inFlight.add(gone)
    reply.raw.once('close', () => {
      metrics.httpInFlight.dec()
      inFlight.delete(gone)
      if (!reply.raw.writableFinished)
        gone.abort(new AppError('client_closed', 'The client has closed the connection.'))
      // A stream's connection was promised to stay; without this a stop would wait until the client lets it go.
      if (options.isStopping()) setImmediate(() => app.server.closeIdleConnections())
    })
    const { auth } = request.routeOptions.config
    if (options.isStopping() && auth !== 'none') {
      reply.header('connection', 'close')
      throw new AppError('shutting_down', 'The service is stopping. Try again in a moment.', { retryAfterSeconds: 2 })
    }
    if (auth === 'organisation') {
      request.organisation = authenticateOrganisation(request, authenticators)
      enterLimits(options.limiter, request, reply)
    }
    if (auth === 'operator') authenticateOperator(request, authenticators)
    done()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // Whole answers; streams watch their own reader. Node takes the time back when the answer has left.
    reply.raw.setTimeout(options.stalledClientMs, () => reply.raw.destroy())
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    metrics.httpRequests.inc({ method: request.method, route, status: String(reply.statusCode) })
    metrics.httpSeconds.observe({ route }, reply.elapsedTime / 1000)
    options.log.info(
      {
        requestId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        organisationId: request.organisation?.id,
        ...describeFailure(request),
      },
      'request',
    )
    done()
  })
}

/** Counts the request until its connection is done with it. Throws where the organisation's limit is reached. */
function enterLimits(limiter: OrganisationLimiter, request: FastifyRequest, reply: FastifyReply): void {
  const { limited } = request.routeOptions.config
  if (limited === undefined) return
  const { leave, rate } = limiter.enter(request.organisation, limited)
  reply.raw.once('close', leave)
  if (rate) reply.headers(rateLimitHeaders(rate))
}

/** What a failed request was answered, for its log line. */
const failures = new WeakMap<FastifyRequest, AppError>()

/** Longest path in the log, in characters. */
const maximumLoggedPath = 200

/** Code and field of the error; of a path that no route has, the path without its query, which may hold a secret. */
function describeFailure(request: FastifyRequest): Record<string, unknown> {
  const error = failures.get(request)
  if (!error) return {}
  const path = error.code === 'not_found' || error.code === 'unknown_endpoint' ? request.url.split('?')[0]! : undefined
  return { code: error.code, param: error.param ?? undefined, path: path?.slice(0, maximumLoggedPath) }
}

function sendError(options: ServerOptions, thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = toAppError(thrown)
  failures.set(request, error)
  const status = statusOf(error.code)
  if (status >= 500 || error.internal !== undefined) {
    const stack = error.code === 'internal_error' && error.cause instanceof Error ? error.cause.stack : undefined
    options.log[status >= 500 ? 'error' : 'warn'](
      { requestId: request.id, code: error.code, param: error.param, internal: error.internal, stack },
      // Not error.message: that one is for the client and may quote what the client sent.
      'a request failed',
    )
  }
  return reply.code(status).headers(errorHeaders(error)).header('x-request-id', request.id).send(renderErrorBody(error))
}

/** 405 with `allow` where the path exists with other methods, else 404. */
function notFound(app: App, request: FastifyRequest): AppError {
  const [path = '/'] = request.url.split('?')
  const allowed = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).filter(
    (method) => method !== request.method && app.findRoute({ method, url: path }) !== null,
  )
  if (allowed.length > 0)
    return new AppError('method_not_allowed', `${request.method} is not allowed here; allowed: ${allowed.join(', ')}.`)
  return new AppError('not_found', `There is no ${request.method} ${path}. GET /openapi.json lists what there is.`)
}

function rawError(status: 400 | 408): string {
  const error = new AppError(
    status === 408 ? 'request_timeout' : 'invalid_request',
    status === 408 ? 'The request took too long to arrive.' : 'The request is not valid HTTP.',
  )
  const body = JSON.stringify(renderErrorBody(error))
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
