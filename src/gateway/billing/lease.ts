import { anySignal, type EndSignal, type InstanceId, type OrganisationId } from '../../platform/kernel/index.ts'
import type { LeaseState, PeriodState } from './lease.store.ts'
import type { Period } from './periods.ts'
import type { HoldRequest, KeptRoom, SpendLimit } from './port.ts'

/** The part of an organisation's budget period that one instance may hold from. Synchronous; every function changes its lease only. */

export interface Lease {
  /** The run that the lease belongs to. */
  readonly instanceId: InstanceId
  readonly organisationId: OrganisationId
  readonly period: Period
  budgetPicoUsd: bigint
  /** This instance's lease; the part that it has billed is still in it, as in the database. */
  grantedPicoUsd: bigint
  /** Billed from the lease, including what waits to be written. */
  settledPicoUsd: bigint
  /** Set aside by open holds. */
  heldPicoUsd: bigint
  openHolds: number
  /** Calls that are being decided on. */
  undecided: number
  /** As of the last refresh from the database. */
  committedPicoUsd: bigint
  othersLeasedPicoUsd: bigint
  totalSettledPicoUsd: bigint
  /** A call was refused because the rest of the budget does not cover it. */
  refused: boolean
  /** Something was billed or refused since the thresholds were checked. */
  dirty: boolean
  /** Monotonic. */
  lastUsedMs: number
  /** Lease operations of one lease run one after the other. */
  operation: Promise<unknown>
  /**
   * Set while a lease operation is under way, and left when its outcome is unknown: the database is read before the next one.
   * `closedPicoUsd` is the bill that leaves the lease if the operation took effect and closed it.
   */
  uncertain: { closedPicoUsd: bigint } | null
  waiters: Set<() => void>
}

export function createLease(
  instanceId: InstanceId,
  organisationId: OrganisationId,
  period: Period,
  budgetPicoUsd: bigint,
  nowMs: number,
): Lease {
  return {
    instanceId,
    organisationId,
    period,
    budgetPicoUsd,
    grantedPicoUsd: 0n,
    settledPicoUsd: 0n,
    heldPicoUsd: 0n,
    openHolds: 0,
    undecided: 0,
    committedPicoUsd: 0n,
    othersLeasedPicoUsd: 0n,
    totalSettledPicoUsd: 0n,
    refused: false,
    dirty: true,
    lastUsedMs: nowMs,
    operation: Promise.resolve(),
    uncertain: null,
    waiters: new Set(),
  }
}

/** The amount that new holds may take now. After a budget cut, the excess that was leased is unavailable at once. */
export function freePicoUsd(lease: Lease): bigint {
  const excess = positive(lease.committedPicoUsd - lease.budgetPicoUsd)
  return positive(lease.grantedPicoUsd - lease.settledPicoUsd - lease.heldPicoUsd - excess)
}

/** Budget that no instance has leased, as far as known. */
export function unleasedPicoUsd(lease: Lease): bigint {
  return positive(lease.budgetPicoUsd - lease.committedPicoUsd)
}

/** Upper bound of what no instance has billed: others may have billed since the last refresh. */
export function unbilledPicoUsd(lease: Lease): bigint {
  return lease.budgetPicoUsd - lease.totalSettledPicoUsd
}

export function reserve(lease: Lease, amountPicoUsd: bigint): void {
  lease.heldPicoUsd += amountPicoUsd
}

export function release(lease: Lease, amountPicoUsd: bigint): void {
  lease.heldPicoUsd -= amountPicoUsd
  wake(lease)
}

/** Turns a hold into its bill. `billed` is at most the hold plus what is free. */
export function bill(lease: Lease, heldPicoUsd: bigint, billedPicoUsd: bigint): void {
  lease.heldPicoUsd -= heldPicoUsd
  lease.settledPicoUsd += billedPicoUsd
  lease.totalSettledPicoUsd += billedPicoUsd
  lease.dirty = true
  wake(lease)
}

/** Reverts a bill that could not be written. */
export function unbill(lease: Lease, billedPicoUsd: bigint): void {
  lease.settledPicoUsd -= billedPicoUsd
  lease.totalSettledPicoUsd -= billedPicoUsd
  wake(lease)
}

/** Applies the result of a lease operation. Bills of this instance that were not written by then are added. */
export function applyLeaseState(lease: Lease, state: LeaseState): void {
  lease.grantedPicoUsd = state.grantedPicoUsd
  applyPeriodState(lease, state)
}

export function applyPeriodState(lease: Lease, state: PeriodState): void {
  lease.committedPicoUsd = state.committedPicoUsd
  lease.othersLeasedPicoUsd = state.othersLeasedPicoUsd
  // The database's figure may include some of the bills since the last refresh; the larger of the two is a lower bound of the total.
  if (state.settledPicoUsd > lease.totalSettledPicoUsd) lease.totalSettledPicoUsd = state.settledPicoUsd
  wake(lease)
}

/** Resolves at the next change of what is free, or after `ms`; rejects with the signal's reason. */
export function nextChange(lease: Lease, sleep: (signal: AbortSignal) => Promise<void>, signal: EndSignal) {
  return new Promise<void>((resolve, reject) => {
    const done = new AbortController()
    const finish = () => {
      lease.waiters.delete(finish)
      done.abort()
      resolve()
    }
    lease.waiters.add(finish)
    sleep(anySignal(signal, done.signal)).then(finish, () => {
      lease.waiters.delete(finish)
      if (signal.aborted) reject(signal.reason as Error)
    })
  })
}

export function wake(lease: Lease): void {
  for (const waiter of lease.waiters) waiter()
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n
}

/** Makes a room from money that is already reserved in the lease and its limit. The lease counts as used until the room is gone. */
export function createRoom(lease: Lease, reservedPicoUsd: bigint, spending?: SpendLimit): KeptRoom {
  let amountPicoUsd = reservedPicoUsd
  let isOpen = true
  lease.undecided += 1
  return {
    lease,
    get amountPicoUsd() {
      return amountPicoUsd
    },
    release() {
      if (!isOpen) return
      isOpen = false
      lease.undecided -= 1
      release(lease, amountPicoUsd)
      spending?.release(amountPicoUsd, 0n)
      amountPicoUsd = 0n
    },
  }
}

/** What a room has in this lease: nothing where it is of an earlier period or of an instance that is over. */
export function roomIn(lease: Lease, room: KeptRoom | undefined): bigint {
  return room?.lease === lease ? room.amountPicoUsd : 0n
}

/** Reserves an amount, of which the room is a part. Synchronous: nobody else gets the room in between. */
export function reserveWith(
  lease: Lease,
  amountPicoUsd: bigint,
  { room, spending }: Pick<HoldRequest, 'room' | 'spending'>,
): void {
  room?.release()
  reserve(lease, amountPicoUsd)
  spending?.reserve(amountPicoUsd)
}
