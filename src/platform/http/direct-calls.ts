import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  AppError,
  type BodyReader,
  createRequestId,
  type Log,
  loopTurn,
  type RequestId,
  type RequestSpan,
  runForOrganisation,
  type Telemetry,
} from '../kernel/index.ts'
import type { Admission } from './admission.ts'
import { ArrivingBody, shareReading } from './arriving-body.ts'
import type { BodyAccount, BodyBudget } from './body-budget.ts'
import { type Call, jsonType } from './call.ts'
import { discardBody } from './discard-body.ts'
import { rateLimitHeaders, toAppError } from './error-renderer.ts'
import { errorResponse } from './error-shapes.ts'
import { type EventStream, startEventStreamOn } from './event-stream.ts'
import { sendContinue } from './expect-continue.ts'
import type { Metrics } from './metrics.ts'
import { isHost } from './readable-request.ts'
import type { Bodies } from './read-bodies.ts'
import { logFailure, logRequest } from './request-log.ts'
import type { Caller, DirectRoute, RequestLimiter } from './route.ts'
import { apiHeaders } from './security-headers.ts'
import type { SlowBodies } from './slow-bodies.ts'
import { traceparentOf } from './trace-requests.ts'

/**
 * Answers requests of the usual form to a route with `config.direct` without Fastify, which takes a fifth of the processor time of a
 * plain completion (docs/decisions/0091-direct-calls.md). Everything else, and what is refused before its limits are entered, is left to the same route
 * in Fastify. From there on the steps are those of the hooks in server.ts; a test compares the responses of both ways.
 */

export interface DirectDependencies {
  limiter: RequestLimiter
  admission?: Admission | undefined
  metrics: Metrics
  telemetry?: Telemetry | null
  log: Log
  budget: BodyBudget
  slowBodies: SlowBodies
  bodies: Bodies
  /** The running requests; the stop of the service aborts them. */
  inFlight: Set<AbortController>
  maximumJsonBytes: number
  stalledClientMs: number
  isStopping: () => boolean
  isRefusing: () => boolean
  /** Called when a response has ended. */
  ended: () => void
}

interface Target extends DirectRoute {
  url: string
  body: BodyReader
}

export type DirectCalls = ReturnType<typeof createDirectCalls>

export function createDirectCalls(dependencies: DirectDependencies) {
  const targets = new Map<string, Target>()
  const { maximumJsonBytes, isStopping, isRefusing } = dependencies

  /** Without access the route in Fastify answers. */
  function hasAccess(organisation: Caller, { assertAccess }: Target): boolean {
    try {
      assertAccess(organisation)
      return true
    } catch {
      return false
    }
  }

  return {
    add(target: Target): void {
      targets.set(target.url, target)
    },
    /** False: nothing was done. `organisation`: of the request's key. */
    take(request: IncomingMessage, response: ServerResponse, organisation: Caller | undefined): boolean {
      if (!organisation || request.method !== 'POST' || isStopping() || isRefusing()) return false
      const target = targets.get(request.url!)
      if (!target || request.httpVersion !== '1.1') return false
      const declaredBytes = usualBodyBytes(request.rawHeaders)
      if (declaredBytes === 0 || declaredBytes > maximumJsonBytes) return false
      if (!hasAccess(organisation, target)) return false
      new DirectCall(dependencies, target, organisation, request, response).begin(declaredBytes)
      return true
    },
  }
}

const usualTypes = new Set(['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-8'])
/** Names that change how a request is read, by their length. */
const specialNames = new Map([
  [4, 'host'],
  [12, 'content-type'],
  [14, 'content-length'],
  [16, 'content-encoding'],
  [17, 'transfer-encoding'],
])

/** Declared bytes of a JSON body; 0: the request has another form. Looks at the raw headers, as their object is not needed. */
function usualBodyBytes(rawHeaders: readonly string[]): number {
  let bytes = 0
  let isJson = false
  let hasHost = false
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    const special = specialNames.get(name.length)
    if (special === undefined || name.toLowerCase() !== special) continue
    const value = rawHeaders[index + 1]!
    if (special === 'host' && !hasHost && isHost(value)) hasHost = true
    else if (special === 'content-type' && !isJson && usualTypes.has(value)) isJson = true
    else if (special === 'content-length' && bytes === 0 && /^\d{1,9}$/.test(value)) bytes = Number(value)
    else return 0
  }
  return isJson && hasHost ? bytes : 0
}

class DirectCall implements Call {
  readonly requestId: RequestId = createRequestId()
  readonly organisation: Caller
  readonly signal: AbortSignal
  body: unknown = undefined
  readonly #dependencies: DirectDependencies
  readonly #target: Target
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #gone = new AbortController()
  readonly #startedMs = performance.now()
  /** Names and values in turn. */
  readonly #headers: string[]
  #account: BodyAccount | undefined
  #leaveAdmission: (() => void) | undefined
  #leaveLimits: (() => void) | undefined
  readonly #arriving: ArrivingBody
  #isRefused = false
  #error: AppError | undefined
  readonly #span: RequestSpan | undefined

  constructor(
    dependencies: DirectDependencies,
    target: Target,
    organisation: Caller,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#dependencies = dependencies
    this.#target = target
    this.organisation = organisation
    this.#request = request
    this.#response = response
    this.#arriving = new ArrivingBody(target.body)
    this.signal = this.#gone.signal
    this.#headers = ['x-request-id', this.requestId, ...apiHeaders]
    this.#span = dependencies.telemetry?.request({
      method: 'POST',
      requestId: this.requestId,
      traceparent: traceparentOf(request.headers.traceparent),
    })
  }

  /** Enters the limits and begins to read the body. */
  begin(declaredBytes: number): void {
    const { metrics, inFlight, admission, limiter, budget, slowBodies } = this.#dependencies
    const { id } = this.organisation
    metrics.http.started()
    inFlight.add(this.#gone)
    this.#response.once('close', () => this.#end())
    try {
      this.#leaveAdmission = admission?.enter(id)
      const { leave, rates } = limiter.enter(this.organisation, 'call')
      this.#leaveLimits = leave
      for (const rate of rates) this.#addHeaders(rateLimitHeaders(rate))
    } catch (error) {
      return this.#fail(error)
    }
    this.#account = budget.open(id)
    try {
      this.#account.assertRoom(declaredBytes)
    } catch (error) {
      return this.#failBody(error)
    }
    sendContinue(this.#request, this.#response)
    slowBodies.watch(this.#request, id, (error) => this.#failBody(error))
    this.#request.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#request.once('end', () => this.#arrived())
  }

  header(name: string, value: string): void {
    const headers = this.#headers
    for (let index = 0; index < headers.length; index += 2) {
      if (headers[index] === name) return void (headers[index + 1] = value)
    }
    headers.push(name, value)
  }

  sendJson(json: string): void {
    this.#send(200, json)
  }

  startEvents(): EventStream {
    const { stalledClientMs } = this.#dependencies
    return startEventStreamOn({ raw: this.#response, headers: this.#headers, stalledClientMs }, this.signal, {
      heartbeat: null,
    })
  }

  #addHeaders(headers: Record<string, string>) {
    for (const name in headers) this.header(name, headers[name]!)
  }

  #take(chunk: Buffer) {
    if (this.#isRefused) return
    try {
      this.#account!.take(chunk.length)
      this.#arriving.push(chunk)
      shareReading(this.#request, this.#arriving, this.organisation.id)
    } catch (error) {
      this.#failBody(error)
    }
  }

  /** The body has arrived. */
  #arrived() {
    const turn = loopTurn(this.organisation.id)
    if (turn) void turn.then(() => this.#answer())
    else this.#answer()
  }

  #answer() {
    if (this.#isRefused) return
    this.#dependencies.slowBodies.unwatch(this.#request)
    try {
      const body = this.#readBody()
      if (!(body instanceof Promise)) return this.#handle(body)
      body.then(
        (read) => this.#handle(read),
        (error: unknown) => this.#failBody(error),
      )
    } catch (error) {
      this.#failBody(error)
    }
  }

  #readBody(): unknown {
    const body = this.#arriving.finish()
    if (body !== undefined) return body
    const bytes = this.#arriving.join()
    return bytes instanceof Promise ? bytes.then((joined) => this.#read(joined)) : this.#read(bytes)
  }

  #read(bytes: Buffer): unknown {
    return this.#dependencies.bodies.read(bytes, this.#target.body, 'json', this.organisation.id, this.signal)
  }

  #handle(body: unknown) {
    this.body = body
    const { handle } = this.#target
    const handleForIt = () => runForOrganisation(this.organisation.id, () => handle(this))
    const handling = this.#span ? this.#span.run(handleForIt) : handleForIt()
    handling.catch((error: unknown) => this.#fail(error))
  }

  /** As after a parser error in Fastify, the response closes the connection. */
  #failBody(thrown: unknown) {
    this.#fail(thrown, true)
  }

  #fail(thrown: unknown, closes = this.#dependencies.isStopping()) {
    const { log, slowBodies } = this.#dependencies
    const response = this.#response
    this.#isRefused = true
    this.#arriving.forget()
    slowBodies.unwatch(this.#request)
    const error = toAppError(thrown)
    this.#error = error
    logFailure(log, this.requestId, error)
    if (response.destroyed) return
    if (response.headersSent) return void response.destroy()
    const isDiscarding = discardBody(this.#request, response, { owner: this.organisation.id, closes })
    if (!isDiscarding && closes) this.header('connection', 'close')
    const { status, headers, body } = errorResponse(error, { url: this.#target.url, requestId: this.requestId })
    this.#addHeaders(headers)
    this.#send(status, JSON.stringify(body))
  }

  #send(status: number, json: string) {
    const { stalledClientMs, isStopping } = this.#dependencies
    const response = this.#response
    const headers = this.#headers
    headers.push('cache-control', 'no-store', 'content-type', jsonType)
    headers.push('content-length', String(Buffer.byteLength(json)))
    // The stop may have begun after the request.
    if (isStopping()) this.header('connection', 'close')
    response.writeHead(status, headers)
    response.end(json)
    // The system has taken nearly every response at once; only the others need a time limit. Node.js clears it when the response is sent.
    if (response.socket?.writableLength !== 0) response.setTimeout(stalledClientMs, () => response.destroy())
  }

  /** The response is complete, or its connection was closed. */
  #end() {
    const { metrics, inFlight, slowBodies, log, ended } = this.#dependencies
    const response = this.#response
    metrics.http.ended()
    inFlight.delete(this.#gone)
    this.#leaveLimits?.()
    this.#leaveAdmission?.()
    slowBodies.unwatch(this.#request)
    this.#account?.close()
    this.#span?.end({
      route: this.#target.url,
      status: response.statusCode,
      organisationId: this.organisation.id,
      code: this.#error?.code ?? (response.writableFinished ? undefined : 'client_closed'),
    })
    if (response.writableFinished) {
      const { url } = this.#target
      const { statusCode: status } = response
      const durationMs = performance.now() - this.#startedMs
      const { requestId, organisation } = this
      metrics.http.answered('POST', url, status, durationMs)
      logRequest(log, {
        requestId,
        method: 'POST',
        route: url,
        status,
        durationMs,
        organisationId: organisation.id,
        error: this.#error,
        traceId: this.#span?.traceId,
      })
    } else {
      this.#isRefused = true
      this.#gone.abort(new AppError('client_closed', 'The client has closed the connection.'))
    }
    ended()
  }
}
