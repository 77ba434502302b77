import type { Dispatcher } from 'undici'
import { type EndSignal, loopTurn, runInTurn } from '../../platform/kernel/index.ts'
import { transportFailure } from './transport-failure.ts'
import { failure } from './wire-failure.ts'

/**
 * Bytes and reads that one step of the reader gets: less than a slice of small events. A stream that has waited for its turn has much more, and
 * other organisations would wait for all of it.
 */
const stepBytes = 4 * 1024
const stepReads = 32
/** Bytes that wait for the reader before the socket is paused; then the event loop reads no more of it than the reader takes. */
const maximumWaitingBytes = 32 * 1024

interface IncomingOptions {
  /** The organisation whose turns of the event loop the reads take. */
  owner: string
  signal: EndSignal
  /** Upper bound on the body, in bytes on the wire. */
  maximumBytes: number
  /** Called once, when the exchange no longer uses its connection. */
  onClosed: () => void
}

/** The receiving half of an exchange: a queue of bytes, followed by the end or a failure. Iterated once. */
export class IncomingBody implements AsyncIterable<Uint8Array[]> {
  readonly #options: IncomingOptions
  readonly #onFailureBeforeAnswer: (error: Error) => void
  readonly #onAbort: () => void
  #controller: Dispatcher.DispatchController | undefined
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #totalBytes = 0
  #answered = false
  #closed = false
  #isWhole = false
  #failed: Error | undefined
  #wake: (() => void) | undefined

  /** `onFailureBeforeAnswer` is called with a failure that comes before status and headers. */
  constructor(options: IncomingOptions, onFailureBeforeAnswer: (error: Error) => void) {
    this.#options = options
    this.#onFailureBeforeAnswer = onFailureBeforeAnswer
    this.#onAbort = () => this.fail(options.signal.reason)
    options.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  started(controller: Dispatcher.DispatchController) {
    this.#controller = controller
    // Cancelled while the request waited for a connection.
    if (this.#closed) controller.abort(this.#failed ?? new Error('cancelled'))
  }

  /** Status and headers are in. */
  answered() {
    this.#answered = true
  }

  take(controller: Dispatcher.DispatchController, bytes: Uint8Array) {
    if (this.#closed) return
    const { maximumBytes } = this.#options
    this.#totalBytes += bytes.length
    if (this.#totalBytes > maximumBytes) {
      const message = `The provider's answer is larger than ${maximumBytes} bytes.`
      return this.fail(failure('connection', message, { afterFirstByte: true }))
    }
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#isWhole) return
    if (this.#waitingBytes > maximumWaitingBytes && !controller.paused) controller.pause()
    this.#wake?.()
  }

  end() {
    if (this.#closed) return
    this.#closed = true
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#wake?.()
    this.#options.onClosed()
  }

  fail(error: unknown) {
    if (this.#closed) return
    const { signal } = this.#options
    this.#failed = transportFailure(error, { signal, answered: this.#answered })
    this.#controller?.abort(this.#failed)
    if (!this.#answered) this.#onFailureBeforeAnswer(this.#failed)
    this.end()
  }

  /** Closes the socket of an answer that is no longer read. */
  abandon() {
    if (this.#closed) return
    this.#failed = failure('cancelled', 'The answer is no longer read.', { afterFirstByte: this.#answered })
    this.#controller?.abort(this.#failed)
    this.end()
  }

  /** All bytes, when the body has ended: instead of an iteration. */
  whole(): Promise<Uint8Array> {
    this.#isWhole = true
    if (this.#controller?.paused) this.#controller.resume()
    return new Promise((resolve, reject) => {
      const handOver = () => {
        if (this.#failed) reject(this.#failed)
        else resolve(joinBytes(this.#waiting))
      }
      const end = () => runInTurn(this.#options.owner, handOver)
      if (this.#closed) end()
      else this.#wake = end
    })
  }

  /** Not a generator, whose `yield` takes two more turns of the microtask queue. Stopping early closes the socket. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array[], undefined> {
    return {
      next: () => this.#next(),
      return: () => {
        this.abandon()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  async #next(): Promise<IteratorResult<Uint8Array[], undefined>> {
    while (this.#waiting.length === 0 && !this.#closed) await new Promise<void>((resolve) => (this.#wake = resolve))
    const turn = loopTurn(this.#options.owner)
    if (turn) {
      // Reads of a thousand streams would take most of each turn of the event loop, before the steps that share its slice.
      if (!this.#closed && !this.#controller?.paused) this.#controller?.pause()
      await turn
    }
    if (this.#waiting.length > 0) {
      const bytes = this.#takeStep()
      if (this.#waiting.length === 0 && this.#controller?.paused) this.#controller.resume()
      return { done: false, value: bytes }
    }
    if (this.#failed) throw this.#failed
    return { done: true, value: undefined }
  }

  /** Removes the first of the waiting bytes. */
  #takeStep(): Uint8Array[] {
    const waiting = this.#waiting
    if (this.#waitingBytes <= stepBytes && waiting.length <= stepReads) {
      this.#waiting = []
      this.#waitingBytes = 0
      return waiting
    }
    const first = waiting[0]!
    if (first.length > stepBytes) {
      waiting[0] = first.subarray(stepBytes)
      this.#waitingBytes -= stepBytes
      return [first.subarray(0, stepBytes)]
    }
    let bytes = 0
    let reads = 0
    while (reads < Math.min(waiting.length, stepReads) && bytes < stepBytes) bytes += waiting[reads++]!.length
    this.#waitingBytes -= bytes
    return waiting.splice(0, reads)
  }
}

export const joinBytes = (parts: readonly Uint8Array[]) => (parts.length === 1 ? parts[0]! : Buffer.concat(parts))
