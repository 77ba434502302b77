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
import { type Account, adopt, createAccount, freePicoUsd, look, unleasedPicoUsd, wake } from './account.ts'
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
  /** The account of the period that the moment lies in, when it is in memory and knows the organisation's present budget. */
  find(organisation: Organisation, atMs: number): Account | undefined
  /** The same from the database. */
  open(organisation: Organisation, atMs: number): Promise<Account>
  /** Leases more of what nobody has leased yet. Afterwards `unleasedPicoUsd` is what the database said. */
  extend(account: Account, neededPicoUsd: bigint): Promise<void>
  /** Asks other instances to give back what they do not use. */
  ask(account: Account): Promise<void>
  /** Reads again where the periods stand, gives back idle leases, forgets accounts that are over. */
  maintain(): Promise<void>
  accounts(): Account[]
  /** False after a fencing: what was decided on the account must not be written. */
  isLive(account: Account): boolean
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
  const byOrganisation = new Map<OrganisationId, Account[]>()
  const opening = new Map<string, Promise<Account>>()
  const askedMs = new WeakMap<Account, number>()
  const failures = new WeakMap<Account, { atMs: number; error: unknown }>()

  /**
   * One lease operation at a time per account. When one fails because the database does not answer, those that wait behind it
   * fail with it: each would wait as long.
   */
  function inTurn<Result>(account: Account, operation: () => Promise<Result>): Promise<Result> {
    const askedMs = clock.monotonicMs()
    const result = account.operation.then(async () => {
      const failure = failures.get(account)
      if (failure && failure.atMs >= askedMs) throw failure.error
      try {
        if (account.uncertain && isLive(account)) await reconcile(account)
        return await operation()
      } catch (error) {
        if (!(error instanceof FencedError)) failures.set(account, { atMs: clock.monotonicMs(), error })
        throw error
      }
    })
    account.operation = result.catch(() => {})
    return result
  }

  /** After an operation whose outcome is unknown: takes over what the database has. */
  async function reconcile(account: Account): Promise<void> {
    const { closedPicoUsd } = account.uncertain!
    const state = await loadLease(database, keyOf(account))
    if (!isLive(account)) return
    account.uncertain = null
    // Closed after all: the bill is in the period's counter.
    if (state.grantedPicoUsd === 0n) account.settledPicoUsd -= closedPicoUsd
    adopt(account, state)
  }

  function isLive(account: Account): boolean {
    return byOrganisation.get(account.organisationId)?.includes(account) ?? false
  }

  function find(organisation: Organisation, atMs: number): Account | undefined {
    const account = byOrganisation
      .get(organisation.id)
      ?.find(({ period }) => period.startsAt <= atMs && atMs < period.endsAt)
    if (account && account.budgetPicoUsd !== organisation.monthlyBudgetPicoUsd) {
      account.budgetPicoUsd = organisation.monthlyBudgetPicoUsd
      account.dirty = true
      wake(account)
      // After a cut, what was leased above the new budget goes back so that other instances see the truth.
      if (account.committedPicoUsd > account.budgetPicoUsd) background(giveBack(account, { keepAllowed: true }))
    }
    return account
  }

  async function open(organisation: Organisation, atMs: number): Promise<Account> {
    const key = `${organisation.id} ${organisation.timeZone} ${organisation.periodAnchorDay}`
    const running = opening.get(key)
    if (running) {
      await running
      return find(organisation, atMs) ?? open(organisation, atMs)
    }
    const promise = openPeriod(database, organisation, atMs).then(async (period) => {
      const account = createAccount(
        instanceId(),
        organisation.id,
        period,
        organisation.monthlyBudgetPicoUsd,
        clock.monotonicMs(),
      )
      const [state] = await loadPeriodStates(database, instanceId(), [
        { organisationId: organisation.id, period: period.name },
      ])
      look(account, state!)
      byOrganisation.set(organisation.id, [...(byOrganisation.get(organisation.id) ?? []), account])
      return account
    })
    opening.set(key, promise)
    try {
      return await promise
    } finally {
      opening.delete(key)
    }
  }

  function extend(account: Account, neededPicoUsd: bigint): Promise<void> {
    return inTurn(account, async () => {
      // Whoever came first may have leased enough for all, or found that nothing is left.
      if (!isLive(account)) throw new FencedError(account.instanceId)
      if (freePicoUsd(account) >= neededPicoUsd || unleasedPicoUsd(account) === 0n) return
      account.uncertain = { closedPicoUsd: 0n }
      const state = await extendLease(database, {
        ...keyOf(account),
        budgetPicoUsd: account.budgetPicoUsd,
        neededPicoUsd: neededPicoUsd - freePicoUsd(account),
      })
      account.uncertain = null
      if (isLive(account)) adopt(account, state)
    })
  }

  /**
   * Gives back what is free; `keepAllowed` keeps what fits the budget, `close` ends the lease when nothing is open.
   * The money leaves memory first, then everything written before reaches the database, then the lease shrinks there.
   */
  function giveBack(account: Account, how: { keepAllowed?: boolean; close?: boolean }): Promise<void> {
    return inTurn(account, async () => {
      if (!isLive(account)) return
      const spare = account.grantedPicoUsd - account.settledPicoUsd - account.heldPicoUsd
      const excess = account.committedPicoUsd - account.budgetPicoUsd
      const returned = how.keepAllowed && excess < spare ? excess : spare
      const close = how.close === true && isUnused(account)
      if (returned <= 0n && !(close && account.grantedPicoUsd > 0n)) return
      account.grantedPicoUsd -= returned
      account.committedPicoUsd -= returned
      account.uncertain = { closedPicoUsd: 0n }
      await writer.barrier()
      const settledBefore = account.settledPicoUsd
      if (close) account.uncertain = { closedPicoUsd: settledBefore }
      const state = await returnLease(database, {
        ...keyOf(account),
        budgetPicoUsd: account.budgetPicoUsd,
        returnedPicoUsd: returned > 0n ? returned : 0n,
        close,
      })
      account.uncertain = null
      if (!isLive(account)) return
      // Closed: the bill has moved to the period's counter and the next lease starts from nothing.
      if (close && state.grantedPicoUsd === 0n) account.settledPicoUsd -= settledBefore
      adopt(account, state)
    })
  }

  function background(work: Promise<unknown>): void {
    work.catch((error: unknown) => log.warn({ error: describeError(error) }, 'a lease could not be given back'))
  }

  async function refresh(accounts: Account[]): Promise<void> {
    if (accounts.length === 0) return
    const before = accounts.map((account) => account.operation)
    const states = await loadPeriodStates(
      database,
      instanceId(),
      accounts.map(({ organisationId, period }) => ({ organisationId, period: period.name })),
    )
    // A lease operation that ran meanwhile knows better.
    accounts.forEach((account, place) => {
      if (account.operation === before[place] && isLive(account)) look(account, states[place]!)
    })
  }

  function onNotice(payload: string): void {
    const notice = JSON.parse(payload) as LeaseNotice
    if (notice.from === instanceId()) return
    const accounts = byOrganisation.get(notice.organisationId as OrganisationId) ?? []
    if (notice.kind === 'returned') background(refresh(accounts))
    else for (const account of accounts) background(giveBack(account, {}))
  }

  const stopListening = await database.listen(leaseChannel, onNotice)
  database.onReconnect(() => background(refresh(allAccounts())))

  function allAccounts(): Account[] {
    return [...byOrganisation.values()].flat()
  }

  function forget(account: Account): void {
    const rest = (byOrganisation.get(account.organisationId) ?? []).filter((other) => other !== account)
    if (rest.length > 0) byOrganisation.set(account.organisationId, rest)
    else byOrganisation.delete(account.organisationId)
  }

  function isUnused(account: Account): boolean {
    return account.openHolds === 0 && account.undecided === 0
  }

  async function maintain(): Promise<void> {
    const nowMs = clock.monotonicMs()
    const idle = allAccounts().filter((account) => isUnused(account) && nowMs - account.lastUsedMs > idleLeaseMs)
    for (const account of idle) {
      await giveBack(account, { close: true })
      if (isUnused(account) && account.grantedPicoUsd === 0n && !account.dirty && !account.uncertain) forget(account)
    }
    // Behind an operation under way this does nothing; after a failed one it reads what became of it.
    for (const account of allAccounts()) if (account.uncertain) await inTurn(account, async () => {})
    await refresh(allAccounts())
  }

  return {
    find,
    open,
    extend,
    async ask(account) {
      const nowMs = clock.monotonicMs()
      if (account.othersLeasedPicoUsd <= 0n || nowMs - (askedMs.get(account) ?? -askAgainMs) < askAgainMs) return
      askedMs.set(account, nowMs)
      const notice: LeaseNotice = { kind: 'wanted', organisationId: account.organisationId, from: instanceId() }
      // The wait for room ends by itself; a notice that gets lost is repeated at the next look.
      await withDeadline(noticeTimeoutMs, (signal) => notify(database, notice, signal)).catch((error: unknown) =>
        log.warn({ error: describeError(error) }, 'other instances could not be asked for room'),
      )
    },
    maintain,
    accounts: allAccounts,
    isLive,
    forgetAll() {
      const gone = allAccounts()
      byOrganisation.clear()
      for (const account of gone) wake(account)
    },
    async close() {
      await stopListening()
      for (const account of allAccounts()) await giveBack(account, { close: true })
    },
  }
}

function keyOf({ instanceId, organisationId, period }: Account) {
  return { instanceId, organisationId, period: period.name }
}
