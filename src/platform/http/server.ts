import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import fastify, { type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify'
import type { z } from 'zod'
import { readValue } from '../../contract/validation.ts'
import {
  AppError,
  createRequestId,
  type Log,
  loopTurn,
  type Role,
  runForOrganisation,
  type Telemetry,
} from '../kernel/index.ts'
import type { Admission } from './admission.ts'
import { type Authenticators, authenticateOrganisation, findOrganisation } from './authentication.ts'
import { authenticateRole, authoriseOrganisation, findActingOrganisation, refuseOtherPages } from './authorisation.ts'
import { type BodyBudget, createBodyBudget } from './body-budget.ts'
import { createBodyThread } from './body-thread.ts'
import { limitConnections } from './connection-limit.ts'
import { createDirectCalls, type DirectCalls } from './direct-calls.ts'
import { discardBody } from './discard-body.ts'
import { rateLimitHeaders, toAppError } from './error-renderer.ts'
import { errorResponse } from './error-shapes.ts'
import { type Bodies, createBodies } from './read-bodies.ts'
import type { Metrics } from './metrics.ts'
import { deferContinue, sendContinue } from './expect-continue.ts'
import { describeApi } from './openapi.ts'
import { answerOddRequests, answerParserError } from './parser-errors.ts'
import { assertReadable } from './readable-request.ts'
import { logFailure, logRequest } from './request-log.ts'
import type {
  App,
  Caller,
  OrganisationAuthentication,
  RequestLimiter,
  RoleAuthentication,
  RouteAuthentication,
  Routes,
} from './route.ts'
import { createRoleGuard, servesGateway } from './role-guard.ts'
import { addSecurityHeaders } from './security-headers.ts'
import { createSlowBodies, type SlowBodies } from './slow-bodies.ts'
import { traceRequests } from './trace-requests.ts'
import { createUnknownRoutes, type UnknownRoutes } from './unknown-routes.ts'

export interface ServerOptions {
  /** Paths of other roles are rejected. Default: `all`. */
  role?: Role
  authenticators: Authenticators
  limiter: RequestLimiter
  /** Of the requests of organisations; absent: all. */
  admission?: Admission
  /** Throws if the organisation may not use the gateway. */
  assertGatewayAccess: (caller: Caller) => void
  metrics: Metrics
  /** null or absent: requests are not traced. */
  telemetry?: Telemetry | null
  log: Log
  /** Groups of routes, in the order of their registration. */
  routes: Routes[]
  /** Larger JSON bodies of completions and chats are a 413. Uploads and the other routes have separate limits. */
  maximumJsonBytes: number
  /** A client that reads nothing of its response for this time is disconnected. */
  stalledClientMs: number
  /** Longest time for the headers of a request, also of the first one of a connection. */
  slowHeadersMs?: number
  /** Time for a body, and a second more for each 8 KiB that has arrived. */
  slowBodyMs?: number
  /** Longest time for a whole request including its body, on routes without `longBody`. Default: 10 minutes. */
  requestTimeoutMs?: number
  maximumConnections?: number
  /** Most bytes of the JSON bodies of all requests in flight. */
  maximumJsonBytesInFlight: number
  /** True from the beginning of a stop: each response closes its connection, so that clients and proxies open the next one elsewhere. */
  isStopping: () => boolean
  /** True when the time to drain is over: new requests get 503. */
  isRefusing: () => boolean
  /** Aborts when the grace period of a stop is over; running requests then end with the reason of the signal. */
  shutdown?: AbortSignal
  publicUrl: string | undefined
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  trustProxy?: readonly string[]
  version: string
}

const defaultSlowMs = 30_000
const defaultMaximumConnections = 10_000
/** Node.js looks for slow headers so often, at most. Its default of 30 s would double their time. */
const longestCheckMs = 5_000
/** 100 MiB at 1.4 Mbit/s. */
const defaultRequestTimeoutMs = 600_000
/** Longer than the usual idle time of load balancers (60 s), so that they close first. */
const keepAliveTimeoutMs = 75_000
/** Largest JSON body that is parsed in place: several times the longest instructions or list of models. */
const maximumPlainJsonBytes = 1024 * 1024
/** What orchestrators ask must not wait for the work of organisations. */
const probes: ReadonlySet<string> = new Set(['/livez', '/readyz'])
/** Above Node's limit of 16 KiB for address and headers, so that no path parameter is too long for the router. */
const maximumPathParameterLength = 64 * 1024

/** The HTTP server with the hooks of all routes, then the routes. It does not listen yet. */
export function createServer(options: ServerOptions): App {
  const { slowHeadersMs = defaultSlowMs, maximumConnections = defaultMaximumConnections } = options
  const longBodies = new WeakSet<Socket>()
  const app: App = fastify({
    logger: false,
    trustProxy: options.trustProxy?.length ? [...options.trustProxy] : false,
    genReqId: createRequestId,
    bodyLimit: maximumPlainJsonBytes,
    requestTimeout: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    // assertReadable rejects a missing host header with an error body.
    http: { requireHostHeader: false, connectionsCheckingInterval: Math.min(slowHeadersMs / 2, longestCheckMs) },
    routerOptions: { maxParamLength: maximumPathParameterLength },
    frameworkErrors: (error, request, reply) => sendError(options, error, request, reply),
    clientErrorHandler(error: { code?: string }, socket) {
      // Node.js reports it once for a request.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && longBodies.has(socket as Socket)) return
      answerParserError(error, socket as Socket, options.log)
    },
  }).withTypeProvider() as unknown as App
  answerOddRequests(app.server, options.log)
  deferContinue(app.server)
  app.server.headersTimeout = slowHeadersMs
  observeLoad(app, options, maximumConnections)
  app.setValidatorCompiler(({ schema, httpPart, method }) => createValidator(schema as z.ZodType, httpPart, method))
  // Responses are built from typed values. Validating them would slow the hot path down and could only turn a response into a 500.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  app.removeContentTypeParser('text/plain')
  decorate(app, options)

  const slowBodies = createSlowBodies(options.slowBodyMs ?? defaultSlowMs)
  const unknownRoutes = createUnknownRoutes(options.authenticators, options.assertGatewayAccess)
  app.addHook('onRoute', ({ method, url }) => unknownRoutes.add(method, url))
  const inFlight = new Set<AbortController>()
  const ended = () => {
    // The response of a stream announced keep-alive. Without this, a stop would wait until the client closes the connection.
    if (options.isRefusing()) setImmediate(() => app.server.closeIdleConnections())
  }
  if (options.telemetry) traceRequests(app, options.telemetry, (request) => failures.get(request))
  addHooks(app, options, { unknownRoutes, slowBodies, longBodies, inFlight, ended })
  const budget = createBodyBudget(
    // One organisation may use half, and a body of the largest size must fit.
    Math.max(options.maximumJsonBytesInFlight, 2 * options.maximumJsonBytes),
  )
  const bodies = addBodies(app, budget, slowBodies)
  const direct = servesGateway(options.role ?? 'all')
    ? createDirectCalls({ ...options, budget, slowBodies, bodies, inFlight, ended })
    : undefined
  if (direct) addDirectRoutes(app, direct)
  answerInTurns(app, options.authenticators, direct)
  describeApi(app, options)
  // Inside a plugin, so that the OpenAPI plugin above has loaded and sees every route.
  void app.register(async (scope) => {
    // A route without `auth` stops the start.
    scope.addHook('onRoute', (route) => {
      const auth = route.config?.auth
      if (auth === undefined) throw new Error(`no auth on ${route.url}`)
      if (typeof auth === 'object') addRole(route, auth, options, slowBodies)
      runForItsOrganisation(route)
      if (route.config?.limited && auth !== 'organisation' && !isActing(auth))
        throw new Error(`limited without an organisation on ${route.url}`)
    })
    scope.addHook('onRoute', (route) => {
      if (!route.config?.body) return
      route.bodyLimit = options.maximumJsonBytes
      // The reader has validated the body; its schema only documents it.
      route.validatorCompiler ??= ({ schema, httpPart, method }) =>
        httpPart === 'body' ? (value) => ({ value }) : createValidator(schema as z.ZodType, httpPart, method)
    })
    for (const routes of options.routes) routes(scope as unknown as App)
  })
  app.setErrorHandler((error, request, reply) => sendError(options, error, request, reply))
  // The onRequest hook has answered before, but Fastify requires a handler.
  app.setNotFoundHandler((request, reply) => unknownRoutes.refuse(request, reply))
  return app
}

/** What routes find on the server and in requests: see route.ts. */
function decorate(app: App, options: ServerOptions) {
  app.decorate('stalledClientMs', options.stalledClientMs)
  app.decorateRequest('organisation', null as never)
  app.decorateRequest('person', undefined)
  app.decorateRequest('authorisedFor', undefined)
  app.decorateRequest('checkAccess', null as never)
  app.decorateRequest('requestId', null as never)
  app.decorateRequest('clientSignal', null as never)
  app.decorateRequest('bodyAccount', undefined)
  app.decorateRequest('leaveLimits', undefined)
  app.decorateRequest('leaveAdmission', undefined)
  app.decorateRequest('cancel', null as never)
  app.decorateRequest('span', undefined)
}

function observeLoad(app: App, { metrics, admission }: ServerOptions, maximumConnections: number) {
  const { open } = limitConnections(app.server, maximumConnections, () => metrics.overload.refusedConnections.inc())
  metrics.overload.observe({ running: () => admission?.running() ?? 0, connections: open })
}

/** What a request waits for counts for its organisation, so that the requests of one do not fill the queue of a database for all. */
function runForItsOrganisation(route: RouteOptions) {
  const { handler } = route
  route.handler = function (request, reply) {
    const handle = () => handler.call(this, request, reply)
    // Null on routes without one; the type omits that.
    const organisation = request.organisation as Caller | null
    // What a person sees of several organisations takes the person's own turns.
    const owner = organisation?.id ?? request.authorisedFor ?? request.person?.id
    return owner === undefined ? handle() : runForOrganisation(owner, handle)
  }
}

/** The hooks of a route for people and the operator token. Other routes do not pay for them. */
function addRole(route: RouteOptions, auth: RoleAuthentication, options: ServerOptions, slowBodies: SlowBodies) {
  route.onRequest = [
    async (request: FastifyRequest, reply: FastifyReply) => {
      await authenticateRole(request, auth, options)
      request.checkAccess = async () => {
        await authenticateRole(request, auth, options)
        await authoriseOrganisation(request)
      }
      if (isActing(auth)) {
        request.organisation = await findActingOrganisation(request, auth, options.authenticators)
        // A client that has left in the meantime has no `close` event left that would end its count.
        request.clientSignal.throwIfAborted()
        enterLimits(options, slowBodies, request, reply)
      }
      assertReadable(request)
    },
    ...[route.onRequest ?? []].flat(),
  ]
  if ('organisation' in auth && !isActing(auth))
    route.preHandler = [authoriseOrganisation, ...[route.preHandler ?? []].flat()]
}

const isActing = (auth: RouteAuthentication): auth is OrganisationAuthentication =>
  typeof auth === 'object' && 'organisation' in auth && auth.acting === true

/** Requests of the usual form to routes with `direct` do not reach Fastify. */
function addDirectRoutes(app: App, direct: DirectCalls) {
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.direct && config.body) direct.add({ url, body: config.body, ...config.direct })
  })
}

/** Requests that arrive at once begin in turns of their organisations; those without a valid key, and those of people, take turns as one. */
function answerInTurns(app: App, authenticators: Authenticators, direct: DirectCalls | undefined) {
  const ordinary = app.server.listeners('request') as RequestListener[]
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    const answer = (organisation: Caller | undefined) => {
      // The client may have left meanwhile; then no event would end the request.
      if (request.socket.destroyed || direct?.take(request, response, organisation)) return
      for (const listener of ordinary) listener(request, response)
    }
    if (probes.has(request.url!)) return answer(undefined)
    const find = () => findOrganisation({ raw: request }, authenticators)
    const organisation = find()
    const turn = loopTurn(organisation?.id ?? '')
    // The key may have been revoked meanwhile.
    if (turn) void turn.then(() => answer(find()))
    else answer(organisation)
  })
}

function addBodies(app: App, budget: BodyBudget, slowBodies: SlowBodies): Bodies {
  const threads = { large: createBodyThread(), huge: createBodyThread() }
  const bodies = createBodies({ budget, slowBodies, threads })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) =>
    bodies.parseJson(request, payload),
  )
  app.addContentTypeParser('text/csv', (request: FastifyRequest, payload: Readable) =>
    bodies.parseCsv(request, payload),
  )
  app.addHook('onClose', async () => {
    await Promise.all([threads.large.close(), threads.huge.close()])
  })
  return bodies
}

/** Names of the parts of a request, for errors that concern no single field. */
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
    // No resource has an id of this form, and only PUT can create one.
    if (httpPart === 'params' && method !== 'PUT')
      return { error: new AppError('not_found', `There is nothing with this \`${read.problem.param}\`.`) }
    return { error: new AppError('invalid_request', read.problem.message, { param: read.problem.param || undefined }) }
  }
}

function addHooks(
  app: App,
  options: ServerOptions,
  {
    unknownRoutes,
    slowBodies,
    longBodies,
    inFlight,
    ended,
  }: {
    unknownRoutes: UnknownRoutes
    slowBodies: SlowBodies
    /** Connections whose request has a `longBody`. */
    longBodies: WeakSet<Socket>
    inFlight: Set<AbortController>
    /** Called when a response has ended. */
    ended: () => void
  },
) {
  const { metrics, authenticators, role } = options
  const assertServed = createRoleGuard(role)
  options.shutdown?.addEventListener('abort', () => {
    for (const controller of inFlight) controller.abort(options.shutdown?.reason)
  })
  app.addHook('onRequest', (request, reply, done) => {
    metrics.http.started()
    request.requestId = request.id as never
    reply.header('x-request-id', request.id)
    addSecurityHeaders(request, reply)
    const gone = new AbortController()
    request.clientSignal = gone.signal
    request.cancel = (error) => gone.abort(error)
    inFlight.add(gone)
    reply.raw.once('close', () => {
      metrics.http.ended()
      inFlight.delete(gone)
      request.leaveLimits?.()
      request.leaveAdmission?.()
      slowBodies.unwatch(request.raw)
      longBodies.delete(request.raw.socket)
      request.bodyAccount?.close()
      if (!reply.raw.writableFinished)
        gone.abort(new AppError('client_closed', 'The client has closed the connection.'))
      ended()
    })
    assertServed?.(request)
    const { auth, longBody } = request.routeOptions.config
    if (longBody) longBodies.add(request.raw.socket)
    if (options.isStopping()) reply.header('connection', 'close')
    if (options.isRefusing() && auth !== 'none') {
      throw new AppError('shutting_down', 'The service is stopping. Try again in a moment.', { retryAfterSeconds: 2 })
    }
    if (auth === 'organisation') {
      request.organisation = authenticateOrganisation(request, authenticators)
      enterLimits(options, slowBodies, request, reply)
    }
    // Before the body is read, so that the body of an unknown route is not parsed.
    if (request.is404) unknownRoutes.refuse(request, reply)
    // After the credential: see addRole.
    if (typeof auth !== 'object') assertReadable(request)
    if (auth === 'none') refuseOtherPages(request, options.publicUrl)
    done()
  })
  // After the credential and the limits, before the body.
  app.addHook('preParsing', (request, reply, _payload, next) => {
    sendContinue(request.raw, reply.raw)
    next()
  })
  addResponseHooks(app, options, unknownRoutes)
}

/** What every response gets, and its line in the log. */
function addResponseHooks(
  app: App,
  { metrics, isStopping, stalledClientMs, log }: ServerOptions,
  unknownRoutes: UnknownRoutes,
): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // The stop may have begun after the request.
    if (isStopping()) reply.header('connection', 'close')
    // For complete responses; streams set their timeout in drain. Node clears it when the response is sent.
    reply.raw.setTimeout(stalledClientMs, () => reply.raw.destroy())
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { url } = request.routeOptions
    const route = url ?? 'none'
    metrics.http.answered(request.method, route, reply.statusCode, reply.elapsedTime)
    logRequest(log, {
      requestId: request.id,
      method: request.method,
      route,
      path: url === undefined ? unknownRoutes.loggable(request.url) : undefined,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      organisationId: request.organisation?.id,
      personId: request.person?.id,
      error: failures.get(request),
      traceId: request.span?.traceId,
    })
    done()
  })
}

/** Counts the request until its response is closed. Throws if the process or the organisation is at its limit. */
function enterLimits(
  { admission, limiter }: ServerOptions,
  slowBodies: SlowBodies,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  request.leaveAdmission = admission?.enter(request.organisation.id)
  const { limited } = request.routeOptions.config
  if (limited === undefined) return
  // Where the body is JSON, its reader watches it.
  if (limited === 'upload') slowBodies.watch(request.raw, request.organisation.id, request.cancel)
  const { leave, rates } = limiter.enter(request.organisation, limited)
  request.leaveLimits = leave
  for (const rate of rates) reply.headers(rateLimitHeaders(rate))
}

/** The error of each failed request, for its log line. */
const failures = new WeakMap<FastifyRequest, AppError>()

function sendError({ log }: ServerOptions, thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = toAppError(thrown)
  failures.set(request, error)
  logFailure(log, request.id, error)
  // Fastify would close the connection after a parser error, before the client has sent the rest.
  // Null on routes without an organisation; the type omits that.
  const owner = (request.organisation as Caller | null)?.id ?? ''
  if (discardBody(request.raw, reply.raw, { owner, closes: reply.hasHeader('connection') })) {
    reply.removeHeader('connection')
  }
  const { status, headers, body } = errorResponse(error, { url: request.url, requestId: request.id })
  return reply.code(status).headers(headers).header('x-request-id', request.id).send(body)
}
