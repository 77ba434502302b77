import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { readValue } from '../contract/validation.ts'
import { AppError, createRequestId, type Log } from '../kernel/index.ts'
import { type Authenticators, authenticateOperator, authenticateOrganisation } from './authentication.ts'
import { createBodyBudget } from './body-budget.ts'
import { createBodyThread } from './body-thread.ts'
import { discardBody } from './discard-body.ts'
import { errorHeaders, rateLimitHeaders, renderErrorBody, statusOf, toAppError } from './error-renderer.ts'
import { createJsonBodies } from './json-body.ts'
import type { Metrics } from './metrics.ts'
import { describeApi } from './openapi.ts'
import { answerOddRequests, answerParserError } from './parser-errors.ts'
import { assertReadable } from './readable-request.ts'
import type { App, Caller, RequestLimiter, Routes } from './route.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { createUnknownRoutes, type UnknownRoutes } from './unknown-routes.ts'

export interface ServerOptions {
  authenticators: Authenticators
  limiter: RequestLimiter
  /** Throws where the organisation may not use the gateway. */
  assertGatewayAccess: (caller: Caller) => void
  metrics: Metrics
  log: Log
  /** Groups of routes, in the order of their registration. */
  routes: Routes[]
  /** JSON bodies of completions and chats above it are a 413. Uploads and the other routes have limits of their own. */
  maximumJsonBytes: number
  /** A client that reads nothing of its answer for this time is disconnected. */
  stalledClientMs: number
  /** Most bytes of all JSON bodies whose requests are in flight. */
  maximumJsonBytesInFlight: number
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
/** Largest JSON body of routes that read theirs in place: several times the longest instructions or list of models. */
const maximumPlainJsonBytes = 1024 * 1024
/** Above the 16 KiB that node takes for the address and the headers: no path parameter is too long for the router. */
const maximumPathParameterLength = 64 * 1024

/** The HTTP server: hooks that hold for every route, then the routes. Does not listen yet. */
export function createServer(options: ServerOptions): App {
  const app: App = fastify({
    logger: false,
    genReqId: createRequestId,
    bodyLimit: maximumPlainJsonBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    // A missing host header is refused by our own hook, with a body.
    http: { requireHostHeader: false },
    routerOptions: { maxParamLength: maximumPathParameterLength },
    frameworkErrors: (error, request, reply) => sendError(options, error, request, reply),
    clientErrorHandler: (error, socket) => answerParserError(error as { code?: string }, socket as Socket, options.log),
  }).withTypeProvider() as unknown as App
  answerOddRequests(app.server, options.log)
  app.server.headersTimeout = headersTimeoutMs
  app.setValidatorCompiler(({ schema, httpPart, method }) => createValidator(schema as z.ZodType, httpPart, method))
  // Answers are built from typed values: validating them again would cost the hot path and could only turn an answer into a 500.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  app.removeContentTypeParser('text/plain')
  app.decorate('stalledClientMs', options.stalledClientMs)
  app.decorateRequest('organisation', null as never)
  app.decorateRequest('requestId', null as never)
  app.decorateRequest('clientSignal', null as never)
  app.decorateRequest('bodyAccount', undefined)

  const unknownRoutes = createUnknownRoutes(options.authenticators, options.assertGatewayAccess)
  app.addHook('onRoute', ({ method, url }) => unknownRoutes.add(method, url))
  addHooks(app, options, unknownRoutes)
  addJsonBodies(app, options)
  describeApi(app, options)
  // Inside a plugin, so that the OpenAPI plugin above has loaded and sees every route.
  void app.register(async (scope) => {
    // A route that does not say who may call it must not come to be.
    scope.addHook('onRoute', (route) => {
      if ((route.config as { auth?: string } | undefined)?.auth === undefined)
        throw new Error(`no auth on ${route.url}`)
    })
    scope.addHook('onRoute', (route) => {
      if (route.config?.body) route.bodyLimit = options.maximumJsonBytes
    })
    for (const routes of options.routes) routes(scope as unknown as App)
  })
  app.setErrorHandler((error, request, reply) => sendError(options, error, request, reply))
  // Its hook has answered before; a handler must exist all the same.
  app.setNotFoundHandler((request, reply) => unknownRoutes.refuse(request, reply))
  return app
}

function addJsonBodies(app: App, options: ServerOptions) {
  const threads = { large: createBodyThread(), huge: createBodyThread() }
  const bodies = createJsonBodies({
    budget: createBodyBudget(
      // One organisation may hold half: a body of the largest size must fit.
      Math.max(options.maximumJsonBytesInFlight, 2 * options.maximumJsonBytes),
    ),
    threads,
  })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) =>
    bodies.parse(request, payload),
  )
  app.addHook('onClose', async () => {
    await Promise.all([threads.large.close(), threads.huge.close()])
  })
}

/** The whole of each part of a request, as an error names it where no single field is wrong. */
const requestParts: Record<string, string> = {
  body: 'the request body',
  querystring: 'the query',
  params: 'the path',
  headers: 'the headers',
}

function createValidator(schema: z.ZodType, httpPart: string | undefined, method: string) {
  return (value: unknown) => {
    const read = readValue(schema, value, requestParts[httpPart ?? 'body'] ?? 'the request')
    if ('value' in read) return read
    // Nothing has an id of this form; only PUT could make it.
    if (httpPart === 'params' && method !== 'PUT')
      return { error: new AppError('not_found', `There is nothing with this \`${read.problem.param}\`.`) }
    return { error: new AppError('invalid_request', read.problem.message, { param: read.problem.param || undefined }) }
  }
}

function addHooks(app: App, options: ServerOptions, unknownRoutes: UnknownRoutes) {
  const { metrics, authenticators } = options
  const inFlight = new Set<AbortController>()
  options.shutdown?.addEventListener('abort', () => {
    for (const controller of inFlight) controller.abort(options.shutdown?.reason)
  })
  app.addHook('onRequest', (request, reply, done) => {
    metrics.httpInFlight.inc()
    request.requestId = request.id as never
    reply.header('x-request-id', request.id)
    addSecurityHeaders(request, reply)
    const gone = new AbortController()
    request.clientSignal = gone.signal
    inFlight.add(gone)
    reply.raw.once('close', () => {
      metrics.httpInFlight.dec()
      inFlight.delete(gone)
      request.bodyAccount?.close()
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
    // Before the body is read: a body of an unknown route is not worth a look.
    if (request.is404) unknownRoutes.refuse(request, reply)
    assertReadable(request)
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
function enterLimits(limiter: RequestLimiter, request: FastifyRequest, reply: FastifyReply): void {
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
  discardBody(request, reply)
  return reply.code(status).headers(errorHeaders(error)).header('x-request-id', request.id).send(renderErrorBody(error))
}
