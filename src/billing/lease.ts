/** The part of an organisation's budget period that one instance may hold from. Synchronous; every function changes its lease only. */
import type { InstanceId, OrganisationId } from '../kernel/index.ts'
import type { LeaseState, PeriodState } from './lease.store.ts'
import type { Period } from './periods.ts'

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
  /** As of the last look at the database. */
  committedPicoUsd: bigint
  othersLeasedPicoUsd: bigint
  totalSettledPicoUsd: bigint
  /** A call was refused because the rest of the budget does not cover it. */
  refused: boolean
  /** Something was billed or refused since the thresholds were looked at. */
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

/** What new holds may take from the lease now. After a cut of the budget, the excess that was leased is out of reach at once. */
export function freePicoUsd(lease: Lease): bigint {
  const excess = positive(lease.committedPicoUsd - lease.budgetPicoUsd)
  return positive(lease.grantedPicoUsd - lease.settledPicoUsd - lease.heldPicoUsd - excess)
}

/** Budget that no instance has leased, as far as known. */
export function unleasedPicoUsd(lease: Lease): bigint {
  return positive(lease.budgetPicoUsd - lease.committedPicoUsd)
}

/** What is not billed yet, whoever holds it; never less than the truth, for others may have billed meanwhile. */
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

/** Takes a bill back that could not be written. */
export function unbill(lease: Lease, billedPicoUsd: bigint): void {
  lease.settledPicoUsd -= billedPicoUsd
  lease.totalSettledPicoUsd -= billedPicoUsd
  wake(lease)
}

/** Takes over what a lease operation found. What was billed here and not written by then comes on top. */
export function applyLeaseState(lease: Lease, state: LeaseState): void {
  lease.grantedPicoUsd = state.grantedPicoUsd
  applyPeriodState(lease, state)
}

export function applyPeriodState(lease: Lease, state: PeriodState): void {
  lease.committedPicoUsd = state.committedPicoUsd
  lease.othersLeasedPicoUsd = state.othersLeasedPicoUsd
  // Some of the bills since the last look may be in the database's figure: the larger of the two never exceeds the truth.
  if (state.settledPicoUsd > lease.totalSettledPicoUsd) lease.totalSettledPicoUsd = state.settledPicoUsd
  wake(lease)
}

/** Resolves at the next change of what is free, or after `ms`; rejects with the signal's reason. */
export function nextChange(lease: Lease, sleep: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) {
  return new Promise<void>((resolve, reject) => {
    const done = new AbortController()
    const finish = () => {
      lease.waiters.delete(finish)
      done.abort()
      resolve()
    }
    lease.waiters.add(finish)
    sleep(AbortSignal.any([signal, done.signal])).then(finish, () => {
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
