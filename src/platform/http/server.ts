import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import fastify, { type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify'
import type { z } from 'zod'
import { readValue } from '../../contract/validation.ts'
import { assertReadsCsv } from '../bodies/index.ts'
import {
  AppError,
  Bag,
  createRequestId,
  type Log,
  type Role,
  runInTurn,
  sharedOwner,
  type Telemetry,
} from '../kernel/index.ts'
import { type Admit, createAdmit, type House, type StopState } from './admit.ts'
import { type Admission, createBodyBudget, limitArrivals } from './load.ts'
import { type Authenticators, findOrganisation, isActing, isOfVisits } from './identity.ts'
import { createBodyThread } from './body-thread.ts'
import { answerOddRequests, answerParserError, closeUnused, type Connections, limitConnections } from './connections.ts'
import { createDirectCalls, type DirectTarget } from './direct-calls.ts'
import { createSlowBodies, deferContinue, type SlowBodies } from './body-arrival.ts'
import { FastifyVisit, type Visit } from './visit.ts'
import type { Metrics } from './metrics.ts'
import { describeApi } from './openapi.ts'
import { type Bodies, createBodies } from './read-bodies.ts'
import type { Caller } from './caller.ts'
import type { App, RequestLimiter, Routes } from './route.ts'
import { createUnknownRoutes } from './unknown-routes.ts'

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
  stop: Readonly<StopState>
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
  /** Connections whose request has a `longBody`. */
  const longBodies = new WeakSet<Socket>()
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    // A request whose address cannot be read passes no step.
    request.visit ??= new FastifyVisit(request, reply)
    reply.header('x-request-id', request.id)
    request.visit.refuse(error, options.log)
  }
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
    frameworkErrors: (error, request, reply) => refuse(error, request, reply),
    clientErrorHandler(error: { code?: string }, socket) {
      // Node.js reports it once for a request.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && longBodies.has(socket as Socket)) return
      answerParserError(error, socket as Socket, options.log)
    },
  }).withTypeProvider() as unknown as App
  answerOddRequests(app.server, options.log)
  deferContinue(app.server)
  app.server.headersTimeout = slowHeadersMs
  const arrivals = limitArrivals(app.server)
  observeLoad(app, options, arrivals.open, maximumConnections)
  app.setValidatorCompiler(({ schema, httpPart, method }) => createValidator(schema as z.ZodType, httpPart, method))
  // Responses are built from typed values. Validating them would slow the hot path down and could only turn a response into a 500.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  app.removeContentTypeParser('text/plain')
  app.decorate('stalledClientMs', options.stalledClientMs)
  decorateRequests(app)
  const house = openHouse(app, options, arrivals)
  const admit = createAdmit(house)
  addHooks(app, admit, longBodies)
  const bodies = addBodies(app, admit, house.slowBodies)
  /** By address. */
  const direct = new Map<string, DirectTarget>()
  const takeDirect = createDirectCalls({ ...options, admit, bodies })
  answerInTurns(app, options.authenticators, arrivals, (raw, response, organisation) => {
    const target = direct.get(raw.url!)
    return target !== undefined && takeDirect(target, { raw, response, organisation })
  })
  describeApi(app, options)
  // Inside a plugin, so that the OpenAPI plugin above has loaded and sees every route.
  void app.register(async (scope) => {
    scope.addHook('onRoute', (route) => prepareRoute(route, options, direct))
    for (const routes of options.routes) routes(scope as unknown as App)
  })
  app.setErrorHandler(refuse)
  // The onRequest hook has answered before, but Fastify requires a handler.
  app.setNotFoundHandler(({ visit }) => house.unknownRoutes.refuse(visit))
  return app
}

type Arrivals = ReturnType<typeof limitArrivals>

/** What the steps of all requests share. */
function openHouse(app: App, options: ServerOptions, arrivals: Arrivals): House {
  const unknownRoutes = createUnknownRoutes(options.authenticators, options.assertGatewayAccess)
  app.addHook('onRoute', ({ method, url }) => unknownRoutes.add(method, url))
  const inFlight = new Bag<Visit>()
  options.shutdown?.addEventListener('abort', () => {
    for (const visit of inFlight.items()) visit.signal.abort(options.shutdown?.reason)
  })
  return {
    ...options,
    role: options.role ?? 'all',
    unknownRoutes,
    inFlight,
    slowBodies: createSlowBodies(options.slowBodyMs ?? defaultSlowMs),
    budget: createBodyBudget(
      // One organisation may use half, and a body of the largest size must fit.
      Math.max(options.maximumJsonBytesInFlight, 2 * options.maximumJsonBytes),
    ),
    ended({ raw }) {
      arrivals.end(raw.socket)
      // The response of a stream announced keep-alive. Without this, a stop would wait until the client closes the connection.
      if (options.stop.isRefusing) setImmediate(() => app.server.closeIdleConnections())
    },
  }
}

/** A route that does not state who may call it stops the start. */
function prepareRoute(route: RouteOptions, { maximumJsonBytes }: ServerOptions, direct: Map<string, DirectTarget>) {
  const { url, config } = route
  const { auth, limited, body, access, direct: handle } = config ?? {}
  if (auth === undefined) throw new Error(`no auth on ${url}`)
  if (limited && auth !== 'organisation' && !isActing(auth) && !isOfVisits(auth))
    throw new Error(`limited without an organisation on ${url}`)
  if (route.onRequest !== undefined)
    throw new Error(`onRequest on ${url}: what refuses a request is a step of admit.ts`)
  const { handler } = route
  const success = successOf(route)
  // The events of a body that has arrived belong to no request, so its span becomes the current one here.
  route.handler = function (request, reply) {
    if (success !== undefined) reply.code(success)
    return request.visit.run(() => handler.call(this, request, reply))
  }
  if (!body) return
  route.bodyLimit = Math.min(route.bodyLimit ?? maximumJsonBytes, maximumJsonBytes)
  // The reader has validated the body; its schema only documents it.
  route.validatorCompiler ??= ({ schema, httpPart, method }) =>
    httpPart === 'body' ? (value) => ({ value }) : createValidator(schema as z.ZodType, httpPart, method)
  if (!handle) return
  const visited = { url, auth, limited, access, longBody: false, maximumBodyBytes: route.bodyLimit }
  direct.set(url, { route: visited, body, handle })
}

/** The status of a success, where the schema of the route declares one; a route that declares several sets it itself. */
function successOf({ schema }: RouteOptions): number | undefined {
  const [status, ...others] = Object.keys(schema?.response ?? {}).filter((name) => name.startsWith('2'))
  return status === undefined || others.length > 0 ? undefined : Number(status)
}

function observeLoad(app: App, { metrics, admission }: ServerOptions, open: Connections, most: number) {
  limitConnections(app.server, open, most, () => metrics.overload.refusedConnections.inc())
  app.addHook('preClose', () => closeUnused(open))
  metrics.overload.observe({ running: () => admission?.running() ?? 0, connections: () => open.size })
}

/** Requests that arrive at once begin in turns of their organisations; those without a valid key, and those of people, take turns as one. */
function answerInTurns(
  app: App,
  authenticators: Authenticators,
  arrivals: Arrivals,
  /** False: the request is one for Fastify. */
  takeDirect: (request: IncomingMessage, response: ServerResponse, organisation: Caller | undefined) => boolean,
) {
  const ordinary = app.server.listeners('request') as RequestListener[]
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    const answer = (organisation: Caller | undefined) => {
      // The client may have left meanwhile; then no event would end the request.
      if (request.socket.destroyed || takeDirect(request, response, organisation)) return
      for (const listener of ordinary) listener(request, response)
    }
    const find = () => findOrganisation({ raw: request }, authenticators)
    const isProbe = probes.has(request.url!)
    const organisation = isProbe ? undefined : find()
    const isFirst = arrivals.begin(request.socket, organisation?.id ?? sharedOwner)
    if (isProbe) return answer(undefined)
    // The key may have been revoked meanwhile.
    runInTurn(organisation?.id ?? sharedOwner, (hasWaited) => answer(hasWaited ? find() : organisation), isFirst)
  })
}

function addBodies(app: App, admit: Admit, slowBodies: SlowBodies): Bodies {
  const threads = { large: createBodyThread(), huge: createBodyThread() }
  const bodies = createBodies({ admit, slowBodies, threads })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', ({ visit, routeOptions }: FastifyRequest, payload: Readable) => {
    const reader = routeOptions.config.body
    return bodies.read(visit, payload, { reader, format: 'json', isOptional: !routeOptions.schema?.body })
  })
  // For the routes whose reader takes it.
  app.addContentTypeParser('text/csv', async ({ visit, routeOptions }: FastifyRequest, payload: Readable) => {
    const reader = routeOptions.config.body
    assertReadsCsv(reader)
    return bodies.read(visit, payload, { reader, format: 'csv' })
  })
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

/** The steps of admit.ts, at the moments of Fastify. */
function addHooks(app: App, admit: Admit, longBodies: WeakSet<Socket>) {
  app.addHook('onRequest', (request, reply, done) => {
    const visit = new FastifyVisit(request, reply)
    request.visit = visit
    const { socket } = request.raw
    if (visit.route.longBody) {
      longBodies.add(socket)
      visit.atEnd(() => longBodies.delete(socket))
    }
    // Fastify waits for either of them.
    return admit('arrival', visit) ?? done()
  })
  app.addHook('preHandler', ({ visit }, _reply, done) => admit('handler', visit) ?? done())
  app.addHook('onSend', ({ visit }, _reply, _payload, done) => admit('answer', visit) ?? done())
}

/** What routes find in requests: see route.ts. */
function decorateRequests(app: App): void {
  app.decorateRequest('visit', null as never)
  const from = <Name extends keyof FastifyRequest>(name: Name, get: (visit: FastifyVisit) => FastifyRequest[Name]) =>
    app.decorateRequest(name, {
      getter(this: FastifyRequest) {
        return get(this.visit)
      },
    } as never)
  // Undefined on routes without one; the type omits that.
  from('organisation', ({ organisation }) => organisation as Caller)
  from('person', ({ person }) => person)
  from('requestId', ({ requestId }) => requestId)
  from('clientSignal', ({ clientSignal }) => clientSignal)
  from('checkAccess', ({ checkAccess }) => checkAccess)
}
