import { AppError, type Log, type Role, type Telemetry } from '../kernel/index.ts'
import type { Admission } from './admission.ts'
import { type Authenticators, authenticateOrganisation } from './authentication.ts'
import { assertRoleInOrganisation, assertSameSite, identifyPerson, refuseOtherPages } from './authorisation.ts'
import type { BodyBudget } from './body-budget.ts'
import { rateLimitHeaders } from './error-renderer.ts'
import { sendContinue } from './expect-continue.ts'
import type { Metrics } from './metrics.ts'
import { assertReadable } from './readable-request.ts'
import { isOfVisits } from './route-access.ts'
import { logRequest } from './request-log.ts'
import { assertServed } from './role-guard.ts'
import type { RequestLimiter } from './route.ts'
import { addSecurityHeaders } from './security-headers.ts'
import type { SlowBodies } from './slow-bodies.ts'
import type { UnknownRoutes } from './unknown-routes.ts'
import type { Visit } from './visit.ts'

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
  inFlight: Set<Visit>
  stalledClientMs: number
  isStopping: () => boolean
  isRefusing: () => boolean
  publicUrl: string | undefined
  /** Called when a response has ended. */
  ended: () => void
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
  response.once('close', () => visit.end())
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
    ended()
  })
}

/** Repeated headers are an array or joined, and then no valid value. */
function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function abortWhenGone(visit: Visit, { inFlight }: House): void {
  inFlight.add(visit)
  visit.atEnd(() => {
    inFlight.delete(visit)
    if (!visit.response.writableFinished)
      visit.cancel(new AppError('client_closed', 'The client has closed the connection.'))
  })
}

function assertReady(visit: Visit, { isStopping, isRefusing }: House): void {
  if (isStopping()) visit.header('connection', 'close')
  if (!isRefusing() || visit.route.auth === 'none' || visit.route.auth === 'own page') return
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
    slowBodies.watch(raw, organisation.id, (error) => visit.cancel(error))
    visit.atEnd(() => slowBodies.unwatch(raw))
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
function closeAtStop(visit: Visit, { isStopping }: House): void {
  if (isStopping()) visit.header('connection', 'close')
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
