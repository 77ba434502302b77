import {
  type Clock,
  describeError,
  type InstanceId,
  type Log,
  type OrganisationId,
  sharedOwner,
  withDeadline,
} from '../../platform/kernel/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import {
  applyLeaseState,
  applyPeriodState,
  createLease,
  freePicoUsd,
  type Lease,
  unleasedPicoUsd,
  wake,
} from './lease.ts'
import {
  extendLease,
  leaseChannel,
  type LeaseNotice,
  loadLease,
  loadPeriodStates,
  openPeriod,
  requestRoom,
  returnLease,
} from './lease.store.ts'
import { FencedError } from './instance.store.ts'
import type { LedgerWriter } from './ledger-writer.ts'

/**
 * A lease without open holds that was not used for so long goes back. With the embedded engine nobody waits for the money, and calls that find a
 * lease do not wait for a database that is slow.
 */
const idleLeaseMs = { postgres: 10_000, embedded: 600_000 }
/** An instance that runs short requests room from the others again after this time. */
const requestAgainMs = 250
/** Longest wait for the database to take a notice. */
const noticeTimeoutMs = 2_000

export interface LeasesDeps {
  database: Database
  clock: Clock
  log: Log
  writer: LedgerWriter
  instanceId(): InstanceId
}

/** The leases of one instance: loaded on demand, kept in memory, changed in the database first. */
export class Leases {
  private readonly deps: LeasesDeps
  /** Few per organisation: the current period, and earlier ones whose calls still run. */
  private readonly byOrganisation = new Map<OrganisationId, Lease[]>()
  private readonly opening = new Map<string, Promise<Lease>>()
  private readonly requestedMs = new WeakMap<Lease, number>()
  /** The last request of another instance that was found in the database, as a time of its clock. */
  private readonly answeredMs = new WeakMap<Lease, number>()
  private readonly failures = new WeakMap<Lease, { atMs: number; error: unknown }>()
  private stopListening: () => Promise<void> = async () => {}

  constructor(deps: LeasesDeps) {
    this.deps = deps
  }

  /** Listens for the notices of other instances. Call once, before anything else. */
  async listen(): Promise<void> {
    const { database } = this.deps
    this.stopListening = await database.listen(leaseChannel, (payload) => this.onNotice(payload))
    database.onReconnect(() => this.background(this.refresh(this.all())))
  }

  all(): Lease[] {
    return [...this.byOrganisation.values()].flat()
  }

  /** False after a fencing: what was decided on the lease must not be written. */
  isLive(lease: Lease): boolean {
    return this.byOrganisation.get(lease.organisationId)?.includes(lease) ?? false
  }

  /** The lease of the period that the moment is in, when it is in memory, with the organisation's present budget. */
  find(organisation: Organisation, atMs: number): Lease | undefined {
    const lease = this.byOrganisation
      .get(organisation.id)
      ?.find(({ period }) => period.startsAt <= atMs && atMs < period.endsAt)
    if (lease && lease.budgetPicoUsd !== organisation.monthlyBudgetPicoUsd) {
      lease.budgetPicoUsd = organisation.monthlyBudgetPicoUsd
      lease.dirty = true
      wake(lease)
      // After a cut, what was leased above the new budget goes back, so that other instances see the reduced total.
      if (lease.committedPicoUsd > lease.budgetPicoUsd) this.background(this.giveBack(lease, { keepAllowed: true }))
    }
    return lease
  }

  /** The same from the database. */
  async open(organisation: Organisation, atMs: number): Promise<Lease> {
    const key = `${organisation.id} ${organisation.timeZone} ${organisation.periodAnchorDay}`
    const running = this.opening.get(key)
    if (running) {
      await running
      return this.find(organisation, atMs) ?? this.open(organisation, atMs)
    }
    const promise = this.openNow(organisation, atMs)
    this.opening.set(key, promise)
    try {
      return await promise
    } finally {
      this.opening.delete(key)
    }
  }

  private async openNow(organisation: Organisation, atMs: number): Promise<Lease> {
    const { clock, instanceId } = this.deps
    const { id, monthlyBudgetPicoUsd } = organisation
    const database = this.deps.database.for(id)
    const period = await openPeriod(database, organisation, atMs)
    const lease = createLease(instanceId(), id, period, monthlyBudgetPicoUsd, clock.monotonicMs())
    const [state] = await loadPeriodStates(database, instanceId(), [{ organisationId: id, period: period.name }])
    // Registered again meanwhile: every call would fail on a lease of the instance that is over.
    if (lease.instanceId !== instanceId()) return this.openNow(organisation, atMs)
    applyPeriodState(lease, state!)
    this.answeredMs.set(lease, state!.roomWantedAt?.getTime() ?? 0)
    this.byOrganisation.set(id, [...(this.byOrganisation.get(id) ?? []), lease])
    return lease
  }

  /** Leases more of what no instance has leased yet. Afterwards `unleasedPicoUsd` is the database's figure. */
  extend(lease: Lease, neededPicoUsd: bigint): Promise<void> {
    return this.inTurn(lease, async () => {
      // An earlier operation may have leased enough for all, or found that nothing is left.
      if (!this.isLive(lease)) throw new FencedError(lease.instanceId)
      if (freePicoUsd(lease) >= neededPicoUsd || unleasedPicoUsd(lease) === 0n) return
      lease.uncertain = { closedPicoUsd: 0n }
      const state = await extendLease(this.deps.database.for(lease.organisationId), {
        ...this.keyOf(lease),
        budgetPicoUsd: lease.budgetPicoUsd,
        neededPicoUsd: neededPicoUsd - freePicoUsd(lease),
      })
      lease.uncertain = null
      if (this.isLive(lease)) applyLeaseState(lease, state)
    })
  }

  /** Requests that other instances give back what they do not use. */
  async requestRoom(lease: Lease): Promise<void> {
    const { database, clock, log, instanceId } = this.deps
    const nowMs = clock.monotonicMs()
    const lastMs = this.requestedMs.get(lease) ?? -requestAgainMs
    if (lease.othersLeasedPicoUsd <= 0n || nowMs - lastMs < requestAgainMs) return
    this.requestedMs.set(lease, nowMs)
    const key = { instanceId: instanceId(), organisationId: lease.organisationId, period: lease.period.name }
    // The wait for room ends by itself; a request that gets lost is repeated when the caller tries again.
    await withDeadline(noticeTimeoutMs, (signal) => requestRoom(database.for(lease.organisationId), key, signal)).catch(
      (error: unknown) => log.warn({ error: describeError(error) }, 'other instances could not be asked for room'),
    )
  }

  /** Loads the current state of all periods, gives back idle leases, forgets leases that are over. */
  async maintain(): Promise<void> {
    const nowMs = this.deps.clock.monotonicMs()
    const idleMs = idleLeaseMs[this.deps.database.engine]
    const idle = this.all().filter((lease) => isUnused(lease) && nowMs - lease.lastUsedMs > idleMs)
    for (const lease of idle) {
      await this.giveBack(lease, { close: true })
      if (isUnused(lease) && lease.grantedPicoUsd === 0n && !lease.dirty && !lease.uncertain) this.forget(lease)
    }
    // Behind an operation under way this does nothing; after a failed one it reads what became of it.
    for (const lease of this.all()) if (lease.uncertain) await this.inTurn(lease, async () => {})
    await this.refresh(this.all())
  }

  /** After a fencing: the leases are gone. */
  forgetAll(): void {
    const gone = this.all()
    this.byOrganisation.clear()
    for (const lease of gone) wake(lease)
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    await this.stopListening()
    for (const lease of this.all()) await this.giveBack(lease, { close: true })
  }

  /**
   * One operation at a time per lease. When one fails because the database does not answer, those that wait behind it
   * fail with it: each would wait as long.
   */
  private inTurn<Result>(lease: Lease, operation: () => Promise<Result>): Promise<Result> {
    const { clock } = this.deps
    const calledMs = clock.monotonicMs()
    const result = lease.operation.then(async () => {
      const failure = this.failures.get(lease)
      if (failure && failure.atMs >= calledMs) throw failure.error
      try {
        if (lease.uncertain && this.isLive(lease)) await this.reconcile(lease)
        return await operation()
      } catch (error) {
        if (!(error instanceof FencedError)) this.failures.set(lease, { atMs: clock.monotonicMs(), error })
        throw error
      }
    })
    lease.operation = result.catch(() => {})
    return result
  }

  /** After an operation whose outcome is unknown: loads the state from the database. */
  private async reconcile(lease: Lease): Promise<void> {
    const { closedPicoUsd } = lease.uncertain!
    const state = await loadLease(this.deps.database.for(lease.organisationId), this.keyOf(lease))
    if (!this.isLive(lease)) return
    lease.uncertain = null
    // Closed after all: the bill is in the period's counter.
    if (state.grantedPicoUsd === 0n) lease.settledPicoUsd -= closedPicoUsd
    applyLeaseState(lease, state)
  }

  /**
   * Gives back what is free; `keepAllowed` keeps what fits the budget, `close` ends the lease when nothing is open.
   * The money leaves memory first, then everything written before reaches the database, then the lease shrinks there.
   */
  private giveBack(lease: Lease, how: { keepAllowed?: boolean; close?: boolean }): Promise<void> {
    return this.inTurn(lease, async () => {
      if (!this.isLive(lease)) return
      const spare = lease.grantedPicoUsd - lease.settledPicoUsd - lease.heldPicoUsd
      const excess = lease.committedPicoUsd - lease.budgetPicoUsd
      const returned = how.keepAllowed && excess < spare ? excess : spare
      const close = how.close === true && isUnused(lease)
      if (returned <= 0n && !(close && lease.grantedPicoUsd > 0n)) return
      lease.grantedPicoUsd -= returned
      lease.committedPicoUsd -= returned
      lease.uncertain = { closedPicoUsd: 0n }
      await this.deps.writer.barrier()
      const settledBefore = lease.settledPicoUsd
      if (close) lease.uncertain = { closedPicoUsd: settledBefore }
      const state = await returnLease(this.deps.database.for(lease.organisationId), {
        ...this.keyOf(lease),
        budgetPicoUsd: lease.budgetPicoUsd,
        returnedPicoUsd: returned > 0n ? returned : 0n,
        close,
      })
      lease.uncertain = null
      if (!this.isLive(lease)) return
      // Closed: the bill has moved to the period's counter and the next lease starts from nothing.
      if (close && state.grantedPicoUsd === 0n) lease.settledPicoUsd -= settledBefore
      applyLeaseState(lease, state)
    })
  }

  private background(work: Promise<unknown>): void {
    work.catch((error: unknown) =>
      this.deps.log.warn({ error: describeError(error) }, 'a lease could not be given back'),
    )
  }

  private async refresh(leases: Lease[]): Promise<void> {
    if (leases.length === 0) return
    const before = leases.map((lease) => lease.operation)
    const states = await loadPeriodStates(
      this.deps.database.for(sharedOwner),
      this.deps.instanceId(),
      leases.map(({ organisationId, period }) => ({ organisationId, period: period.name })),
    )
    // An operation that ran meanwhile has newer figures.
    leases.forEach((lease, place) => {
      if (!this.isLive(lease)) return
      const state = states[place]!
      if (lease.operation === before[place]) applyPeriodState(lease, state)
      this.answerRequest(lease, state.roomWantedAt)
    })
  }

  /** Where the notification of the request was lost. One that has arrived was answered before: then little is left to give back. */
  private answerRequest(lease: Lease, wantedAt: Date | null): void {
    const wantedMs = wantedAt?.getTime() ?? 0
    if (wantedMs <= (this.answeredMs.get(lease) ?? 0)) return
    this.answeredMs.set(lease, wantedMs)
    this.background(this.giveBack(lease, {}))
  }

  private onNotice(payload: string): void {
    const notice = JSON.parse(payload) as LeaseNotice
    if (notice.from === this.deps.instanceId()) return
    const leases = this.byOrganisation.get(notice.organisationId as OrganisationId) ?? []
    if (notice.kind === 'returned') this.background(this.refresh(leases))
    else for (const lease of leases) this.background(this.giveBack(lease, {}))
  }

  private keyOf({ instanceId, organisationId, period }: Lease) {
    return { instanceId, organisationId, period: period.name }
  }

  private forget(lease: Lease): void {
    const rest = (this.byOrganisation.get(lease.organisationId) ?? []).filter((other) => other !== lease)
    if (rest.length > 0) this.byOrganisation.set(lease.organisationId, rest)
    else this.byOrganisation.delete(lease.organisationId)
  }
}

function isUnused(lease: Lease): boolean {
  return lease.openHolds === 0 && lease.undecided === 0
}
