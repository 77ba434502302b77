import {
  AppError,
  type Clock,
  createGroupCommit,
  describeError,
  type InstanceId,
  type Log,
  type RequestId,
} from '../kernel/index.ts'
import type { Database } from '../database/index.ts'
import { FencedError } from './lease.store.ts'
import {
  type Batch,
  type Entry,
  type HoldChange,
  type HoldRow,
  loadEntries,
  loadOpenHoldIds,
  writeBatch,
} from './ledger.store.ts'
import type { Receipt } from './port.ts'

/** Most writes in one statement: more only adds to the wait of the first (measured flat above 100, ../shared/design/storage.md). */
const maximumBatch = 256
/** Beyond it the database does not keep up and new calls are turned away. */
const maximumQueuedHolds = 5_000
/** Settlements are never turned away; the open holds bound them. */
const maximumQueue = 1_000_000
/** How long a hold waits for a database that does not answer. Nothing may be shown without it, so the client waits as well. */
const holdDeadlineMs = 5_000
const firstRetryMs = 50
const longestRetryMs = 1_000

/** What became of a settlement: written now, or found as it was written before, or there was no hold to settle. */
export type SettleResult = { kind: 'entered' } | { kind: 'existing'; receipt: Receipt } | { kind: 'absent' }

export interface LedgerWriter {
  /** Resolves when the hold is durable. */
  open(instance: InstanceId, row: HoldRow): Promise<void>
  /** Resolves when the change is durable, or the hold is gone. */
  change(instance: InstanceId, change: HoldChange): Promise<void>
  /** Repeated until the database answers; `abandon` ends it. */
  settle(instance: InstanceId, entry: Entry): Promise<SettleResult>
  /** Resolves when everything that was handed over before is in the database. */
  barrier(): Promise<void>
  /** False while the database does not answer, or lags far behind. */
  accepting(): boolean
  /** Resolves when nothing waits. */
  drained(): Promise<void>
  /** Stops repeating: what is waiting fails. Recovery settles it after the next start. */
  abandon(): void
}

type Write = { enqueuedMs: number; reject(error: unknown): void } & (
  | { kind: 'open'; instance: InstanceId; row: HoldRow; resolve(): void }
  | { kind: 'change'; instance: InstanceId; change: HoldChange; resolve(): void }
  | { kind: 'settle'; instance: InstanceId; entry: Entry; resolve(result: SettleResult): void }
  | { kind: 'barrier'; resolve(): void }
)

interface Waiting<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
  enqueuedMs: number
}

export interface LedgerWriterDeps {
  database: Database
  clock: Clock
  log: Log
  /** The instance to write for; changes when this one was fenced. */
  instanceId(): InstanceId
  /** Makes this process a new instance; resolves when `instanceId()` is registered. */
  onFenced(fenced: InstanceId): Promise<void>
}

/** Group commit of everything that the ledger writes on the hot path, in the order in which it was handed over. */
export function createLedgerWriter({ database, clock, log, instanceId, onFenced }: LedgerWriterDeps): LedgerWriter {
  const stop = new AbortController()
  let failingSinceMs: number | null = null

  const queue = createGroupCommit<Write>({
    maximumBatch,
    maximumQueue,
    full: () => new AppError('overloaded', 'The service is busy. Try again shortly.', { retryAfterSeconds: 1 }),
    flush: (writes) => flush(writes),
  })

  /** Never rejects: each write learns its own result. */
  async function flush(writes: Write[]): Promise<void> {
    let waiting = writes
    for (let retryMs = firstRetryMs; waiting.length > 0; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      const instance = instanceId()
      try {
        // What was decided on a lease that this process has lost must not be written in the name of the new instance.
        const stale = waiting.filter((write) => write.kind !== 'barrier' && write.instance !== instance)
        if (stale.length > 0) await failFenced(stale, new FencedError(instance))
        waiting = waiting.filter((write) => write.kind === 'barrier' || write.instance === instance)
        await attempt(instance, waiting)
        return
      } catch (error) {
        if (error instanceof FencedError) {
          await onFenced(instance)
          await failFenced(waiting, error)
          return
        }
        failingSinceMs ??= clock.monotonicMs()
        log.error({ error: describeError(error), writes: waiting.length }, 'the ledger could not be written')
        if (isRefusal(error)) return settleSingly(waiting, error)
        waiting = dropOverdue(waiting, error)
        if (waiting.length === 0) return
        await clock.sleep(retryMs, stop.signal).catch(() => {})
        if (stop.signal.aborted) {
          for (const write of waiting) write.reject(error)
          return
        }
      }
    }
  }

  async function attempt(instance: InstanceId, writes: Write[]): Promise<void> {
    const batch = mergeWrites(writes)
    if (batch.opens.length + batch.changes.length + batch.settlements.length > 0) {
      const result = await writeBatch(database, instance, batch)
      if (!result.alive) throw new FencedError(instance)
      failingSinceMs = null
      await report(instance, writes, batch, new Set(result.opened), new Set(result.entered))
    } else for (const write of writes) if (write.kind === 'barrier' || write.kind === 'change') write.resolve()
  }

  async function report(
    instance: InstanceId,
    writes: Write[],
    batch: Batch,
    opened: Set<string>,
    entered: Set<string>,
  ): Promise<void> {
    // Missing ones were written by an earlier attempt whose answer got lost, or by whoever settled in our place.
    const unopened = batch.opens.filter((row) => !opened.has(row.requestId)).map((row) => row.requestId)
    const present = unopened.length > 0 ? await loadOpenHoldIds(database, instance, unopened) : new Set<string>()
    const unentered = batch.settlements.map(({ entry }) => entry.requestId).filter((id) => !entered.has(id))
    const existing = unentered.length > 0 ? await loadEntries(database, unentered) : new Map<string, Receipt>()
    const settledHere = new Set<string>(batch.settlements.map(({ entry }) => entry.requestId))
    for (const write of writes) {
      switch (write.kind) {
        case 'open': {
          const id = write.row.requestId
          if (opened.has(id) || present.has(id) || settledHere.has(id)) write.resolve()
          else write.reject(new AppError('conflict', `The request id ${id} was used before.`))
          break
        }
        case 'settle': {
          const receipt = existing.get(write.entry.requestId)
          if (entered.has(write.entry.requestId)) write.resolve({ kind: 'entered' })
          else write.resolve(receipt ? { kind: 'existing', receipt } : { kind: 'absent' })
          break
        }
        default:
          write.resolve()
      }
    }
  }

  /** The other instance has settled every hold of ours; new ones were not written. */
  async function failFenced(writes: Write[], error: FencedError): Promise<void> {
    const ids = writes.filter((write) => write.kind === 'settle').map((write) => write.entry.requestId)
    const existing = await loadEntries(database, ids).catch(() => new Map<string, Receipt>())
    for (const write of writes) {
      if (write.kind === 'settle') {
        const receipt = existing.get(write.entry.requestId)
        write.resolve(receipt ? { kind: 'existing', receipt } : { kind: 'absent' })
      } else if (write.kind === 'barrier') write.resolve()
      else write.reject(unavailable(error))
    }
  }

  /** The database refuses the content of one write: find it, so that it does not take the others with it. */
  async function settleSingly(writes: Write[], error: unknown): Promise<void> {
    failingSinceMs = null
    if (writes.length === 1) {
      writes[0]!.reject(new AppError('internal_error', 'The request could not be accounted for.', { cause: error }))
      return
    }
    for (const group of byRequest(writes)) {
      if (group.length === writes.length) for (const write of group) write.reject(unavailable(error))
      else await flush(group)
    }
  }

  /** Holds and their growth do not wait for ever; what they reserved is given back by their rejection. */
  function dropOverdue(writes: Write[], error: unknown): Write[] {
    const nowMs = clock.monotonicMs()
    return writes.filter((write) => {
      const keep = write.kind === 'settle' || write.kind === 'barrier' || nowMs - write.enqueuedMs < holdDeadlineMs
      if (!keep) write.reject(unavailable(error))
      return keep
    })
  }

  function add<Result>(make: (promise: Waiting<Result>) => Write): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      queue.add(make({ resolve, reject, enqueuedMs: clock.monotonicMs() })).catch(reject)
    })
  }

  return {
    open: (instance, row) => add<void>((promise) => ({ kind: 'open', instance, row, ...promise })),
    change: (instance, change) => add<void>((promise) => ({ kind: 'change', instance, change, ...promise })),
    settle: (instance, entry) => add<SettleResult>((promise) => ({ kind: 'settle', instance, entry, ...promise })),
    barrier: () => add<void>((promise) => ({ kind: 'barrier', ...promise })),
    accepting: () => failingSinceMs === null && queue.size() < maximumQueuedHolds,
    drained: () => queue.drained(),
    abandon: () => stop.abort(),
  }
}

/** One row per request: a hold and its settlement that meet in one batch never become a row of their own. */
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
      const { requestId } = write.entry
      settlements.set(requestId, { entry: write.entry, unopened: opens.delete(requestId) })
      changes.delete(requestId)
    }
  }
  return { opens: [...opens.values()], changes: [...changes.values()], settlements: [...settlements.values()] }
}

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
      return write.entry.requestId
    case 'barrier':
      return ''
  }
}

/** SQLSTATE classes 22 (data exception) and 23 (constraint violation): repeating will not help. */
function isRefusal(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = (current as { code?: unknown }).code
    if (typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)) return true
  }
  return false
}

/** 503: the call may be sent again. */
export function unavailable(cause?: unknown): AppError {
  return new AppError('overloaded', 'The service cannot account for new requests at the moment. Try again shortly.', {
    retryAfterSeconds: 2,
    cause,
  })
}
