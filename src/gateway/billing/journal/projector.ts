import type { OwnedDatabase } from '../../../platform/database/index.ts'
import {
  type Clock,
  describeError,
  FairShares,
  type InstanceId,
  type Log,
  type OrganisationId,
  raceSignal,
  withDeadline,
} from '../../../platform/kernel/index.ts'
import { isRefusal, refused } from '../ledger-writer.ts'
import { applyRecords, rejectRecord } from './journal.store.ts'
import { type JournalRecord, lineOf, mergeRecords } from './records.ts'

/** Records in one statement. 64 calls in flight leave few holds without their settlement in the same one. */
const maximumBatch = 1_000
/** Holds and settlements of short calls meet in one batch. */
const defaultDelayMs = 500
const attemptTimeoutMs = 30_000
const firstRetryMs = 50
const longestRetryMs = 1_000

interface ProjectorDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  journalId: string
  /** Only it may apply records of the journal. */
  holder: string
  appliedSequence: number
  delayMs?: number | undefined
  /** The records are in the database, durably. Called in order; its rejection is logged. */
  onApplied(records: readonly JournalRecord[], sequence: number): Promise<void> | void
  /** Nothing can be applied any more. */
  onFatal(error: Error): void
  /** Whether the database has answered. */
  noteDatabase(answers: boolean): void
}

/** The database is older than it was, or another one: nothing may be written any more. */
class ProjectionLostError extends Error {}

/** What waits for records when the projection is abandoned. */
export class ProjectionStoppedError extends Error {
  constructor() {
    super('the projection of the journal was stopped')
  }
}

/** Applies durable records of the journal to the database, in order and in large batches, in the background. */
export class Projector {
  private readonly deps: ProjectorDeps
  private pending: JournalRecord[] = []
  private applied: number
  private running: Promise<void> | undefined
  private waiters: { sequence: number; resolve(): void; reject(error: unknown): void }[] = []
  private hurry = new AbortController()
  private readonly stop = new AbortController()

  constructor(deps: ProjectorDeps) {
    this.deps = deps
    this.applied = deps.appliedSequence
  }

  /** Records that are durable in the journal and not in the database. */
  get lag(): number {
    return this.pending.length
  }

  /** Consecutive records, durable in the journal. */
  add(records: readonly JournalRecord[]): void {
    for (const record of records) this.pending.push(record)
    this.running ??= this.run().finally(() => {
      this.running = undefined
    })
    if (this.pending.length >= maximumBatch) this.hurry.abort()
  }

  /** Resolves when every record up to the sequence is in the database; rejects after `abandon`. */
  reach(sequence: number): Promise<void> {
    if (this.applied >= sequence) return Promise.resolve()
    if (this.stop.signal.aborted) return Promise.reject(this.stop.signal.reason as Error)
    this.hurry.abort()
    return new Promise((resolve, reject) => this.waiters.push({ sequence, resolve, reject }))
  }

  /** Stops repeating. The next start applies what is left. */
  abandon(): void {
    this.end(new ProjectionStoppedError())
  }

  /** Waits for a statement that is under way. Nothing is applied afterwards. */
  async close(): Promise<void> {
    this.abandon()
    await this.running
  }

  private end(error: Error): void {
    if (this.stop.signal.aborted) return
    this.stop.abort(error)
    for (const { reject } of this.waiters.splice(0)) reject(error)
  }

  private async run(): Promise<void> {
    const { clock, log, onApplied, delayMs = defaultDelayMs } = this.deps
    while (this.pending.length > 0 && !this.stop.signal.aborted) {
      const wake = AbortSignal.any([this.hurry.signal, this.stop.signal])
      await clock.sleep(delayMs, wake).catch(() => {})
      if (this.stop.signal.aborted) return
      const batch = this.takeBatch()
      if (!(await this.apply(batch, this.applied + 1))) return
      this.pending.splice(0, batch.length)
      this.applied += batch.length
      if (this.pending.length < maximumBatch) this.hurry = new AbortController()
      try {
        await onApplied(batch, this.applied)
      } catch (error) {
        log.error({ error: describeError(error) }, 'a segment of the journal could not be released')
      }
      this.wakeWaiters()
    }
  }

  private wakeWaiters(): void {
    const waiting = this.waiters
    this.waiters = waiting.filter(({ sequence }) => sequence > this.applied)
    for (const { sequence, resolve } of waiting) if (sequence <= this.applied) resolve()
    if (this.waiters.length > 0) this.hurry.abort()
  }

  /** Records of one instance. */
  private takeBatch(): JournalRecord[] {
    const instance: InstanceId = this.pending[0]!.instance
    const end = this.pending.findIndex((record, place) => place >= maximumBatch || record.instance !== instance)
    return this.pending.slice(0, end < 0 ? undefined : end)
  }

  /** Repeats until the database answers; false: stopped. Resolves when all records are in the database. */
  private async apply(records: readonly JournalRecord[], first: number): Promise<boolean> {
    const { clock, log, noteDatabase } = this.deps
    for (let retryMs = firstRetryMs; ; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      try {
        await this.attempt(records, first)
        noteDatabase(true)
        return true
      } catch (error) {
        if (error instanceof ProjectionLostError) {
          this.end(error)
          this.deps.onFatal(error)
          return false
        }
        noteDatabase(false)
        log.error({ error: describeError(error), records: records.length }, 'the journal could not be applied')
        await clock.sleep(retryMs, this.stop.signal).catch(() => {})
        if (this.stop.signal.aborted) return false
      }
    }
  }

  private async attempt(records: readonly JournalRecord[], first: number): Promise<void> {
    const { database, journalId, holder, log } = this.deps
    const last = first + records.length - 1
    const place = { journalId, holder, first, last, instance: records[0]!.instance }
    const batch = mergeRecords(records)
    try {
      const result = await withDeadline(attemptTimeoutMs, (signal) =>
        raceSignal(applyRecords(database, place, batch, { signal, timeoutMs: attemptTimeoutMs }), this.stop.signal),
      )
      if (result.rejected > 0) {
        log.error({ records: result.rejected, sequence: last }, 'the ledger did not take records of its journal')
      }
      if (result.applied) return
      const at = result.atSequence
      if (at === null || at < first - 1)
        throw new ProjectionLostError(
          "the control database does not accept this process's journal any more: the database was replaced by an older copy or another one",
        )
      // An attempt whose answer got lost, or a process that was killed in the middle of one.
      if (at < last) await this.attempt(records.slice(at + 1 - first), at + 1)
    } catch (error) {
      if (!isRefusal(error)) throw error
      await this.applySplit(records, first, error)
    }
  }

  /** The database rejects the content of a record: finds it, so that the others are applied. */
  private async applySplit(records: readonly JournalRecord[], first: number, error: unknown): Promise<void> {
    const { database, journalId, holder, log } = this.deps
    if (records.length > 1) {
      const half = Math.floor(records.length / 2)
      await this.attempt(records.slice(0, half), first)
      await this.attempt(records.slice(half), first + half)
      return
    }
    const { requestId } = records[0]!
    log.error({ requestId, sequence: first, error: describeError(error) }, 'the ledger rejects a record of its journal')
    const record = { requestId, text: lineOf(records[0]!), reason: describeError(error).slice(0, 500) }
    await rejectRecord(database, { journalId, holder, sequence: first }, record)
  }
}

interface BacklogOptions {
  clock: Clock
  /** Records of all organisations. */
  maximum: number
  /** Longest wait of a call; then it is refused. */
  maximumWaitMs: number
}

interface Waiter {
  admit(): void
  refuse(): void
}

/**
 * The records that are durable in the journal and not in the database, by organisation. An organisation with as many of them as there is room for
 * waits until the database has caught up. One with few does not, so the flood of one organisation delays its own calls only.
 */
export class Backlog {
  private readonly options: BacklogOptions
  private readonly shares: FairShares
  /** Of the records, in their order; null: of none. */
  private owners: (OrganisationId | null)[] = []
  private readonly waiting = new Map<OrganisationId, Set<Waiter>>()

  constructor(options: BacklogOptions) {
    this.options = options
    this.shares = new FairShares(options.maximum)
  }

  /** A hold counts for its settlement too, which cannot be refused. */
  add(owner: OrganisationId | null, kind: JournalRecord['kind']): void {
    this.owners.push(owner)
    if (owner === null || kind === 'settle') return
    this.shares.take(owner, kind === 'open' ? recordsOfCall : 1)
  }

  /** A hold will never have a settlement in this journal. */
  noteLost(owner: OrganisationId | null): void {
    if (owner !== null) this.shares.release(owner)
  }

  /** The oldest records are in the database. */
  noteApplied(records: number): void {
    for (const owner of this.owners.splice(0, records)) if (owner !== null) this.shares.release(owner)
    this.admitNext()
  }

  /** What a new call waits for; undefined: nothing. Rejects with 503. */
  admission(owner: OrganisationId): Promise<void> | undefined {
    if (!this.waiting.has(owner) && this.shares.hasRoom(owner)) return undefined
    return this.wait(owner)
  }

  /** Refuses those that wait. */
  close(): void {
    for (const waiters of this.waiting.values()) for (const { refuse } of waiters) refuse()
  }

  private wait(owner: OrganisationId): Promise<void> {
    const { clock, maximumWaitMs } = this.options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = new AbortController()
    const waiters = this.waiting.get(owner) ?? new Set<Waiter>()
    this.waiting.set(owner, waiters)
    const end = (answer: () => void) => () => {
      timer.abort()
      waiters.delete(waiter)
      if (waiters.size === 0) this.waiting.delete(owner)
      answer()
    }
    const waiter: Waiter = { admit: end(resolve), refuse: end(() => reject(refused('behind'))) }
    waiters.add(waiter)
    clock.sleep(maximumWaitMs, timer.signal).then(waiter.refuse, () => {})
    return promise
  }

  /** One call of each organisation in turn, as many as there will be room for. */
  private admitNext(): void {
    const admitted: OrganisationId[] = []
    let before: number
    do {
      before = admitted.length
      for (const [owner, waiters] of this.waiting) {
        if (!this.shares.hasRoom(owner)) continue
        const [first] = waiters
        first!.admit()
        this.shares.take(owner, recordsOfCall)
        admitted.push(owner)
      }
    } while (admitted.length > before)
    // Their holds count when they are written.
    for (const owner of admitted) this.shares.release(owner, recordsOfCall)
  }
}

const recordsOfCall = 2
