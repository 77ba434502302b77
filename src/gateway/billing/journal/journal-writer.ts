import {
  AppError,
  type Clock,
  describeError,
  type InstanceId,
  type Log,
  type OrganisationId,
  type RequestId,
  withDeadline,
} from '../../../platform/kernel/index.ts'
import type { OwnedDatabase } from '../../../platform/database/index.ts'
import { encodeEntry, encodeHold, type Entry, type HoldChange, type HoldRow } from '../ledger-rows.ts'
import { loadEntries } from '../ledger.store.ts'
import {
  type LedgerWriter,
  type RefusalReason,
  refused,
  resultOf,
  type SettleResult,
  unavailable,
} from '../ledger-writer.ts'
import type { Receipt } from '../port.ts'
import {
  keepWithSettlements,
  queued,
  type QueuedWrite,
  RefusedCalls,
  writeDeadlineMs,
  WriteQueue,
} from '../write-queue.ts'
import { Backlog, Projector } from './projector.ts'
import type { JournalCopy, JournalLog } from './journal-log.ts'
import { encodeRecord, type JournalRecord, type NewRecord, storedRecord } from './records.ts'

/** Most records in one flush. */
const maximumBatch = 512
/** Records that the database has not applied, in memory and on the disk: about 20 MB. Above it new calls are rejected; see Backlog. */
const defaultMaximumLag = 20_000
/** A frame has at most this share of a segment. Texts of entries are limited, so a line of 4 MB never occurs. */
const segmentShare = 4
/** Interval of trying again on a full disk. */
const roomAgainMs = 250
const lookUpTimeoutMs = 4_000

type Write = QueuedWrite &
  (
    | {
        kind: 'record'
        record: NewRecord
        line: string
        entry: Entry | undefined
        resolve(result: SettleResult): void
      }
    | { kind: 'barrier'; resolve(sequence: number): void }
  )
const entered: SettleResult = { kind: 'entered' }

type RecordWrite = Extract<Write, { kind: 'record' }>

export interface JournalWriterDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  journal: JournalLog
  journalId: string
  holder: string
  /** The instance to write for; changes when this one was fenced. */
  instanceId(): InstanceId
  /** The journal or its projection cannot continue: the process must end, and the next start reads what is on the disk. */
  onFatal(error: Error): void
  /** Longest wait of a record for others to share a statement of the projection. */
  projectionDelayMs?: number | undefined
  maximumLag?: number | undefined
}

/**
 * The writer with a journal: a write is durable when its frame is synced in the local journal. The database receives it later, in
 * batches.
 */
export class JournalWriter implements LedgerWriter {
  private readonly deps: JournalWriterDeps
  private readonly queue: WriteQueue<Write>
  private readonly projector: Projector
  private readonly stop = new AbortController()
  /** Open holds whose record is in the journal or on its way to the disk. */
  private readonly openIds = new Set<RequestId>()
  private readonly refused = new RefusedCalls()
  private readonly backlog: Backlog
  /** Receipts that the database does not have yet. */
  private readonly unapplied = new Map<string, Receipt>()
  private isDatabaseFailing = false
  private isFull = false
  private failure: Error | undefined
  private readonly maximumFrameBytes: number
  private readonly maximumLag: number

  constructor(deps: JournalWriterDeps) {
    const { database, clock, log, journal, journalId, holder } = deps
    this.deps = deps
    this.maximumLag = deps.maximumLag ?? defaultMaximumLag
    this.backlog = new Backlog({ clock, maximum: this.maximumLag, maximumWaitMs: writeDeadlineMs })
    this.maximumFrameBytes = journal.segmentBytes / segmentShare
    this.queue = new WriteQueue({
      clock,
      maximumBatch,
      flush: (writes) => this.queue.attempt(() => this.flush(writes)),
    })
    this.projector = new Projector({
      database,
      clock,
      log,
      journalId,
      holder,
      appliedSequence: journal.lastSequence,
      delayMs: deps.projectionDelayMs,
      onApplied: (records, sequence) => this.forget(records, sequence),
      onFatal: (error) => this.fail(error),
      noteDatabase: (answers) => this.noteDatabase(answers),
    })
  }

  open(instance: InstanceId, row: HoldRow): Promise<void> {
    const { requestId } = row
    const record: NewRecord = { kind: 'open', instance, requestId, row: encodeHold(row) }
    return this.refused.noting(requestId, (resolve, reject) =>
      this.add(row.organisationId, record, undefined, resolve, reject),
    )
  }

  hurry(): void {
    this.queue.hurry()
  }

  change(
    instance: InstanceId,
    owner: OrganisationId,
    { requestId, amountPicoUsd, outputTokens }: HoldChange,
  ): Promise<void> {
    const record: NewRecord = { kind: 'change', instance, requestId, amountPicoUsd, outputTokens }
    return new Promise((resolve, reject) => this.add(owner, record, undefined, () => resolve(), reject))
  }

  settle(instance: InstanceId, entry: Entry): Promise<SettleResult> {
    const { requestId, organisationId } = entry.receipt
    const record: NewRecord = { kind: 'settle', instance, requestId, row: encodeEntry(entry), entry }
    return new Promise((resolve, reject) => this.add(organisationId, record, entry, resolve, reject))
  }

  async barrier(): Promise<void> {
    if (this.failure) throw unavailable(this.failure)
    const sequence = await new Promise<number>((resolve, reject) =>
      this.queue.add({ kind: 'barrier', resolve, reject, ...queued(null, true) }),
    )
    await withDeadline(writeDeadlineMs, () => this.projector.reach(sequence)).catch((error: unknown) => {
      throw unavailable(error)
    })
  }

  openJournalCopies(): JournalCopy[] {
    return this.deps.journal.openCopies()
  }

  find(requestId: string): Receipt | undefined {
    return this.unapplied.get(requestId)
  }

  reasonToRefuse(): RefusalReason | undefined {
    const { failure, isFull, projector, queue } = this
    if (failure) return 'ending'
    if (isFull) return 'full'
    if (queue.isStalled || queue.isFull) return 'disk'
    // Without its database too: nobody else can presume an only process dead, and its leases and its journal are all that a call needs.
    return projector.lag >= this.maximumLag ? 'behind' : undefined
  }

  admission(owner: OrganisationId): Promise<void> | undefined {
    return this.queue.hasRoom(owner) ? this.backlog.admission(owner) : Promise.reject(refused('disk'))
  }

  isBehind(): boolean {
    return this.projector.lag >= this.maximumLag / 8
  }

  noteDatabase(answers: boolean): void {
    if (this.isDatabaseFailing === !answers) return
    this.isDatabaseFailing = !answers
    const { log } = this.deps
    const records = this.projector.lag
    if (answers) log.info({ records }, 'the control database answers again')
    else log.warn({ records }, 'the control database does not answer: calls continue from leases and the journal')
  }

  async drained(): Promise<void> {
    await this.queue.drained()
    await this.projector.reach(this.deps.journal.lastSequence).catch(() => {})
  }

  abandon(): void {
    this.stop.abort()
    this.projector.abandon()
  }

  async close(): Promise<void> {
    this.queue.close()
    this.backlog.close()
    this.stop.abort()
    await this.queue.drained()
    await this.projector.close()
    await this.deps.journal.close()
  }

  private add(
    owner: OrganisationId,
    record: NewRecord,
    entry: Entry | undefined,
    resolve: (result: SettleResult) => void,
    reject: (error: unknown) => void,
  ): void {
    const line = encodeRecord(record)
    if (3 * line.length > this.maximumFrameBytes) {
      reject(new AppError('internal_error', 'The request could not be accounted for.'))
      return
    }
    const { kind } = record
    this.queue.add({
      kind: 'record',
      record,
      line,
      entry,
      resolve,
      reject,
      ...queued(owner, kind !== 'settle', kind === 'open'),
    })
  }

  /** Rejects only when writes failed; each of them is rejected then. */
  private async flush(writes: readonly Write[]): Promise<void> {
    try {
      for (const part of partsOf(writes, this.maximumFrameBytes)) await this.appendPart(part)
    } catch (error) {
      if (!this.stop.signal.aborted) this.fail(new Error('the ledger could not write its journal', { cause: error }))
      throw error
    }
    for (const write of writes) if (write.kind === 'barrier') write.resolve(this.deps.journal.lastSequence)
  }

  /** One frame, and one sync. */
  private async appendPart(writes: readonly RecordWrite[]): Promise<void> {
    // Holds of earlier frames are answered by now. One that expires from here on is left out, and then its settlement finds none.
    for (const write of writes) if (write.entry) this.withdraw(write, write.entry)
    if (!(await this.makeRoom(writes.map(({ line }) => line)))) throw unavailable()
    const accepted = this.decide(writes)
    if (accepted.length === 0) return
    const stored = await this.deps.journal.append(accepted.map(({ line }) => line))
    // Before any reply, so that a receipt is found as soon as its call is over.
    for (const { entry } of accepted) if (entry) this.unapplied.set(entry.receipt.requestId, entry.receipt)
    for (const { owner, record } of accepted) this.backlog.add(owner, record.kind)
    this.projector.add(accepted.map(({ record }, place) => storedRecord(record, stored[place]!)))
    for (const write of accepted) write.resolve(entered)
  }

  /** Waits on a full disk: nothing was written yet, so trying again is safe. False: stopped. */
  private async makeRoom(lines: readonly string[]): Promise<boolean> {
    const { journal, clock, log } = this.deps
    for (;;) {
      if (this.failure) throw this.failure
      try {
        await journal.makeRoom(lines)
        this.isFull = false
        return true
      } catch (error) {
        if (journal.hasFailed) throw error
        if (!this.isFull) log.error({ error: describeError(error) }, 'there is no room for the journal of the ledger')
        this.isFull = true
        await clock.sleep(roomAgainMs, this.stop.signal).catch(() => {})
        if (this.stop.signal.aborted) return false
      }
    }
  }

  /** The writes to append. The others are answered here: their hold does not exist, or the call has given up. */
  private decide(writes: readonly RecordWrite[]): RecordWrite[] {
    const accepted: RecordWrite[] = []
    for (const write of writes) {
      if (write.isExpired) continue
      const { record, entry } = write
      const { requestId } = record
      if (record.instance !== this.deps.instanceId()) {
        if (this.openIds.delete(requestId)) this.backlog.noteLost(write.owner)
        if (entry) void this.lookUp(write, entry)
        else write.reject(unavailable())
      } else if (record.kind === 'open') {
        if (this.openIds.has(requestId) || this.unapplied.has(requestId)) {
          write.reject(new AppError('conflict', `The request id ${requestId} was used before.`))
        } else {
          this.openIds.add(requestId)
          accepted.push(write)
        }
      } else if (!this.openIds.has(requestId)) {
        if (entry) void this.lookUp(write, entry)
        else write.resolve({ kind: 'absent' })
      } else {
        if (entry) this.openIds.delete(requestId)
        accepted.push(write)
      }
    }
    keepWithSettlements(accepted, holdOf, settlementOf)
    return accepted
  }

  /** The settlement of a refused call is recorded without a bill. */
  private withdraw(write: RecordWrite, entry: Entry): void {
    const settling = { entry, resolve: write.resolve }
    if (!this.refused.withdraw(settling)) return
    const { instance, requestId } = write.record
    const record: NewRecord = {
      kind: 'settle',
      instance,
      requestId,
      row: encodeEntry(settling.entry),
      entry: settling.entry,
    }
    Object.assign(write, settling, { record, line: encodeRecord(record) })
  }

  /** A settlement without a hold: what was settled under its id, if anything. */
  private async lookUp(write: RecordWrite, entry: Entry): Promise<void> {
    const { database } = this.deps
    const { requestId } = entry.receipt
    this.refused.forget(requestId)
    const found =
      this.unapplied.get(requestId) ??
      (await withDeadline(lookUpTimeoutMs, (signal) => loadEntries(database, [requestId], signal)).then(
        (entries) => entries.get(requestId),
        () => undefined,
      ))
    write.resolve(resultOf(entry, found))
  }

  private async forget(records: readonly JournalRecord[], sequence: number): Promise<void> {
    for (const { kind, requestId } of records) if (kind === 'settle') this.unapplied.delete(requestId)
    this.backlog.noteApplied(records.length)
    await this.deps.journal.release(sequence)
  }

  /** Nothing is acknowledged any more. A failed sync is never repeated: the kernel may have dropped the data. */
  private fail(error: Error): void {
    if (this.failure) return
    this.failure = error
    this.projector.abandon()
    this.deps.onFatal(error)
  }
}

const holdOf = ({ record }: RecordWrite) => (record.kind === 'open' ? record.requestId : undefined)
const settlementOf = ({ record }: RecordWrite) => (record.kind === 'settle' ? record.requestId : undefined)

/** The records in groups that each fit a frame. */
function partsOf(writes: readonly Write[], maximumBytes: number): RecordWrite[][] {
  const parts: RecordWrite[][] = []
  let bytes = maximumBytes
  for (const write of writes) {
    if (write.kind === 'barrier') continue
    // At most three bytes of UTF-8 for a unit of UTF-16.
    bytes += write.line.length * 3
    if (bytes > maximumBytes) {
      parts.push([])
      bytes = write.line.length * 3
    }
    parts.at(-1)!.push(write)
  }
  return parts
}
