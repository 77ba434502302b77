import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, type Clock } from '../kernel/index.ts'
import { unavailable } from './ledger-writer.ts'

/** Settlements are never rejected; the number of open holds bounds them. */
const maximumQueue = 1_000_000
/** How long a client waits for a write. Nothing may be shown without it, and the call may be sent again. */
export const writeDeadlineMs = 5_000
/**
 * How long a write that may wait shares a later flush: the hold of a call, whose provider works meanwhile. A killed process loses the
 * holds of about this time, of calls that nobody has got an answer to.
 */
const joinMs = 2
/** How often overdue writes are rejected. */
const expireEveryMs = 250
/** If a write takes longer, the store counts as unavailable and new calls are rejected at once. */
const stalledAfterMs = 3_000

/** A write that waits for its answer. */
export interface QueuedWrite {
  /** A client waits for it: after `writeDeadlineMs` it is rejected with 503. A settlement is never given up. */
  readonly mayExpire: boolean
  /** Nobody waits for it yet: it is written with the next write that may not wait, after `joinMs`, or on `hurry`. */
  readonly mayWait: boolean
  /** Its client has got the 503: it must not be written any more. Set by the queue, like the time. */
  isExpired: boolean
  /** Monotonic. */
  enqueuedMs: number
  reject(error: unknown): void
}

/** The part of a new write that belongs to the queue. */
export function queued(mayExpire: boolean, mayWait = false): Omit<QueuedWrite, 'reject'> {
  return { mayExpire, mayWait, isExpired: false, enqueuedMs: 0 }
}

export interface WriteQueueOptions<Write> {
  clock: Clock
  /** Most writes in one batch. */
  maximumBatch: number
  /** Makes the writes durable and answers each. The next batch starts when it ends. If it rejects, all of its writes are rejected. */
  flush(writes: readonly Write[]): Promise<void>
}

/**
 * The writes of the ledger in the order of their calls. A flush starts at the end of the turn of the event loop in which the first write came
 * or the previous flush ended, so a single write does not wait and many writes share one commit. Writes that may wait begin none for `joinMs`. docs/performance.md has the rates of single commits and batches.
 */
export class WriteQueue<Write extends QueuedWrite> {
  private readonly options: WriteQueueOptions<Write>
  private waiting: Write[] = []
  private inFlight: Write[] = []
  private running: Promise<void> | undefined
  private writingSinceMs: number | null = null
  /** The waiting writes are to be written now. */
  private isDue = false
  /** Of writes that wait for others; used again and again. */
  private joinTimer: NodeJS.Timeout | undefined
  private isJoinTimed = false
  private readonly stopExpiring: () => void

  constructor(options: WriteQueueOptions<Write>) {
    this.options = options
    this.stopExpiring = options.clock.every(expireEveryMs, () => this.expire())
  }

  add(write: Write): void {
    if (this.waiting.length >= maximumQueue) {
      write.reject(new AppError('overloaded', 'The service is busy. Try again shortly.', { retryAfterSeconds: 1 }))
      return
    }
    write.enqueuedMs = this.options.clock.monotonicMs()
    this.waiting.push(write)
    if (!write.mayWait) this.hurry()
    else if (!this.isJoinTimed) this.startJoinTimer()
  }

  /** Writes that wait for others to share their flush wait no longer. */
  hurry(): void {
    if (this.waiting.length === 0) return
    this.isDue = true
    this.running ??= this.run()
  }

  /** Writes that wait or are being written. */
  get size(): number {
    return this.waiting.length + this.inFlight.length
  }

  /** Resolves when nothing waits and nothing is being written. */
  async drained(): Promise<void> {
    this.hurry()
    await this.running
  }

  /** Runs one attempt to write, whose duration counts for `isStalled`. */
  async attempt(write: () => Promise<void>): Promise<void> {
    this.writingSinceMs = this.options.clock.monotonicMs()
    try {
      await write()
    } finally {
      this.writingSinceMs = null
    }
  }

  /** An attempt takes too long. */
  get isStalled(): boolean {
    const { writingSinceMs } = this
    return writingSinceMs !== null && this.options.clock.monotonicMs() - writingSinceMs > stalledAfterMs
  }

  /** No write expires afterwards. */
  close(): void {
    this.stopExpiring()
  }

  private async run(): Promise<void> {
    // After what the loop has read from sockets in this turn: its writes share the first batch. A single write does not wait for it.
    await nextTurn()
    while (this.isDue) {
      const { maximumBatch, flush } = this.options
      this.inFlight = this.waiting.splice(0, maximumBatch)
      this.isDue = this.waiting.length > 0
      this.isJoinTimed = false
      try {
        await flush(this.inFlight)
      } catch (error) {
        for (const write of this.inFlight) write.reject(error)
      }
      this.inFlight = []
      // The answers of this batch cause many of the next writes, which then share one batch too.
      await nextTurn()
    }
    this.running = undefined
  }

  private startJoinTimer(): void {
    this.isJoinTimed = true
    this.joinTimer =
      this.joinTimer?.refresh() ??
      setTimeout(() => {
        if (this.isJoinTimed) this.hurry()
      }, joinMs)
  }

  /** The rejection of a hold or of its growth releases what it reserved. */
  private expire(): void {
    const overdueMs = this.options.clock.monotonicMs() - writeDeadlineMs
    for (const writes of [this.inFlight, this.waiting]) {
      for (const write of writes) {
        if (write.enqueuedMs > overdueMs) return
        if (!write.mayExpire || write.isExpired) continue
        write.isExpired = true
        write.reject(unavailable())
      }
    }
  }
}
