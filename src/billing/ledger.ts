import {
  AppError,
  type Clock,
  createInstanceId,
  describeError,
  isAppError,
  type InstanceId,
  type Log,
  type OrganisationId,
  type RequestId,
  withDeadline,
} from '../kernel/index.ts'
import type { Database } from '../database/index.ts'
import { type Lease, unbilledPicoUsd } from './lease.ts'
import { type AuditReport, runAudit } from './audit.ts'
import { pricingOf } from './hold-size.ts'
import { closeInstance, registerInstance, writeHeartbeat } from './instance.store.ts'
import { FencedError, loadHeld, loadPeriodStates } from './lease.store.ts'
import { createLeases } from './leases.ts'
import { createLedgerWriter, unavailable } from './ledger-writer.ts'
import { loadReceipt } from './ledger.store.ts'
import { openHold, type OpenHold } from './open-hold.ts'
import type { Hold, HoldRequest, Ledger, Receipt } from './port.ts'
import { recoverDeadInstances } from './recovery.ts'
import { defaultHoldWaitMs, reserveFor } from './reservation.ts'
import { createThresholds } from './thresholds.ts'
import { loadUsageSums, type UsageQuery, type UsageSum } from './usage.store.ts'
import { createWebhookDelivery, type WebhookTarget } from './webhooks.ts'

/** How often the output of running streams is written down: what a crash may lose of it. */
const progressEveryMs = 250
/** How often thresholds, leases, heartbeats and webhooks are looked after. */
const maintainEveryMs = 1_000
/** Without a heartbeat for so long an instance counts as dead: its calls are settled by policy and its leases are freed. */
const instanceExpiryMs = 10_000
/** Most time that close() gives to settlements which the database does not take. */
const closeDeadlineMs = 10_000
/** Longest wait for one heartbeat; well below instanceExpiryMs, so that a hanging connection does not cost the leases. */
const heartbeatTimeoutMs = 3_000
/** Longest wait of a call for this process to start again as a new instance. */
const renewalTimeoutMs = 4_000

/** Called as things happen, for metrics. Must not throw. */
export interface LedgerObserver {
  held?(waitedMs: number): void
  refused?(organisationId: OrganisationId): void
  settled?(receipt: Receipt): void
  recovered?(holds: number): void
  thresholdReached?(event: { organisationId: OrganisationId; period: string; percent: number }): void
}

export interface LedgerDeps {
  database: Database
  clock: Clock
  log: Log
  observer?: LedgerObserver
  /** Longest wait of a call that does not fit while other holds are open; default 5,000. */
  holdWaitMs?: number
  webhooks?: {
    fetch: typeof fetch
    target(organisationId: OrganisationId): Promise<WebhookTarget | undefined>
  }
}

export interface LedgerService extends Ledger {
  /** Proves that entries, counters, leases and holds add up; names what does not. */
  audit(): Promise<AuditReport>
  /** Sums for a report, everything that was settled before included. */
  loadUsage(query: UsageQuery): Promise<UsageSum[]>
  /** What the timer does every second: heartbeat, recovery of dead instances, thresholds, idle leases. */
  maintain(): Promise<void>
  /** Writes the progress of running streams, as the timer does every 250 ms. */
  writeProgress(): Promise<void>
  /** This process among the ledger's instances. */
  instanceId(): InstanceId
}

/**
 * Opens the ledger: settles what earlier processes left open, registers this one and starts the timers. `close` it before the
 * database.
 */
export async function createLedger(deps: LedgerDeps): Promise<LedgerService> {
  const { database, clock, log, observer = {} } = deps
  const holdWaitMs = deps.holdWaitMs ?? defaultHoldWaitMs
  // The embedded database's folder is locked by its one owner: whoever else stands in the table is dead.
  const expiryMs = database.engine === 'embedded' ? null : instanceExpiryMs
  const open = new Map<RequestId, OpenHold>()
  /** Ids of open holds and of those that are still looking for room. */
  const ids = new Set<RequestId>()
  const shutdown = new AbortController()
  let instance = createInstanceId()
  let renewal: Promise<void> | undefined
  let closing: Promise<void> | undefined

  await recover(null)
  await registerInstance(database, instance)
  const writer = createLedgerWriter({ database, clock, log, instanceId: () => instance, onFenced: renew })
  const leases = await createLeases({ database, clock, log, writer, instanceId: () => instance })
  const thresholds = createThresholds({ database, now: () => clock.now(), log, observer })
  const webhooks = deps.webhooks && createWebhookDelivery({ database, clock, log, ...deps.webhooks })
  await thresholds.checkAll()

  async function recover(self: InstanceId | null): Promise<void> {
    const holds = await recoverDeadInstances({ database, clock, log, self, expiryMs })
    if (holds > 0) observer.recovered?.(holds)
  }

  /** Taken for dead by another instance: start again as a new one, without leases. Open holds have been settled there. */
  function renew(fenced: InstanceId): Promise<void> {
    if (fenced !== instance) return renewal ?? Promise.resolve()
    renewal ??= (async () => {
      log.error({ instanceId: fenced }, 'another instance took this one for dead; starting again with new leases')
      for (const hold of open.values()) if (hold.instanceId === fenced) hold.revoke()
      const next = createInstanceId()
      while (!shutdown.signal.aborted) {
        try {
          await withDeadline(heartbeatTimeoutMs, (signal) => registerInstance(database, next, signal))
          break
        } catch (error) {
          log.error({ error: describeError(error) }, 'the ledger cannot register this instance')
          await clock.sleep(1_000, shutdown.signal).catch(() => {})
        }
      }
      instance = next
      leases.forgetAll()
      writer.noteDatabase(true)
    })().finally(() => {
      renewal = undefined
    })
    return renewal
  }

  async function hold(request: HoldRequest): Promise<Hold> {
    if (closing) throw new AppError('shutting_down', 'The service is shutting down.', { retryAfterSeconds: 5 })
    request.signal.throwIfAborted()
    if (!writer.accepting()) throw unavailable()
    if (ids.has(request.requestId)) throw new AppError('conflict', 'This request id is in use.')
    if (request.candidates.length === 0) throw new AppError('internal_error', 'No deployment to hold money for.')
    ids.add(request.requestId)
    try {
      return await openFor(request).catch((error: unknown) => {
        // Taken for dead between two calls: nothing was set aside yet, so start again on a new lease.
        if (!(error instanceof FencedError)) throw error
        return withDeadline(renewalTimeoutMs, () => renew(error.instanceId)).then(() => openFor(request))
      })
    } catch (error) {
      ids.delete(request.requestId)
      if (isAppError(error) || request.signal.aborted) throw error
      // Periods and leases could not be read or written: nothing was set aside, and the call may be sent again.
      if (!(error instanceof FencedError) && !isContention(error)) writer.noteDatabase(false)
      throw unavailable(error)
    }
  }

  async function openFor(request: HoldRequest): Promise<Hold> {
    const startedAt = clock.now()
    const lease = leases.find(request.organisation, startedAt) ?? (await leases.open(request.organisation, startedAt))
    lease.undecided += 1
    try {
      return await decide(lease, request, startedAt)
    } finally {
      lease.undecided -= 1
    }
  }

  async function decide(lease: Lease, request: HoldRequest, startedAt: number): Promise<Hold> {
    const startedMs = clock.monotonicMs()
    lease.lastUsedMs = startedMs
    const pricing = pricingOf(request, startedAt)
    const reservation = { leases, clock, holdWaitMs }
    const reserved = await reserveFor(reservation, lease, request, pricing).catch((error: unknown) => {
      if (!isAppError(error, 'insufficient_quota')) throw error
      if (request.whenExhausted === 'write_off') return 'write_off' as const
      observer.refused?.(request.organisation.id)
      throw error
    })
    observer.held?.(clock.monotonicMs() - startedMs)
    const onSettled = (receipt: Receipt) => {
      lease.lastUsedMs = clock.monotonicMs()
      observer.settled?.(receipt)
    }
    const onClosed = () => {
      open.delete(request.requestId)
      ids.delete(request.requestId)
    }
    const deps = { reservation, writer, log, now: () => clock.now(), onSettled, onClosed }
    const hold = openHold(deps, lease, request, pricing, reserved, startedAt)
    open.set(request.requestId, hold)
    return hold
  }

  async function writeProgress(): Promise<void> {
    const writes: Promise<void>[] = []
    for (const hold of open.values()) {
      const progress = hold.takeProgress()
      if (progress) writes.push(writer.change(hold.instanceId, { ...progress, amountPicoUsd: null }))
    }
    // One that fails belongs to a hold that is over, or to a database that is away: the settlement will tell.
    await Promise.allSettled(writes)
  }

  /** Also finds out that the database is back when no call writes to it. */
  async function beat(): Promise<void> {
    try {
      const alive = await withDeadline(heartbeatTimeoutMs, (signal) => writeHeartbeat(database, instance, signal))
      if (alive) writer.noteDatabase(true)
      else await renew(instance)
    } catch (error) {
      writer.noteDatabase(false)
      throw error
    }
  }

  async function maintain(): Promise<void> {
    if (expiryMs !== null) await recover(instance)
    await thresholds.check(leases.all())
    await leases.maintain().catch((error: unknown) => {
      if (!(error instanceof FencedError)) throw error
      return renew(error.instanceId)
    })
  }

  async function deliver(): Promise<void> {
    await webhooks?.deliverDue()
  }

  const stopTimers = [
    // Alone, so that nothing else can hold it up for as long as makes this instance count as dead.
    repeat(clock, maintainEveryMs, beat, log, 'the heartbeat could not be written'),
    repeat(clock, maintainEveryMs, maintain, log, 'ledger maintenance failed'),
    repeat(clock, maintainEveryMs, deliver, log, 'the webhooks could not be delivered'),
    repeat(clock, progressEveryMs, writeProgress, log, 'the progress of streams could not be written'),
  ]

  async function closeAll(): Promise<void> {
    for (const stop of stopTimers) await stop()
    const deadline = AbortSignal.timeout(closeDeadlineMs)
    deadline.addEventListener('abort', () => writer.abandon(), { once: true })
    const settlements = [...open.values()].map((hold) => hold.settleByPolicy('shutdown'))
    await Promise.allSettled(settlements)
    await writer.drained()
    shutdown.abort()
    try {
      await thresholds.check(leases.all())
      await leases.close()
      // Holds that could not be settled stay for the next start; so does the instance that they belong to.
      if (open.size === 0) await database.transaction((transaction) => closeInstance(transaction, instance))
    } catch (error) {
      log.error({ error: describeError(error) }, 'the ledger could not give its leases back; the next start will')
    }
    writer.close()
  }

  return {
    hold,
    hasCredit(organisation) {
      const lease = leases.find(organisation, clock.now())
      return lease ? unbilledPicoUsd(lease) > 0n : organisation.monthlyBudgetPicoUsd > 0n
    },
    async loadBudget(organisation) {
      const now = clock.now()
      const lease = leases.find(organisation, now) ?? (await leases.open(organisation, now))
      const key = { organisationId: organisation.id, period: lease.period.name }
      await writer.barrier()
      const [state] = await loadPeriodStates(database, instance, [key])
      return {
        organisationId: organisation.id,
        period: lease.period.name,
        periodEndsAt: lease.period.endsAt,
        budgetPicoUsd: organisation.monthlyBudgetPicoUsd,
        settledPicoUsd: state!.settledPicoUsd,
        heldPicoUsd: await loadHeld(database, organisation.id, lease.period.name),
      }
    },
    loadReceipt: (requestId) => loadReceipt(database, requestId),
    async loadUsage(query) {
      await writer.barrier()
      return loadUsageSums(database, query)
    },
    async audit() {
      await writer.barrier()
      return runAudit(database, expiryMs)
    },
    isAccepting: () => writer.accepting(),
    async maintain() {
      await beat()
      await maintain()
    },
    writeProgress,
    instanceId: () => instance,
    close: () => (closing ??= closeAll()),
  }
}

/** Another transaction was in the way of one organisation's: SQLSTATE 40 and 55P03. The database itself answers. */
function isContention(error: unknown): boolean {
  return /^(?:40|55P03)/.test(String((error as { code?: unknown }).code))
}

/** Runs a task every so often, never twice at a time. The returned function stops it and waits for a running one. */
function repeat(clock: Clock, everyMs: number, task: () => Promise<void>, log: Log, failure: string) {
  let running: Promise<void> | undefined
  const stop = clock.every(everyMs, () => {
    running ??= task()
      .catch((error: unknown) => log.error({ error: describeError(error) }, failure))
      .finally(() => {
        running = undefined
      })
  })
  return async () => {
    stop()
    await running
  }
}
