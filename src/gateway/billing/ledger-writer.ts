import { AppError, describeError, type InstanceId, type OrganisationId } from '../../platform/kernel/index.ts'
import type { Entry, HoldChange, HoldRow } from './ledger-rows.ts'
import type { Receipt } from './port.ts'

/** Result of a settlement: written by this call, another settlement exists, or there was no hold. */
export type SettleResult = { kind: 'entered' } | { kind: 'existing'; receipt: Receipt } | { kind: 'absent' }

/** Makes the writes of the hot path durable, those of each organisation in the order of the calls: in the database itself, or in a journal first. */
export interface LedgerWriter {
  /** Resolves when the hold is durable: it waits a moment for other writes to share their flush. Rejects with 503 when that takes too long, or with `conflict` for a used id. */
  open(instance: InstanceId, row: HoldRow): Promise<void>
  /** Ends the wait of holds for other writes. */
  hurry(): void
  /** Resolves when the change is durable, or the hold is gone. */
  change(instance: InstanceId, owner: OrganisationId, change: HoldChange): Promise<void>
  /** Resolves when the settlement is durable. Repeated until then; `abandon` ends it. */
  settle(instance: InstanceId, entry: Entry): Promise<SettleResult>
  /** Resolves when all earlier writes are in the database. Rejects after `abandon` if that is not certain. */
  barrier(): Promise<void>
  /** The receipt of a settlement that is durable and not in the database yet. */
  find(requestId: string): Receipt | undefined
  /** Why new calls are refused: writes cannot become durable in time, or too many wait. Undefined: they are not. */
  reasonToRefuse(): RefusalReason | undefined
  /**
   * What a new call of the organisation waits for, so that writes do not outrun the disk or the database; undefined: nothing. Rejects with 503.
   * Organisations with few writes on the way do not wait for those that have many.
   */
  admission(owner: OrganisationId): Promise<void> | undefined
  /** Durable writes wait for the database: those that may be left out should be. */
  isBehind(): boolean
  /** Reports whether the database answered another part of the ledger. Without writes, the writer cannot notice that it is back. */
  noteDatabase(answers: boolean): void
  /** Resolves when nothing waits, or after `abandon`. */
  drained(): Promise<void>
  /** Stops repeating: what is waiting fails. Recovery settles it after the next start. */
  abandon(): void
  /** No write may follow. */
  close(): Promise<void>
}

/**
 * An existing entry is our own, whose answer got lost, or another one: of the instance that settled the holds of this one
 * (`crashed`), or of another call with the same id. Only our own entry has the same time and ending.
 */
export function resultOf({ receipt }: Entry, found: Receipt | undefined): SettleResult {
  if (!found) return { kind: 'absent' }
  const isOwn =
    found.ending === receipt.ending &&
    found.startedAt === receipt.startedAt &&
    found.settledAt === receipt.settledAt &&
    found.billedPicoUsd === receipt.billedPicoUsd &&
    found.organisationId === receipt.organisationId
  return isOwn ? { kind: 'entered' } : { kind: 'existing', receipt: found }
}

/** 503: the call may be sent again. */
export function unavailable(cause?: unknown): AppError {
  return new AppError('overloaded', 'The service cannot account for new requests at the moment. Try again shortly.', {
    retryAfterSeconds: 2,
    cause,
    ...(cause !== undefined && { internal: describeError(cause) }),
  })
}

/**
 * What the ledger lacks for new calls. `database`: it does not answer. `behind`: as many records wait for it as may. `disk`: it takes too long
 * for the journal. `full`: it has no room for the journal. `ending`: the journal has failed, and the process ends.
 */
export type RefusalReason = 'database' | 'behind' | 'disk' | 'full' | 'ending'

const lacks: Record<RefusalReason, string> = {
  database: 'its database does not answer',
  behind: 'too many bills wait for its database',
  disk: 'its disk does not answer',
  full: 'its disk is full',
  ending: 'it restarts, because it could not write its journal',
}

/** The same with its cause. */
export function refused(why: RefusalReason, cause?: unknown): AppError {
  const internal = cause === undefined ? lacks[why] : `${lacks[why]}: ${describeError(cause)}`
  return new AppError(
    'overloaded',
    `The service cannot account for new requests at the moment: ${lacks[why]}. Try again shortly.`,
    { retryAfterSeconds: 2, cause, internal },
  )
}

/** SQLSTATE classes 22 (data exception) and 23 (constraint violation): a retry cannot succeed. */
export function isRefusal(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = (current as { code?: unknown }).code
    if (typeof code === 'string' && /^2[23][0-9A-Z]{3}$/.test(code)) return true
  }
  return false
}

/** The statement certainly has no effect; see DatabaseError. */
export function isUnsent(error: unknown): boolean {
  return (error as { isUnsent?: unknown } | undefined)?.isUnsent === true
}
