import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  anySignal,
  AppError,
  CallEnd,
  describeError,
  type EndSignal,
  type Log,
  type RequestId,
  type RequestSpan,
  sharedOwner,
} from '../kernel/index.ts'
import { freeMemory } from '../bodies/index.ts'
import { discardBody } from './body-arrival.ts'
import type { Caller, LimitedKind, Person, RouteAuthentication } from './caller.ts'
import { errorResponse, statusOf, toAppError } from './error-renderer.ts'
import { type EventStream, startEventStream } from './event-stream.ts'
import type { BodyAccount } from './load.ts'

/** What the steps of a request read of its route. */
export interface VisitedRoute {
  /** As it is registered; undefined: there is no such route. */
  url: string | undefined
  auth: RouteAuthentication | undefined
  limited: LimitedKind | undefined
  longBody: boolean
  /** Throws if the organisation may not use the route. */
  access: ((organisation: Caller) => void) | undefined
  maximumBodyBytes: number
}

/** What the steps read of the request itself. */
interface Arrived {
  raw: IncomingMessage
  response: ServerResponse
  requestId: RequestId
  route: VisitedRoute
  /** Bytes of the body by its header; 0 if it states none. */
  declaredBytes: number
}

const keepsAccess = async () => {}

/**
 * One request, from its first step (admit.ts) to the end of its response. The subclasses know how it is answered: by Fastify, or directly
 * (direct-calls.ts).
 */
export abstract class Visit {
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: RequestId
  readonly route: VisitedRoute
  readonly declaredBytes: number
  readonly startedMs = performance.now()
  /** Of the API key, or the one for which a person acts. */
  organisation: Caller | undefined
  person: Person | undefined
  /** The organisation whose role gave the person access. */
  authorisedFor: string | undefined
  /** Throws if the person or the operator may no longer make the request. */
  checkAccess: () => Promise<void> = keepsAccess
  account: BodyAccount | undefined
  /** Of a long body whose texts stay bytes: what its `JsonText`s are in. */
  bodyChunks: readonly Buffer[] = []
  span: RequestSpan | undefined
  /** What the request failed with. */
  error: AppError | undefined
  /** Aborts when the client has left, or when the grace period of a stop is over. */
  readonly signal = new CallEnd()
  readonly #releases: (() => void)[] = []
  #hasEnded = false

  constructor({ raw, response, requestId, route, declaredBytes }: Arrived) {
    this.raw = raw
    this.response = response
    this.requestId = requestId
    this.route = route
    this.declaredBytes = declaredBytes
  }

  /** Undefined where the request is answered directly; its route is then of organisations, without parameters. */
  abstract readonly request: FastifyRequest | undefined
  /** The host that the client or a trusted proxy states. */
  abstract readonly host: string | undefined
  abstract header(name: string, value: string): void
  /** Whether the response is to close its connection. */
  abstract closes(): boolean
  /** Undoes the header that would close it. */
  abstract keepOpen(): void
  abstract sendJson(status: number, json: string): void
  abstract startEvents(): EventStream

  addHeaders(headers: Readonly<Record<string, string>>): void {
    for (const name in headers) this.header(name, headers[name]!)
  }

  /** Whose turns the work takes. What a person sees of several organisations takes the person's own; what has neither, those of `sharedOwner`. */
  get owner(): string {
    return this.organisation?.id ?? this.authorisedFor ?? this.person?.id ?? sharedOwner
  }

  /** `release` runs once, when the response has ended; the last one that was added runs first. */
  atEnd(release: () => void): void {
    if (this.#hasEnded) release()
    else this.#releases.push(release)
  }

  /** The response is complete, or its connection was closed. */
  end(): void {
    this.#hasEnded = true
    for (let release = this.#releases.pop(); release; release = this.#releases.pop()) release()
  }

  /** Spans of the work are below that of the request. */
  run<T>(work: () => T): T {
    return this.span ? this.span.run(work) : work()
  }

  /** Sends an error. The rest of the body is read for a while, so that the client receives it. */
  refuse(thrown: unknown, log: Log): void {
    const error = toAppError(thrown)
    this.error = error
    logFailure(log, this.requestId, error)
    const owner = this.organisation?.id ?? sharedOwner
    if (discardBody(this.raw, this.response, { owner, closes: this.closes() })) this.keepOpen()
    const { status, headers, body } = errorResponse(error, { url: this.raw.url!, requestId: this.requestId })
    this.addHeaders(headers)
    this.sendJson(status, JSON.stringify(body))
  }
}

/**
 * One request of an organisation and its answer, for handlers that run with and without Fastify (see direct-calls.ts). Headers are set
 * before `sendJson` or `startEvents`, one of which is called once.
 */
export interface Call {
  readonly requestId: RequestId
  readonly organisation: Caller
  /** What the route's BodyReader has read. */
  readonly body: unknown
  /** Aborts when the client has left, or when the grace period of a stop is over. */
  readonly signal: EndSignal
  header(name: string, value: string): void
  /** A header of the request, by its name in lower case; several are joined. */
  requestHeader(name: string): string | undefined
  /** Sends status 200 and this JSON. */
  sendJson(json: string): void
  /** Sends status 200 and begins a stream of server-sent events without heartbeats. */
  startEvents(): EventStream
  /** Frees the memory of a long body at once. Nothing may read its texts afterwards. */
  freeBody(): void
}

/** Answers a call. A rejection becomes the error of the response. */
export type CallHandler = (call: Call) => Promise<void>

/** The handler of a route of Fastify. */
export function answerCall(handle: CallHandler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    await handle(new VisitCall(request.visit, request.body))
    return reply as never
  }
}

export class VisitCall implements Call {
  readonly body: unknown
  readonly #visit: Visit

  constructor(visit: Visit, body: unknown) {
    this.#visit = visit
    this.body = body
  }

  get requestId() {
    return this.#visit.requestId
  }

  get organisation() {
    return this.#visit.organisation!
  }

  get signal() {
    return this.#visit.signal
  }

  header(name: string, value: string) {
    this.#visit.header(name, value)
  }

  requestHeader(name: string) {
    const value = this.#visit.raw.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  sendJson(json: string) {
    this.#visit.sendJson(200, json)
  }

  startEvents() {
    return this.#visit.startEvents()
  }

  freeBody() {
    freeMemory(this.#visit.bodyChunks)
  }
}

export const jsonType = 'application/json; charset=utf-8'

interface AnsweredRequest {
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

declare module 'fastify' {
  interface FastifyRequest {
    visit: FastifyVisit
  }
}

/** A request that Fastify answers. */
export class FastifyVisit extends Visit {
  readonly request: FastifyRequest
  readonly #reply: FastifyReply
  #clientSignal: AbortSignal | undefined

  constructor(request: FastifyRequest, reply: FastifyReply) {
    const { url, bodyLimit, config } = request.routeOptions
    const { auth, limited, longBody = false, access } = config
    super({
      raw: request.raw,
      response: reply.raw,
      requestId: request.id as RequestId,
      route: {
        url: request.is404 ? undefined : url,
        auth,
        limited,
        longBody,
        access,
        maximumBodyBytes: bodyLimit,
      },
      declaredBytes: Number(request.headers['content-length'] ?? 0),
    })
    this.request = request
    this.#reply = reply
  }

  get host(): string {
    return this.request.host
  }

  /** The signal for what needs one of the platform. */
  get clientSignal(): AbortSignal {
    return (this.#clientSignal ??= anySignal(this.signal))
  }

  header(name: string, value: string): void {
    this.#reply.header(name, value)
  }

  closes(): boolean {
    return this.#reply.hasHeader('connection')
  }

  keepOpen(): void {
    this.#reply.removeHeader('connection')
  }

  sendJson(status: number, json: string): void {
    // Text with this type is sent as it is.
    void this.#reply.code(status).header('content-type', jsonType).send(json)
  }

  startEvents(): EventStream {
    return startEventStream(this.#reply, this.signal, { heartbeat: null })
  }
}
