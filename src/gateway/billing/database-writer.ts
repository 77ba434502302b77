import {
  AppError,
  type Clock,
  describeError,
  type InstanceId,
  type Log,
  type OrganisationId,
  type RequestId,
  withDeadline,
} from '../../platform/kernel/index.ts'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { FencedError } from './instance.store.ts'
import { type Batch, loadEntries, loadOpenHoldIds, writeBatch } from './ledger.store.ts'
import type { Entry, HoldChange, HoldRow } from './ledger-rows.ts'
import {
  isRefusal,
  isUnsent,
  type LedgerWriter,
  type RefusalReason,
  resultOf,
  type SettleResult,
  unavailable,
} from './ledger-writer.ts'
import type { Receipt } from './port.ts'
import { keepWithSettlements, queued, type QueuedWrite, RefusedCalls, WriteQueue } from './write-queue.ts'

/** Most writes in one statement: more only adds to the wait of the first (measured flat above 100). */
const maximumBatch = 256
/** Longest wait for one batch before it is written again over another connection; below writeDeadlineMs. */
const attemptTimeoutMs = 4_000
const firstRetryMs = 50
const longestRetryMs = 1_000

type Write = QueuedWrite &
  (
    | { kind: 'open'; instance: InstanceId; row: HoldRow; resolve(): void }
    | { kind: 'change'; instance: InstanceId; change: HoldChange; resolve(): void }
    | { kind: 'settle'; instance: InstanceId; entry: Entry; resolve(result: SettleResult): void }
    | { kind: 'barrier'; resolve(): void }
  )

export interface DatabaseWriterDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  /** The instance to write for; changes when this one was fenced. */
  instanceId(): InstanceId
  /** Makes this process a new instance; resolves when `instanceId()` is registered. */
  onFenced(fenced: InstanceId): Promise<void>
}

/** The writer without a journal: every write of the hot path is durable in the database itself, by group commit. */
export class DatabaseWriter implements LedgerWriter {
  private readonly deps: DatabaseWriterDeps
  private readonly queue: WriteQueue<Write>
  private readonly stop = new AbortController()
  private readonly refused = new RefusedCalls()
  /** Rises after each statement that may still commit, so that it cannot commit after its successor. */
  private attemptNumber = 0
  private isFailing = false

  constructor(deps: DatabaseWriterDeps) {
    this.deps = deps
    const { clock } = deps
    this.queue = new WriteQueue({ clock, maximumBatch, flush: (writes) => this.flush(writes) })
  }

  open(instance: InstanceId, row: HoldRow): Promise<void> {
    const { requestId, organisationId } = row
    return this.refused.noting(requestId, (resolve, reject) =>
      this.queue.add({ kind: 'open', instance, row, resolve, reject, ...queued(organisationId, true, true) }),
    )
  }

  hurry(): void {
    this.queue.hurry()
  }

  change(instance: InstanceId, owner: OrganisationId, change: HoldChange): Promise<void> {
    return new Promise((resolve, reject) =>
      this.queue.add({ kind: 'change', instance, change, resolve, reject, ...queued(owner, true) }),
    )
  }

  settle(instance: InstanceId, entry: Entry): Promise<SettleResult> {
    const { organisationId } = entry.receipt
    return new Promise((resolve, reject) =>
      this.queue.add({ kind: 'settle', instance, entry, resolve, reject, ...queued(organisationId, false) }),
    )
  }

  barrier(): Promise<void> {
    return new Promise((resolve, reject) => this.queue.add({ kind: 'barrier', resolve, reject, ...queued(null, true) }))
  }

  reasonToRefuse(): RefusalReason | undefined {
    return this.isFailing || this.queue.isStalled || this.queue.isFull ? 'database' : undefined
  }

  noteDatabase(answers: boolean): void {
    this.isFailing = !answers
  }

  drained(): Promise<void> {
    return this.queue.drained()
  }

  abandon(): void {
    this.stop.abort()
  }

  /** Every receipt is in the database. */
  find(): undefined {
    return undefined
  }

  /** Nothing is durable before the database has it. */
  isBehind(): boolean {
    return false
  }

  /** The writes that wait are the whole bound: the database is as fast as they are. */
  admission(owner: OrganisationId): Promise<void> | undefined {
    return this.queue.hasRoom(owner) ? undefined : Promise.reject(unavailable())
  }

  close(): Promise<void> {
    this.queue.close()
    return Promise.resolve()
  }

  /** Never rejects: each write gets its own result. */
  private async flush(writes: readonly Write[]): Promise<void> {
    const { clock, log } = this.deps
    let waiting = [...writes]
    for (let retryMs = firstRetryMs; waiting.length > 0; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      const instance = this.deps.instanceId()
      try {
        // A write that was decided on a lost lease must not be written under the new instance.
        const stale = waiting.filter((write) => write.kind !== 'barrier' && write.instance !== instance)
        if (stale.length > 0) await this.failFenced(stale, new FencedError(instance))
        waiting = waiting.filter((write) => write.kind === 'barrier' || write.instance === instance)
        await this.attempt(instance, waiting)
        return
      } catch (error) {
        if (error instanceof FencedError) {
          await this.deps.onFenced(instance)
          this.isFailing = false
          await this.failFenced(waiting, error)
          return
        }
        this.attemptNumber += 1
        this.isFailing = true
        log.error({ error: describeError(error), writes: waiting.length }, 'the ledger could not be written')
        if (isRefusal(error)) return this.settleSingly(waiting, error)
        await clock.sleep(retryMs, this.stop.signal).catch(() => {})
        if (this.stop.signal.aborted) {
          for (const write of waiting) write.reject(error)
          return
        }
      }
    }
  }

  private async attempt(instanceId: InstanceId, waiting: readonly Write[]): Promise<void> {
    const writes = waiting.filter((write) => !write.isExpired)
    for (const write of writes) if (write.kind === 'settle') this.refused.withdraw(write)
    const kept = keepWithSettlements(writes, holdOf, settlementOf)
    const batch = mergeWrites(writes)
    if (batch.opens.length + batch.changes.length + batch.settlements.length > 0) {
      await this.queue.attempt(() =>
        withDeadline(attemptTimeoutMs, async (signal) => {
          const writer = { instanceId, attempt: this.attemptNumber }
          const result = await writeBatch(this.deps.database, writer, batch, signal).catch((error: unknown) => {
            // Past the deadline the writes may be in the next attempt already.
            if (isUnsent(error) && !signal.aborted) for (const write of kept) write.mayExpire = true
            throw error
          })
          if (!result.alive) throw new FencedError(instanceId)
          this.isFailing = false
          await this.report(instanceId, writes, batch, new Set(result.opened), new Set(result.entered), signal)
        }),
      )
    } else for (const write of writes) if (write.kind === 'barrier' || write.kind === 'change') write.resolve()
  }

  private async report(
    instance: InstanceId,
    writes: Write[],
    batch: Batch,
    opened: Set<string>,
    entered: Set<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const { database } = this.deps
    // Missing ones were written by an earlier attempt whose answer got lost, or another call has used the id.
    const unopened = batch.opens.filter((row) => !opened.has(row.requestId)).map((row) => row.requestId)
    const present =
      unopened.length > 0 ? await loadOpenHoldIds(database, instance, unopened, signal) : new Set<string>()
    const unentered = batch.settlements.map(({ entry }) => entry.receipt.requestId).filter((id) => !entered.has(id))
    const existing = unentered.length > 0 ? await loadEntries(database, unentered, signal) : new Map<string, Receipt>()
    const settledHere = new Set<string>(batch.settlements.map(({ entry }) => entry.receipt.requestId))
    for (const write of writes) {
      switch (write.kind) {
        case 'open': {
          const id = write.row.requestId
          if (opened.has(id) || present.has(id) || settledHere.has(id)) write.resolve()
          else write.reject(new AppError('conflict', `The request id ${id} was used before.`))
          break
        }
        case 'settle': {
          if (entered.has(write.entry.receipt.requestId)) write.resolve({ kind: 'entered' })
          else write.resolve(resultOf(write.entry, existing.get(write.entry.receipt.requestId)))
          break
        }
        default:
          write.resolve()
      }
    }
  }

  /** The other instance has settled every hold of ours that was written. */
  private async failFenced(writes: Write[], error: FencedError): Promise<void> {
    const settlements = writes.filter((write) => write.kind === 'settle')
    const existing = await this.loadExisting(settlements.map(({ entry }) => entry.receipt.requestId))
    /** Written with their hold by an attempt whose answer got lost: these calls are billed, so they are not refused. */
    const entered = new Set<RequestId>()
    for (const { entry, resolve } of existing ? settlements : []) {
      const result = resultOf(entry, existing!.get(entry.receipt.requestId))
      if (result.kind === 'entered') entered.add(entry.receipt.requestId)
      resolve(result)
    }
    for (const write of writes) {
      if (write.kind === 'barrier' || (write.kind === 'open' && entered.has(write.row.requestId))) write.resolve()
      // Without effect on the settlements above.
      else write.reject(unavailable(error))
    }
    for (const { entry } of settlements) this.refused.forget(entry.receipt.requestId)
  }

  /** Repeats until the database answers: its silence does not show that there is no entry. Undefined: stopped. */
  private async loadExisting(ids: string[]): Promise<Map<string, Receipt> | undefined> {
    const { database, clock, log } = this.deps
    for (let retryMs = firstRetryMs; ids.length > 0; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      try {
        return await withDeadline(attemptTimeoutMs, (signal) => loadEntries(database, ids, signal))
      } catch (error) {
        log.error({ error: describeError(error), settlements: ids.length }, 'settled calls could not be read')
        await clock.sleep(retryMs, this.stop.signal).catch(() => {})
        if (this.stop.signal.aborted) return undefined
      }
    }
    return new Map()
  }

  /** The database rejects the content of one write: find it, so that the other writes succeed. */
  private async settleSingly(writes: Write[], error: unknown): Promise<void> {
    this.isFailing = false
    if (writes.length === 1) {
      writes[0]!.reject(new AppError('internal_error', 'The request could not be accounted for.', { cause: error }))
      return
    }
    for (const group of byRequest(writes)) {
      if (group.length === writes.length) for (const write of group) write.reject(unavailable(error))
      else await this.flush(group)
    }
  }
}

/** One row per request. A hold that is settled in the same batch is never written as an open hold. */
function mergeWrites(writes: readonly Write[]): Batch {
  const opens = new Map<RequestId, HoldRow>()
  const changes = new Map<RequestId, HoldChange>()
  const settlements = new Map<RequestId, { entry: Entry; unopened: boolean }>()
  for (const write of writes) {
    if (write.kind === 'open') opens.set(write.row.requestId, write.row)
    else if (write.kind === 'change') {
      const { requestId, amountPicoUsd, outputTokens } = write.change
      const open = opens.get(requestId)
      const known = changes.get(requestId)
      if (open) {
        opens.set(requestId, {
          ...open,
          amountPicoUsd: amountPicoUsd ?? open.amountPicoUsd,
          outputTokens: outputTokens ?? open.outputTokens,
        })
      } else {
        changes.set(requestId, {
          requestId,
          amountPicoUsd: amountPicoUsd ?? known?.amountPicoUsd ?? null,
          outputTokens: outputTokens ?? known?.outputTokens ?? null,
        })
      }
    } else if (write.kind === 'settle') {
      const { requestId } = write.entry.receipt
      settlements.set(requestId, { entry: write.entry, unopened: opens.delete(requestId) })
      changes.delete(requestId)
    }
  }
  return { opens: [...opens.values()], changes: [...changes.values()], settlements: [...settlements.values()] }
}

const holdOf = (write: Write) => (write.kind === 'open' ? write.row.requestId : undefined)
const settlementOf = (write: Write) => (write.kind === 'settle' ? write.entry.receipt.requestId : undefined)

function byRequest(writes: Write[]): Write[][] {
  const groups = new Map<string, Write[]>()
  for (const write of writes) {
    const id = writeKey(write)
    groups.set(id, [...(groups.get(id) ?? []), write])
  }
  return [...groups.values()]
}

function writeKey(write: Write): string {
  switch (write.kind) {
    case 'open':
      return write.row.requestId
    case 'change':
      return write.change.requestId
    case 'settle':
      return write.entry.receipt.requestId
    case 'barrier':
      return ''
  }
}
