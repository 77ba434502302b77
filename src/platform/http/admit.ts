import { AppError, type Bag, type Log, type Role, type Telemetry, invalidField } from '../kernel/index.ts'
import type { Admission, BodyBudget } from './load.ts'
import {
  assertRoleInOrganisation,
  assertSameSite,
  authenticateOrganisation,
  type Authenticators,
  identifyPerson,
  isOfVisits,
  refuseOtherPages,
} from './identity.ts'
import { rateLimitHeaders } from './error-renderer.ts'
import { sendContinue, type SlowBodies } from './body-arrival.ts'
import type { Metrics } from './metrics.ts'
import { logRequest, type Visit } from './visit.ts'
import type { RequestLimiter } from './route.ts'
import type { UnknownRoutes } from './unknown-routes.ts'

/**
 * Every step that a request passes, in order, whether Fastify answers it or direct-calls.ts does. A step throws to refuse the request. What it
 * holds until the response has ended, it passes to `visit.atEnd`.
 */

export interface House {
  /** Paths of other roles are rejected. */
  role: Role
  authenticators: Authenticators
  limiter: RequestLimiter
  /** Of the requests of organisations; absent: all. */
  admission?: Admission | undefined
  unknownRoutes: UnknownRoutes
  metrics: Metrics
  telemetry?: Telemetry | null | undefined
  log: Log
  budget: BodyBudget
  slowBodies: SlowBodies
  /** The running requests; the stop of the service aborts them. */
  inFlight: Bag<Visit>
  stalledClientMs: number
  stop: Readonly<StopState>
  publicUrl: string | undefined
  /** Called when a response has ended. */
  ended: (visit: Visit) => void
}

/** How far the stop of the service is. */
export interface StopState {
  /** From its beginning: each response closes its connection, so that clients and proxies open the next one elsewhere. */
  isStopping: boolean
  /** When the time to drain is over: new requests get 503. */
  isRefusing: boolean
}

/** `arrival`: before the body is read. `body`: before its first byte. `handler`: it has been read. `answer`: before the headers of a response. */
type Phase = 'arrival' | 'body' | 'handler' | 'answer'

interface Step {
  name: string
  phase: Phase
  run(visit: Visit, house: House): void | Promise<void>
}

export const admissionSteps = [
  { name: 'record', phase: 'arrival', run: record },
  { name: 'headers', phase: 'arrival', run: addSecurityHeaders },
  { name: 'abort', phase: 'arrival', run: abortWhenGone },
  { name: 'role of the process', phase: 'arrival', run: (visit, { role }) => assertServed(visit, role) },
  { name: 'readiness', phase: 'arrival', run: assertReady },
  { name: 'identity', phase: 'arrival', run: identify },
  { name: 'access', phase: 'arrival', run: ({ route, organisation }) => organisation && route.access?.(organisation) },
  { name: 'load of the process', phase: 'arrival', run: enterProcess },
  { name: 'limits of the organisation', phase: 'arrival', run: enterLimits },
  { name: 'route', phase: 'arrival', run: assertRoute },
  { name: 'readable', phase: 'arrival', run: assertReadable },
  { name: 'own page', phase: 'arrival', run: assertOwnPage },
  { name: 'continue', phase: 'arrival', run: ({ raw, response }) => sendContinue(raw, response) },
  { name: 'room for the body', phase: 'body', run: openAccount },
  { name: 'role in the organisation', phase: 'handler', run: assertRoleInOrganisation },
  { name: 'last response', phase: 'answer', run: closeAtStop },
  { name: 'stalled client', phase: 'answer', run: limitStalling },
] as const satisfies readonly Step[]

export type Admit = ReturnType<typeof createAdmit>

/** Returns a function that runs the steps of one phase. It returns a promise only where a step waits. */
export function createAdmit(house: House) {
  const all: readonly Step[] = admissionSteps
  const phases = Map.groupBy(all, ({ phase }) => phase)
  return (phase: Phase, visit: Visit): void | Promise<void> => runSteps(phases.get(phase)!, visit, house)
}

function runSteps(steps: readonly Step[], visit: Visit, house: House, from = 0): void | Promise<void> {
  for (let index = from; index < steps.length; index++) {
    const waiting = steps[index]!.run(visit, house)
    if (waiting) return waiting.then(() => continueSteps(steps, visit, house, index + 1))
  }
}

function continueSteps(steps: readonly Step[], visit: Visit, house: House, from: number): void | Promise<void> {
  visit.signal.throwIfAborted()
  return runSteps(steps, visit, house, from)
}

/** Counts, traces and logs the request. */
function record(visit: Visit, { metrics, telemetry, unknownRoutes, log, ended }: House): void {
  const { raw, response, requestId, startedMs } = visit
  const { method = '' } = raw
  const { url } = visit.route
  const route = url ?? 'none'
  metrics.http.started()
  visit.span = telemetry?.request({ method, requestId, traceparent: traceparentOf(raw.headers.traceparent) })
  visit.header('x-request-id', requestId)
  // Not `once`, which makes two more objects: a response closes once.
  response.on('close', () => visit.end())
  visit.atEnd(() => {
    const { organisation, person, span, error } = visit
    const { statusCode: status, writableFinished } = response
    metrics.http.ended()
    span?.end({
      route,
      status,
      organisationId: organisation?.id,
      code: error?.code ?? (writableFinished ? undefined : 'client_closed'),
    })
    if (writableFinished) {
      const durationMs = performance.now() - startedMs
      metrics.http.answered(method, route, status, durationMs)
      logRequest(log, {
        requestId,
        method,
        route,
        path: url === undefined ? unknownRoutes.loggable(raw.url!) : undefined,
        status,
        durationMs,
        organisationId: organisation?.id,
        personId: person?.id,
        error,
        traceId: span?.traceId,
      })
    }
    ended(visit)
  })
}

/** Repeated headers are an array or joined, and then no valid value. */
function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function abortWhenGone(visit: Visit, { inFlight }: House): void {
  const remove = inFlight.add(visit)
  visit.atEnd(() => {
    remove()
    if (!visit.response.writableFinished)
      visit.signal.abort(new AppError('client_closed', 'The client has closed the connection.'))
  })
}

function assertReady(visit: Visit, { stop }: House): void {
  if (stop.isStopping) visit.header('connection', 'close')
  if (!stop.isRefusing || visit.route.auth === 'none' || visit.route.auth === 'own page') return
  throw new AppError('shutting_down', 'The service is stopping. Try again in a moment.', { retryAfterSeconds: 2 })
}

function identify(visit: Visit, { authenticators, publicUrl }: House): void | Promise<void> {
  const { auth } = visit.route
  if (auth === 'organisation') visit.organisation ??= authenticateOrganisation(visit, authenticators)
  else if (isOfVisits(auth)) visit.organisation = auth.visit(visit.request!)
  else if (typeof auth === 'object') return identifyPerson(visit, auth, { authenticators, publicUrl })
}

/** Counts the request until its response is closed. Throws if the process lacks something, or has too many requests of the organisation. */
function enterProcess(visit: Visit, { admission }: House): void {
  if (visit.organisation && admission) visit.atEnd(admission.enter(visit.organisation.id))
}

function enterLimits(visit: Visit, { limiter, slowBodies }: House): void {
  const { organisation, raw, route } = visit
  if (!organisation || route.limited === undefined) return
  // Where the body is JSON, its reader watches it.
  if (route.limited === 'upload') {
    visit.atEnd(slowBodies.watch(raw, organisation.id, (error) => visit.signal.abort(error)))
  }
  const { leave, rates } = limiter.enter(organisation, route.limited)
  visit.atEnd(leave)
  for (const rate of rates) visit.addHeaders(rateLimitHeaders(rate))
}

/** Before the body is read, so that the body of an unknown route is not parsed. */
function assertRoute(visit: Visit, { unknownRoutes }: House): void {
  if (visit.route.url === undefined) unknownRoutes.refuse(visit)
}

function assertOwnPage({ route, request }: Visit, { publicUrl }: House): void {
  if (!request) return
  if (route.auth === 'own page') assertSameSite(request, publicUrl)
  else if (route.auth === 'none' || isOfVisits(route.auth)) refuseOtherPages(request, publicUrl)
}

/** Counts the bytes of a JSON or CSV body until the response is closed. Bodies that stream have other bounds. */
function openAccount(visit: Visit, { budget }: House): void {
  const { maximumBodyBytes } = visit.route
  if (visit.declaredBytes > maximumBodyBytes) throw bodyTooLarge(maximumBodyBytes)
  const account = budget.open(visit.organisation?.id ?? 'operator')
  visit.account = account
  visit.atEnd(() => account.close())
  account.assertRoom(visit.declaredBytes)
}

export function bodyTooLarge(maximumBytes: number): AppError {
  return new AppError('request_too_large', `The request body must have at most ${maximumBytes} bytes.`)
}

/** The stop may have begun after the request. */
function closeAtStop(visit: Visit, { stop }: House): void {
  if (stop.isStopping) visit.header('connection', 'close')
}

/**
 * For complete responses; streams set their time limit in drain. The system has taken nearly every response at once; only the others need
 * one. Node.js clears it when the response is sent.
 */
function limitStalling({ response }: Visit, { stalledClientMs }: House): void {
  process.nextTick(() => {
    if (response.writableEnded && response.socket?.writableLength === 0) return
    response.setTimeout(stalledClientMs, () => response.destroy())
  })
}

/** Probes and the description of the routes: every process serves them. */
const everywhere = new Set(['/livez', '/readyz', '/openapi.json'])

/** The role whose processes serve a path, or the pattern of a route; null: every process. */
export function roleServing(path: string): 'gateway' | 'api' | null {
  if (everywhere.has(path)) return null
  return /^\/v[12]\/gateway(?:\/|$)/.test(path) ? 'gateway' : 'api'
}

/**
 * Throws `misdirected_request` for a path that processes with another role serve. The pattern of the route decides, so that an encoded path is
 * judged as the router reads it.
 */
function assertServed({ route, raw }: Visit, role: Role): void {
  if (role === 'all') return
  const serving = roleServing(route.url ?? raw.url!.split(/[?#]/, 1)[0]!)
  if (serving === null || serving === role) return
  throw new AppError(
    'misdirected_request',
    `This process has the role ${role}; processes with the role ${serving} serve this path. Send the request to one of them: the address or the load balancer in front is not set up for it.`,
  )
}

/** Throws AppError for a request that no route can handle, before its body is read. Looks at the raw headers, as their object is not always needed. */
function assertReadable({ raw, host, declaredBytes, request }: Visit): void {
  const { rawHeaders } = raw
  let stated: string | undefined
  let hosts = 0
  let isEncoded = false
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index]!
    if (length === 4 && rawHeaders[index]!.toLowerCase() === 'host') {
      hosts++
      stated = rawHeaders[index + 1]!
    } else if (length === 16 && rawHeaders[index]!.toLowerCase() === 'content-encoding') isEncoded = true
  }
  if (hosts === 0 && raw.httpVersion === '1.1')
    throw invalidField('host', 'An HTTP/1.1 request must have a host header.')
  if (hosts > 1 || !isHost(stated) || (host !== stated && !isHost(host))) {
    throw invalidField('host', 'The request must have one host header with a name and, if needed, a port.')
  }
  if (isEncoded && (declaredBytes > 0 || raw.headers['transfer-encoding'] !== undefined))
    assertPlain(raw.headers['content-encoding']!.trim())
  assertTexts(request?.query, 'invalid_request')
  assertTexts(request?.params, 'not_found')
}

function assertPlain(encoding: string) {
  if (encoding === '' || encoding.toLowerCase() === 'identity') return
  throw new AppError(
    'unsupported_media_type',
    `The content-encoding \`${encoding.slice(0, 40)}\` is not supported. Send the body without compression.`,
    { param: 'content-encoding' },
  )
}

/** A name or an address, and a port. It may be empty (RFC 9112, section 3.2). Addresses are made from it. */
export function isHost(text: string | undefined): boolean {
  if (!text || text === lastHost) return true
  if (!/^(?:[\w.-]+|\[[\d.:a-f]+\])(?::\d{1,5})?$/i.test(text) || !URL.canParse(`http://${text}`)) return false
  lastHost = text
  return true
}

/** The last valid one: nearly all requests state the same. */
let lastHost: string | undefined

function assertTexts(values: unknown, code: 'invalid_request' | 'not_found') {
  for (const [name, value] of Object.entries((values ?? {}) as Record<string, unknown>)) assertText(name, value, code)
}

/** U+0000 and lone surrogates cannot be stored, so no stored name contains them. */
function assertText(name: string, value: unknown, code: 'invalid_request' | 'not_found') {
  const text = name + String(value)
  if (!text.includes('\u0000') && text.isWellFormed()) return
  const param = name.toWellFormed().replaceAll('\u0000', '').slice(0, 60)
  const message =
    code === 'not_found'
      ? `There is nothing with this \`${param}\`.`
      : `\`${param}\` must be valid Unicode without the character U+0000.`
  throw new AppError(code, message, { param })
}

/** The API page needs its scripts and styles, images in its style sheet, and calls of this API. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
/** API responses are not pages. */
const apiPolicy = "default-src 'none'; frame-ancestors 'none'"

/** Headers for browsers, on every response. Caches must not store responses, except for the public API page. */
function addSecurityHeaders(visit: Visit): void {
  const isPage = /^\/docs(?:[/?#]|$)/.test(visit.raw.url!)
  visit.header('x-content-type-options', 'nosniff')
  visit.header('x-frame-options', 'DENY')
  visit.header('referrer-policy', 'no-referrer')
  visit.header('content-security-policy', isPage ? pagePolicy : apiPolicy)
  if (!isPage) visit.header('cache-control', 'no-store')
}
