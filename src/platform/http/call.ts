import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestId } from '../kernel/index.ts'
import type { EventStream } from './event-stream.ts'
import type { Caller } from './caller.ts'
import type { Visit } from './visit.ts'

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
  readonly signal: AbortSignal
  header(name: string, value: string): void
  /** A header of the request, by its name in lower case; several are joined. */
  requestHeader(name: string): string | undefined
  /** Sends status 200 and this JSON. */
  sendJson(json: string): void
  /** Sends status 200 and begins a stream of server-sent events without heartbeats. */
  startEvents(): EventStream
}

/** Answers a call. A rejection becomes the error of the response. */
export type CallHandler = (call: Call) => Promise<void>

/** The handler of a route of Fastify. */
export function answerCall(handle: CallHandler) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    await handle(toCall(request.visit, request.body))
    return reply as never
  }
}

export function toCall(visit: Visit, body: unknown): Call {
  return {
    requestId: visit.requestId,
    organisation: visit.organisation!,
    body,
    signal: visit.signal,
    header: (name, value) => visit.header(name, value),
    requestHeader: (name) => joined(visit.raw.headers[name]),
    sendJson: (json) => visit.sendJson(200, json),
    startEvents: () => visit.startEvents(),
  }
}

const joined = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(', ') : value)

export const jsonType = 'application/json; charset=utf-8'
