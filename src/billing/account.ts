/** What one instance knows of one organisation's budget period, and decides by. Synchronous and pure but for its own fields. */
import type { InstanceId, OrganisationId } from '../kernel/index.ts'
import type { LeaseState, PeriodState } from './lease.store.ts'
import type { Period } from './periods.ts'

export interface Account {
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
  /** Lease operations of one account run one after the other. */
  operation: Promise<unknown>
  /**
   * Set while a lease operation is under way, and left when its outcome is unknown: the database is read before the next one.
   * `closedPicoUsd` is the bill that leaves the lease if the operation took effect and closed it.
   */
  uncertain: { closedPicoUsd: bigint } | null
  waiters: Set<() => void>
}

export function createAccount(
  instanceId: InstanceId,
  organisationId: OrganisationId,
  period: Period,
  budgetPicoUsd: bigint,
  nowMs: number,
): Account {
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
export function freePicoUsd(account: Account): bigint {
  const excess = positive(account.committedPicoUsd - account.budgetPicoUsd)
  return positive(account.grantedPicoUsd - account.settledPicoUsd - account.heldPicoUsd - excess)
}

/** Budget that no instance has leased, as far as known. */
export function unleasedPicoUsd(account: Account): bigint {
  return positive(account.budgetPicoUsd - account.committedPicoUsd)
}

/** What is not billed yet, whoever holds it; never less than the truth, for others may have billed meanwhile. */
export function unbilledPicoUsd(account: Account): bigint {
  return account.budgetPicoUsd - account.totalSettledPicoUsd
}

export function reserve(account: Account, amountPicoUsd: bigint): void {
  account.heldPicoUsd += amountPicoUsd
}

export function release(account: Account, amountPicoUsd: bigint): void {
  account.heldPicoUsd -= amountPicoUsd
  wake(account)
}

/** Turns a hold into its bill. `billed` is at most the hold plus what is free. */
export function bill(account: Account, heldPicoUsd: bigint, billedPicoUsd: bigint): void {
  account.heldPicoUsd -= heldPicoUsd
  account.settledPicoUsd += billedPicoUsd
  account.totalSettledPicoUsd += billedPicoUsd
  account.dirty = true
  wake(account)
}

/** Takes a bill back that could not be written. */
export function unbill(account: Account, billedPicoUsd: bigint): void {
  account.settledPicoUsd -= billedPicoUsd
  account.totalSettledPicoUsd -= billedPicoUsd
  wake(account)
}

/** Takes over what a lease operation found. What was billed here and not written by then comes on top. */
export function adopt(account: Account, state: LeaseState): void {
  account.grantedPicoUsd = state.grantedPicoUsd
  look(account, state)
}

export function look(account: Account, state: PeriodState): void {
  account.committedPicoUsd = state.committedPicoUsd
  account.othersLeasedPicoUsd = state.othersLeasedPicoUsd
  // Some of the bills since the last look may be in the database's figure: the larger of the two never exceeds the truth.
  if (state.settledPicoUsd > account.totalSettledPicoUsd) account.totalSettledPicoUsd = state.settledPicoUsd
  wake(account)
}

/** Resolves at the next change of what is free, or after `ms`; rejects with the signal's reason. */
export function nextChange(account: Account, sleep: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) {
  return new Promise<void>((resolve, reject) => {
    const done = new AbortController()
    const finish = () => {
      account.waiters.delete(finish)
      done.abort()
      resolve()
    }
    account.waiters.add(finish)
    sleep(AbortSignal.any([signal, done.signal])).then(finish, () => {
      account.waiters.delete(finish)
      if (signal.aborted) reject(signal.reason as Error)
    })
  })
}

export function wake(account: Account): void {
  for (const waiter of account.waiters) waiter()
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n
}
