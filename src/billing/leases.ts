import {
  type Clock,
  describeError,
  type InstanceId,
  type Log,
  type OrganisationId,
  withDeadline,
} from '../kernel/index.ts'
import type { Database } from '../database/index.ts'
import type { Organisation } from '../organisations/index.ts'
import {
  type Lease,
  applyLeaseState,
  createLease,
  freePicoUsd,
  applyPeriodState,
  unleasedPicoUsd,
  wake,
} from './lease.ts'
import {
  extendLease,
  FencedError,
  leaseChannel,
  type LeaseNotice,
  loadLease,
  loadPeriodStates,
  notify,
  openPeriod,
  returnLease,
} from './lease.store.ts'
import type { LedgerWriter } from './ledger-writer.ts'

/** A lease without open holds that nobody used for so long goes back. */
const idleLeaseMs = 10_000
/** An instance that runs short asks the others again after this time. */
const askAgainMs = 250
/** Longest wait for the database to take a notice. */
const noticeTimeoutMs = 2_000

export interface Leases {
  /** The lease of the period that the moment lies in, when it is in memory and knows the organisation's present budget. */
  find(organisation: Organisation, atMs: number): Lease | undefined
  /** The same from the database. */
  open(organisation: Organisation, atMs: number): Promise<Lease>
  /** Leases more of what nobody has leased yet. Afterwards `unleasedPicoUsd` is what the database said. */
  extend(lease: Lease, neededPicoUsd: bigint): Promise<void>
  /** Requests that other instances give back what they do not use. */
  requestRoom(lease: Lease): Promise<void>
  /** Reads again where the periods stand, gives back idle leases, forgets leases that are over. */
  maintain(): Promise<void>
  all(): Lease[]
  /** False after a fencing: what was decided on the lease must not be written. */
  isLive(lease: Lease): boolean
  /** After a fencing: the leases are gone. */
  forgetAll(): void
  /** Gives everything back. */
  close(): Promise<void>
}

export interface LeasesDeps {
  database: Database
  clock: Clock
  log: Log
  writer: LedgerWriter
  instanceId(): InstanceId
}

export async function createLeases({ database, clock, log, writer, instanceId }: LeasesDeps): Promise<Leases> {
  /** Few per organisation: the running period, and former ones whose calls still run. */
  const byOrganisation = new Map<OrganisationId, Lease[]>()
  const opening = new Map<string, Promise<Lease>>()
  const askedMs = new WeakMap<Lease, number>()
  const failures = new WeakMap<Lease, { atMs: number; error: unknown }>()

  /**
   * One lease operation at a time per lease. When one fails because the database does not answer, those that wait behind it
   * fail with it: each would wait as long.
   */
  function inTurn<Result>(lease: Lease, operation: () => Promise<Result>): Promise<Result> {
    const askedMs = clock.monotonicMs()
    const result = lease.operation.then(async () => {
      const failure = failures.get(lease)
      if (failure && failure.atMs >= askedMs) throw failure.error
      try {
        if (lease.uncertain && isLive(lease)) await reconcile(lease)
        return await operation()
      } catch (error) {
        if (!(error instanceof FencedError)) failures.set(lease, { atMs: clock.monotonicMs(), error })
        throw error
      }
    })
    lease.operation = result.catch(() => {})
    return result
  }

  /** After an operation whose outcome is unknown: takes over what the database has. */
  async function reconcile(lease: Lease): Promise<void> {
    const { closedPicoUsd } = lease.uncertain!
    const state = await loadLease(database, keyOf(lease))
    if (!isLive(lease)) return
    lease.uncertain = null
    // Closed after all: the bill is in the period's counter.
    if (state.grantedPicoUsd === 0n) lease.settledPicoUsd -= closedPicoUsd
    applyLeaseState(lease, state)
  }

  function isLive(lease: Lease): boolean {
    return byOrganisation.get(lease.organisationId)?.includes(lease) ?? false
  }

  function find(organisation: Organisation, atMs: number): Lease | undefined {
    const lease = byOrganisation
      .get(organisation.id)
      ?.find(({ period }) => period.startsAt <= atMs && atMs < period.endsAt)
    if (lease && lease.budgetPicoUsd !== organisation.monthlyBudgetPicoUsd) {
      lease.budgetPicoUsd = organisation.monthlyBudgetPicoUsd
      lease.dirty = true
      wake(lease)
      // After a cut, what was leased above the new budget goes back so that other instances see the truth.
      if (lease.committedPicoUsd > lease.budgetPicoUsd) background(giveBack(lease, { keepAllowed: true }))
    }
    return lease
  }

  async function open(organisation: Organisation, atMs: number): Promise<Lease> {
    const key = `${organisation.id} ${organisation.timeZone} ${organisation.periodAnchorDay}`
    const running = opening.get(key)
    if (running) {
      await running
      return find(organisation, atMs) ?? open(organisation, atMs)
    }
    const promise = openPeriod(database, organisation, atMs).then(async (period) => {
      const lease = createLease(
        instanceId(),
        organisation.id,
        period,
        organisation.monthlyBudgetPicoUsd,
        clock.monotonicMs(),
      )
      const [state] = await loadPeriodStates(database, instanceId(), [
        { organisationId: organisation.id, period: period.name },
      ])
      applyPeriodState(lease, state!)
      byOrganisation.set(organisation.id, [...(byOrganisation.get(organisation.id) ?? []), lease])
      return lease
    })
    opening.set(key, promise)
    try {
      return await promise
    } finally {
      opening.delete(key)
    }
  }

  function extend(lease: Lease, neededPicoUsd: bigint): Promise<void> {
    return inTurn(lease, async () => {
      // Whoever came first may have leased enough for all, or found that nothing is left.
      if (!isLive(lease)) throw new FencedError(lease.instanceId)
      if (freePicoUsd(lease) >= neededPicoUsd || unleasedPicoUsd(lease) === 0n) return
      lease.uncertain = { closedPicoUsd: 0n }
      const state = await extendLease(database, {
        ...keyOf(lease),
        budgetPicoUsd: lease.budgetPicoUsd,
        neededPicoUsd: neededPicoUsd - freePicoUsd(lease),
      })
      lease.uncertain = null
      if (isLive(lease)) applyLeaseState(lease, state)
    })
  }

  /**
   * Gives back what is free; `keepAllowed` keeps what fits the budget, `close` ends the lease when nothing is open.
   * The money leaves memory first, then everything written before reaches the database, then the lease shrinks there.
   */
  function giveBack(lease: Lease, how: { keepAllowed?: boolean; close?: boolean }): Promise<void> {
    return inTurn(lease, async () => {
      if (!isLive(lease)) return
      const spare = lease.grantedPicoUsd - lease.settledPicoUsd - lease.heldPicoUsd
      const excess = lease.committedPicoUsd - lease.budgetPicoUsd
      const returned = how.keepAllowed && excess < spare ? excess : spare
      const close = how.close === true && isUnused(lease)
      if (returned <= 0n && !(close && lease.grantedPicoUsd > 0n)) return
      lease.grantedPicoUsd -= returned
      lease.committedPicoUsd -= returned
      lease.uncertain = { closedPicoUsd: 0n }
      await writer.barrier()
      const settledBefore = lease.settledPicoUsd
      if (close) lease.uncertain = { closedPicoUsd: settledBefore }
      const state = await returnLease(database, {
        ...keyOf(lease),
        budgetPicoUsd: lease.budgetPicoUsd,
        returnedPicoUsd: returned > 0n ? returned : 0n,
        close,
      })
      lease.uncertain = null
      if (!isLive(lease)) return
      // Closed: the bill has moved to the period's counter and the next lease starts from nothing.
      if (close && state.grantedPicoUsd === 0n) lease.settledPicoUsd -= settledBefore
      applyLeaseState(lease, state)
    })
  }

  function background(work: Promise<unknown>): void {
    work.catch((error: unknown) => log.warn({ error: describeError(error) }, 'a lease could not be given back'))
  }

  async function refresh(leases: Lease[]): Promise<void> {
    if (leases.length === 0) return
    const before = leases.map((lease) => lease.operation)
    const states = await loadPeriodStates(
      database,
      instanceId(),
      leases.map(({ organisationId, period }) => ({ organisationId, period: period.name })),
    )
    // A lease operation that ran meanwhile knows better.
    leases.forEach((lease, place) => {
      if (lease.operation === before[place] && isLive(lease)) applyPeriodState(lease, states[place]!)
    })
  }

  function onNotice(payload: string): void {
    const notice = JSON.parse(payload) as LeaseNotice
    if (notice.from === instanceId()) return
    const leases = byOrganisation.get(notice.organisationId as OrganisationId) ?? []
    if (notice.kind === 'returned') background(refresh(leases))
    else for (const lease of leases) background(giveBack(lease, {}))
  }

  const stopListening = await database.listen(leaseChannel, onNotice)
  database.onReconnect(() => background(refresh(all())))

  function all(): Lease[] {
    return [...byOrganisation.values()].flat()
  }

  function forget(lease: Lease): void {
    const rest = (byOrganisation.get(lease.organisationId) ?? []).filter((other) => other !== lease)
    if (rest.length > 0) byOrganisation.set(lease.organisationId, rest)
    else byOrganisation.delete(lease.organisationId)
  }

  function isUnused(lease: Lease): boolean {
    return lease.openHolds === 0 && lease.undecided === 0
  }

  async function maintain(): Promise<void> {
    const nowMs = clock.monotonicMs()
    const idle = all().filter((lease) => isUnused(lease) && nowMs - lease.lastUsedMs > idleLeaseMs)
    for (const lease of idle) {
      await giveBack(lease, { close: true })
      if (isUnused(lease) && lease.grantedPicoUsd === 0n && !lease.dirty && !lease.uncertain) forget(lease)
    }
    // Behind an operation under way this does nothing; after a failed one it reads what became of it.
    for (const lease of all()) if (lease.uncertain) await inTurn(lease, async () => {})
    await refresh(all())
  }

  return {
    find,
    open,
    extend,
    async requestRoom(lease) {
      const nowMs = clock.monotonicMs()
      if (lease.othersLeasedPicoUsd <= 0n || nowMs - (askedMs.get(lease) ?? -askAgainMs) < askAgainMs) return
      askedMs.set(lease, nowMs)
      const notice: LeaseNotice = { kind: 'wanted', organisationId: lease.organisationId, from: instanceId() }
      // The wait for room ends by itself; a notice that gets lost is repeated at the next look.
      await withDeadline(noticeTimeoutMs, (signal) => notify(database, notice, signal)).catch((error: unknown) =>
        log.warn({ error: describeError(error) }, 'other instances could not be asked for room'),
      )
    },
    maintain,
    all,
    isLive,
    forgetAll() {
      const gone = all()
      byOrganisation.clear()
      for (const lease of gone) wake(lease)
    },
    async close() {
      await stopListening()
      for (const lease of all()) await giveBack(lease, { close: true })
    },
  }
}

function keyOf({ instanceId, organisationId, period }: Lease) {
  return { instanceId, organisationId, period: period.name }
}
