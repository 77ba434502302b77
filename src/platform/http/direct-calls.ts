import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BodyReader } from '../bodies/index.ts'
import { createRequestId, type Log } from '../kernel/index.ts'
import { type Admit, isHost } from './admit.ts'
import { type CallHandler, jsonType, Visit, VisitCall, type VisitedRoute } from './visit.ts'
import { type EventStream, startEventStreamOn } from './event-stream.ts'
import { type Bodies, hasArrived } from './read-bodies.ts'
import type { Caller } from './caller.ts'

/**
 * Answers requests of the usual form to a route with `config.direct` without Fastify, which takes a fifth of the processor time of a
 * plain completion (docs/decisions/0091-direct-calls.md). The steps are those of every request (admit.ts); a test compares the responses of both ways.
 */

interface DirectDependencies {
  admit: Admit
  bodies: Bodies
  stalledClientMs: number
  log: Log
}

export interface DirectTarget {
  route: VisitedRoute
  body: BodyReader
  handle: CallHandler
}

/** A request is answered with the target of its address. False: it has another form, and nothing was done. `organisation`: of its key. */
export function createDirectCalls(dependencies: DirectDependencies) {
  return (
    target: DirectTarget,
    {
      raw,
      response,
      organisation,
    }: { raw: IncomingMessage; response: ServerResponse; organisation: Caller | undefined },
  ): boolean => {
    const declaredBytes = raw.method === 'POST' && raw.httpVersion === '1.1' ? usualBodyBytes(raw.rawHeaders) : 0
    if (declaredBytes === 0) return false
    const call = new DirectCall(dependencies, target, { raw, response, declaredBytes })
    call.organisation = organisation
    call.answer()
    return true
  }
}

const usualTypes = new Set(['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-8'])
/** Lengths of the names that change how a request is read. */
const specialLengths = new Set([12, 14, 16, 17])

/** Declared bytes of a JSON body; 0: the request has another form. Looks at the raw headers, as their object is not needed. */
function usualBodyBytes(rawHeaders: readonly string[]): number {
  let bytes = 0
  let isJson = false
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (!specialLengths.has(rawHeaders[index]!.length)) continue
    const name = rawHeaders[index]!.toLowerCase()
    const value = rawHeaders[index + 1]!
    if (name === 'content-type') {
      if (isJson || !usualTypes.has(value)) return 0
      isJson = true
    } else if (name === 'content-length') {
      if (bytes !== 0 || !/^\d{1,9}$/.test(value)) return 0
      bytes = Number(value)
    } else if (name === 'content-encoding' || name === 'transfer-encoding') return 0
    // Of a proxy, which may be a trusted one.
    else if (name === 'x-forwarded-host' && !isHost(value)) return 0
  }
  return isJson ? bytes : 0
}

class DirectCall extends Visit {
  readonly request = undefined
  readonly host = undefined
  readonly #dependencies: DirectDependencies
  readonly #target: DirectTarget
  readonly #headers: Record<string, string> = {}
  #isReading = false

  constructor(
    dependencies: DirectDependencies,
    target: DirectTarget,
    arrived: { raw: IncomingMessage; response: ServerResponse; declaredBytes: number },
  ) {
    super({ ...arrived, requestId: createRequestId(), route: target.route })
    this.#dependencies = dependencies
    this.#target = target
  }

  /** Never throws. Callbacks instead of an async function, whose state would be alive for as long as the call. */
  answer(): void {
    const { admit, bodies } = this.#dependencies
    const { body: reader } = this.#target
    try {
      void admit('arrival', this)
      this.#isReading = true
      if (hasArrived(this)) this.#handle(bodies.readArrived(this, reader))
      else
        bodies
          .read(this, this.raw, { reader, format: 'json' })
          .then((body) => this.#handle(body))
          .catch((error: unknown) => this.#fail(error))
    } catch (error) {
      this.#fail(error)
    }
  }

  #handle(body: unknown): void {
    this.#isReading = false
    const waiting = this.#dependencies.admit('handler', this)
    const handled = waiting ? waiting.then(() => this.#run(body)) : this.#run(body)
    handled.catch((error: unknown) => this.#fail(error))
  }

  #run(body: unknown): Promise<void> {
    return this.run(() => this.#target.handle(new VisitCall(this, body)))
  }

  #fail(error: unknown): void {
    // As after a parser error in Fastify.
    if (this.#isReading) this.header('connection', 'close')
    if (this.response.headersSent && !this.response.destroyed) this.response.destroy()
    this.refuse(error, this.#dependencies.log)
  }

  header(name: string, value: string): void {
    this.#headers[name] = value
  }

  closes(): boolean {
    return this.#headers.connection !== undefined
  }

  keepOpen(): void {
    delete this.#headers.connection
  }

  sendJson(status: number, json: string): void {
    const { response } = this
    if (response.destroyed) return
    void this.#dependencies.admit('answer', this)
    this.header('content-type', jsonType)
    this.header('content-length', String(Buffer.byteLength(json)))
    response.writeHead(status, this.#headers)
    response.end(json)
  }

  startEvents(): EventStream {
    const { stalledClientMs } = this.#dependencies
    return startEventStreamOn({ raw: this.response, headers: this.#headers, stalledClientMs }, this.signal, {
      heartbeat: null,
    })
  }
}
