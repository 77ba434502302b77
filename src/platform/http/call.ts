import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestId } from '../kernel/index.ts'
import { type EventStream, startEventStream } from './event-stream.ts'
import type { Caller } from './route.ts'

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
    await handle({
      requestId: request.requestId,
      organisation: request.organisation,
      body: request.body,
      signal: request.clientSignal,
      header: (name, value) => void reply.header(name, value),
      // Text with this type is sent as it is.
      sendJson: (json) => void reply.header('content-type', jsonType).send(json as never),
      startEvents: () => startEventStream(reply, request.clientSignal, { heartbeat: null }),
    })
    return reply as never
  }
}

export const jsonType = 'application/json; charset=utf-8'
