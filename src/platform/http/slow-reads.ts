import type { IncomingMessage } from 'node:http'
import { Turns } from '../kernel/index.ts'

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
export const slowReads = new SlowReads()
