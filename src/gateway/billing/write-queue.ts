import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  AppError,
  type Clock,
  FairShares,
  noUsage,
  type OrganisationId,
  type RequestId,
  sharedOwner,
} from '../../platform/kernel/index.ts'
import type { Entry } from './ledger-rows.ts'
import { type SettleResult, unavailable } from './ledger-writer.ts'

/** Settlements are never rejected; the number of open holds bounds them. */
const maximumQueue = 1_000_000
/** Writes beyond which the disk or the database is too slow. No new call begins then, and none of an organisation with its share of them. */
const defaultMaximumWaiting = 5_000
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
  /** null: it concerns all. Every earlier write is written before it, and every later one after it. */
  readonly owner: OrganisationId | null
  /** A client waits for it: after `writeDeadlineMs` it is rejected with 503. A settlement is never given up, nor a hold written with it. */
  mayExpire: boolean
  /** Nobody waits for it yet: it is written with the next write that may not wait, after `joinMs`, or on `hurry`. */
  readonly mayWait: boolean
  /** Its client has got the 503: it must not be written any more. Set by the queue, like the time. */
  isExpired: boolean
  /** Monotonic. */
  enqueuedMs: number
  reject(error: unknown): void
}

/** The part of a new write that belongs to the queue. */
export function queued(owner: OrganisationId | null, mayExpire: boolean, mayWait = false): Omit<QueuedWrite, 'reject'> {
  return { owner, mayExpire, mayWait, isExpired: false, enqueuedMs: 0 }
}

interface WriteQueueOptions<Write> {
  clock: Clock
  /** Most writes in one batch. */
  maximumBatch: number
  maximumWaiting?: number | undefined
  /** Makes the writes durable and answers each. The next batch starts when it ends. If it rejects, all of its writes are rejected. */
  flush(writes: readonly Write[]): Promise<void>
}

/**
 * The writes of the ledger, those of each organisation in the order of their calls. If more wait than fit in a batch, organisations get equal
 * parts of it, so that the many writes of one delay those of another by the batch that is being written. A flush starts at the end of the turn of the event loop in which the first write came
 * or the previous flush ended, so a single write does not wait and many writes share one commit. Writes that may wait begin none for `joinMs`. docs/understand/performance.md has the rates of single commits and batches.
 */
export class WriteQueue<Write extends QueuedWrite> {
  private readonly options: WriteQueueOptions<Write>
  /** Of those that wait or are being written. */
  private readonly shares: FairShares
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
    this.shares = new FairShares(options.maximumWaiting ?? defaultMaximumWaiting)
    this.stopExpiring = options.clock.every(expireEveryMs, () => this.expire())
  }

  add(write: Write): void {
    if (this.waiting.length >= maximumQueue) {
      write.reject(new AppError('overloaded', 'The service is busy. Try again shortly.', { retryAfterSeconds: 1 }))
      return
    }
    write.enqueuedMs = this.options.clock.monotonicMs()
    this.waiting.push(write)
    this.shares.take(write.owner ?? sharedOwner)
    if (!write.mayWait) this.hurry()
    else if (!this.isJoinTimed) this.startJoinTimer()
  }

  /** Writes that wait for others to share their flush wait no longer. */
  hurry(): void {
    if (this.waiting.length === 0) return
    this.isDue = true
    this.running ??= this.run()
  }

  /** Too many writes wait or are being written. */
  get isFull(): boolean {
    return this.shares.total >= this.shares.maximum
  }

  /** Whether the organisation may begin a call: it has fewer writes here than there is room for. */
  hasRoom(owner: OrganisationId): boolean {
    return this.shares.hasRoom(owner)
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
      this.inFlight = takeFairly(this.waiting, maximumBatch)
      this.isDue = this.waiting.length > 0
      this.isJoinTimed = false
      try {
        await flush(this.inFlight)
      } catch (error) {
        for (const write of this.inFlight) write.reject(error)
      }
      for (const { owner } of this.inFlight) this.shares.release(owner ?? sharedOwner)
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
    // A batch has writes of several organisations, of which each waited a different time. Those that wait are in the order in which they came.
    for (const write of this.inFlight) if (write.enqueuedMs <= overdueMs) expireWrite(write)
    for (const write of this.waiting) {
      if (write.enqueuedMs > overdueMs) return
      expireWrite(write)
    }
  }
}

function expireWrite(write: QueuedWrite): void {
  if (!write.mayExpire || write.isExpired) return
  write.isExpired = true
  write.reject(unavailable())
}

/** Removes the writes of the next batch from those that wait. */
function takeFairly<Write extends QueuedWrite>(waiting: Write[], maximumBatch: number): Write[] {
  if (waiting.length <= maximumBatch) return waiting.splice(0)
  // What concerns all keeps its place, so only what is before it may change its order.
  const fence = waiting.findIndex(({ owner }) => owner === null)
  const end = fence < 0 ? waiting.length : fence
  if (end <= maximumBatch) return waiting.splice(0, maximumBatch)
  const quotas = quotasOf(waiting, end, maximumBatch)
  const taken: Write[] = []
  let kept = 0
  for (const [place, write] of waiting.entries()) {
    const quota = place < end ? (quotas.get(write.owner!) ?? 0) : 0
    if (quota === 0) waiting[kept++] = write
    else {
      quotas.set(write.owner!, quota - 1)
      taken.push(write)
    }
  }
  waiting.length = kept
  return taken
}

/**
 * Equal parts of a batch for the owners of the first writes; what one does not need is for the others. Where there are more owners than fit, those
 * whose writes came first have one each.
 */
function quotasOf(waiting: readonly QueuedWrite[], end: number, maximumBatch: number): Map<OrganisationId, number> {
  const counts = new Map<OrganisationId, number>()
  for (let place = 0; place < end; place += 1) {
    const owner = waiting[place]!.owner!
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  const owners = [...counts].slice(0, maximumBatch)
  let left = maximumBatch
  let ownersLeft = owners.length
  const quotas = new Map<OrganisationId, number>()
  for (const [owner, count] of owners.toSorted(([, one], [, other]) => one - other)) {
    const quota = Math.min(count, Math.floor(left / ownersLeft))
    quotas.set(owner, quota)
    left -= quota
    ownersLeft -= 1
  }
  return quotas
}

/**
 * Calls whose client got an error because their hold could not be written in time. The hold may be written all the same, and the answer of
 * the provider may be here already: such a call is billed nothing.
 */
export class RefusedCalls {
  /** Until their settlement is written. Every call with a hold has one. */
  private readonly ids = new Set<RequestId>()

  /** The promise of a hold; its rejection refuses the call. */
  noting(requestId: RequestId, begin: (resolve: () => void, reject: (error: unknown) => void) => void): Promise<void> {
    return new Promise((resolve, reject) =>
      begin(resolve, (error) => {
        this.ids.add(requestId)
        reject(error as Error)
      }),
    )
  }

  /** Before a settlement is written: that of a refused call becomes an entry without a bill. True: it has changed. */
  withdraw(write: { entry: Entry; resolve(result: SettleResult): void }): boolean {
    if (!this.ids.delete(write.entry.receipt.requestId) || write.entry.receipt.ending === 'unanswered') return false
    const entry = unbilled(write.entry)
    const { resolve } = write
    write.entry = entry
    write.resolve = (result) =>
      resolve(result.kind === 'entered' ? { kind: 'existing', receipt: entry.receipt } : result)
    return true
  }

  /** Its settlement is over. */
  forget(requestId: RequestId): void {
    this.ids.delete(requestId)
  }
}

/**
 * To be called for the writes of one commit: once a hold is on its way together with its bill, the call can no longer be refused, because the
 * bill may be stored although no answer comes. Its client waits, like at the end of every running call. Returns the writes that could be
 * refused before: they can be again if the commit was certainly not sent.
 */
export function keepWithSettlements<Write extends QueuedWrite>(
  writes: readonly Write[],
  holdOf: (write: Write) => RequestId | undefined,
  settlementOf: (write: Write) => RequestId | undefined,
): Write[] {
  const settled = new Set(writes.map(settlementOf))
  const kept = writes.filter((write) => {
    const requestId = holdOf(write)
    return write.mayExpire && requestId !== undefined && settled.has(requestId)
  })
  for (const write of kept) write.mayExpire = false
  return kept
}

function unbilled({ receipt, tags }: Entry): Entry {
  return {
    receipt: {
      ...receipt,
      deploymentId: null,
      providerId: null,
      hosting: null,
      usage: noUsage,
      baseCostPicoUsd: 0n,
      billedPicoUsd: 0n,
      writtenOffPicoUsd: 0n,
      costBasis: 'tokens',
      rawUsage: null,
      estimated: false,
      ending: 'unanswered',
      finishReason: null,
      firstTokenMs: null,
      failure: 'overloaded',
      schemaMismatch: null,
    },
    statedAttoUsd: null,
    tags,
  }
}
