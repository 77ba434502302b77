import type { FastifyReply, FastifyRequest } from 'fastify'
import { anySignal, type RequestId } from '../kernel/index.ts'
import { jsonType, Visit } from './visit.ts'
import { type EventStream, startEventStream } from './event-stream.ts'
import type { Caller } from './caller.ts'
import type { App } from './route.ts'

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

/** What routes find in requests: see route.ts. */
export function decorateRequests(app: App): void {
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
