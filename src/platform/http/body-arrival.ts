import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { AppError, Bag, Turns } from '../kernel/index.ts'

/**
 * How the bytes of a body arrive: after the status 100 (continue), not too slowly (slow bodies), a few connections at a time where nobody
 * waits for them (slow reads), and for a bounded time after a rejection (discard).
 */

/**
 * `Expect: 100-continue`: the client sends its body when it has received the status 100. Node.js sends it at once; this server sends it
 * when nothing is left to check without the body, so that a client without a valid key sends none.
 */

/** Requests whose client has not received the status 100. */
const waiting = new WeakSet<IncomingMessage>()

export function deferContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    waiting.add(request)
    server.emit('request', request, response)
  })
}

/** Lets a client that waits send its body. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue()
}

/** True if the client still waits with its body, as far as this server has seen. */
function waitsForContinue(request: IncomingMessage): boolean {
  return waiting.has(request) && request.readableLength === 0
}

/** Slowest client whose body is read after the first time: 64 kbit/s. */
const minimumBytesPerSecond = 8 * 1024

const checkMs = 250
/** Slower bodies are read in turns. */
const slowBytesPerSecond = 16 * 1024

interface Watched {
  request: IncomingMessage
  owner: string
  startedMs: number
  /** Of the connection, when the body began. */
  bytesBefore: number
  fail: (error: AppError) => void
}

/**
 * Ends bodies that arrive too slowly, because they hold a part of the budget for bodies, a connection and one of their organisation's
 * requests. A body has `slowBodyMs`, and a second more for each 8 KiB that has arrived.
 */
export function createSlowBodies(slowBodyMs: number, reads: Pick<SlowReads, 'add'> = slowReads) {
  const watched = new Bag<Watched>()
  let timer: NodeJS.Timeout | undefined

  function check() {
    const nowMs = performance.now()
    watched.removeIf(({ request, owner, startedMs, bytesBefore, fail }) => {
      // The whole body has arrived, or bytes wait to be read: the service is slower than the client.
      if (request.complete || request.readableLength > 0) return false
      const bytes = request.socket.bytesRead - bytesBefore
      const elapsedMs = nowMs - startedMs
      if (elapsedMs >= checkMs && bytes < (slowBytesPerSecond * elapsedMs) / 1_000) reads.add(request, owner)
      if (elapsedMs <= slowBodyMs + (bytes / minimumBytesPerSecond) * 1_000) return false
      fail(new AppError('request_timeout', 'The body of the request arrived too slowly. Send it again.'))
      return true
    })
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** Calls `fail` if the body is too slow before the returned function was called. */
    watch(request: IncomingMessage, owner: string, fail: (error: AppError) => void): () => void {
      if (!timer) timer = setInterval(check, Math.min(checkMs, slowBodyMs)).unref()
      const { bytesRead: bytesBefore } = request.socket
      return watched.add({ request, owner, startedMs: performance.now(), bytesBefore, fail })
    },
  }
}

export type SlowBodies = ReturnType<typeof createSlowBodies>

const tickMs = 20
/** Bodies that are read in a tick. More of them cause more events than a turn of the event loop should have. */
const bodiesPerTick = 8
/**
 * Of all bodies in a tick: 25 MB/s. Each chunk is new memory, and its collection delays all requests: without a bound, an organisation that
 * sends large bodies after their rejection makes the process collect all the time.
 */
const bytesPerTick = 512 * 1024

/**
 * Reads bodies that nobody waits for, or that arrive byte by byte, a few at a time; their organisations take turns. What arrives while a
 * connection waits is read at once in its next turn. Up to eight small bodies are read without a pause.
 */
export class SlowReads {
  readonly #waiting = new Turns<IncomingMessage>()
  /** Those whose connections are read now. */
  readonly #flowing = new Set<IncomingMessage>()
  readonly #owners = new Map<IncomingMessage, string>()
  #bytesLeft = bytesPerTick
  #timer: NodeJS.Timeout | undefined

  /** Until the body has arrived or the request closes. */
  add(request: IncomingMessage, owner: string): void {
    if (this.#owners.has(request)) return
    this.#timer ??= setInterval(this.#tick, tickMs).unref()
    this.#owners.set(request, owner)
    request.once('close', () => this.#remove(request))
    this.#flowing.add(request)
    if (this.#flowing.size > bodiesPerTick || this.#bytesLeft <= 0) this.#stop(request)
  }

  #remove(request: IncomingMessage): void {
    const owner = this.#owners.get(request)
    if (owner === undefined) return
    this.#owners.delete(request)
    if (!this.#flowing.delete(request)) this.#waiting.remove(owner, request)
    // For the next request of the connection.
    request.socket.resume()
    if (this.#owners.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#bytesLeft = bytesPerTick
  }

  /** Counts bytes of a body that were read and discarded. */
  count(bytes: number): void {
    const hadBytes = this.#bytesLeft > 0
    this.#bytesLeft -= bytes
    if (hadBytes && this.#bytesLeft <= 0) for (const request of this.#flowing) this.#stop(request)
  }

  #stop(request: IncomingMessage): void {
    this.#flowing.delete(request)
    this.#waiting.add(this.#owners.get(request)!, request)
    // After this phase: until then Node.js continues a connection whose chunk was taken.
    setImmediate(() => {
      if (this.#owners.has(request) && !this.#flowing.has(request)) request.socket.pause()
    })
  }

  #tick = (): void => {
    this.#bytesLeft = bytesPerTick
    if (this.#owners.size > bodiesPerTick) for (const request of this.#flowing) this.#stop(request)
    while (this.#flowing.size < bodiesPerTick) {
      const next = this.#waiting.takeNext()
      if (!next) return
      const request = next.item
      this.#flowing.add(request)
      if (request.complete) this.#remove(request)
      // Its reader may have paused it.
      else if (request.readableLength === 0) request.socket.resume()
    }
  }
}

/** There is one event loop in a thread, so it is not an argument. */
const slowReads = new SlowReads()

/** Longest time for the rest of a rejected request's body, so that its client receives the response instead of a reset. */
const discardMs = 30_000

/**
 * Reads and discards the rest of a rejected request's body for a bounded time. The response is sent at once, but the connection stays
 * open, even if the client requested to close it: closing it while the client sends would reset it before the client reads the response.
 * `owner`: its organisation. `closes`: the response would close the connection, which is then closed after the rest. False: there is no rest.
 */
export function discardBody(
  request: IncomingMessage,
  response: ServerResponse,
  { owner, closes }: { owner: string; closes: boolean },
): boolean {
  // Without the status 100 there will be no body, and Node.js closes the connection.
  if (request.complete || request.destroyed || waitsForContinue(request)) return false
  const { socket } = request
  const closeAfterwards = !response.shouldKeepAlive || closes
  response.shouldKeepAlive = true
  request.on('data', (chunk: Buffer) => slowReads.count(chunk.length))
  request.resume()
  slowReads.add(request, owner)
  const timer = setTimeout(() => socket.destroy(), discardMs)
  timer.unref()
  request.once('close', () => {
    clearTimeout(timer)
    if (closeAfterwards) socket.destroySoon()
  })
  return true
}
