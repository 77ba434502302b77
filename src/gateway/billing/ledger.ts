import {
  type Clock,
  describeError,
  type InstanceId,
  type Log,
  type OrganisationId,
  type RepeatedWork,
  repeatWork,
  sharedOwner,
} from '../../platform/kernel/index.ts'
import type { Database, OwnedDatabase } from '../../platform/database/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { type AuditReport, runAudit } from './audit.store.ts'
import {
  closeInstance,
  FencedError,
  type InstanceFacts,
  type LiveInstance,
  loadLiveInstances,
  loadServerJournals,
  recordRepair,
} from './instance.store.ts'
import { type JournalCopy, JournalError, JournalWriter } from './journal/index.ts'
import { instanceTimes, LedgerInstance } from './ledger-instance.ts'
import { loadHeld, loadPeriodStates } from './lease.store.ts'
import { unbilledPicoUsd } from './lease.ts'
import { Leases } from './leases.ts'
import type { BudgetState, Ledger, LedgerObserver } from './port.ts'
import type { RefusalReason } from './ledger-writer.ts'
import { loadReceipt } from './ledger.store.ts'
import { OpenHolds } from './open-holds.ts'
import { periodAt } from './periods.ts'
import { type JournalOptions, prepareWriter } from './prepare-writer.ts'
import { recoverDeadInstances } from './recovery.ts'
import { defaultHoldWaitMs } from './reservation.ts'
import { Retention } from './retention.ts'
import { createThresholds } from './thresholds.ts'
import { UsageCounting } from './usage-counting.ts'
import { createInstallationReports, type InstallationReports } from './installation-usage.ts'
import { createUsageReports, type UsageReports } from './usage-reports.ts'
import { loadUsagePage, loadUsageTotals, type UsagePage, type UsageQuery, type UsageSum } from './usage.store.ts'
import { createWebhookDelivery, type WebhookTarget } from './webhooks.ts'

/** Interval at which the output of running streams is written; a crash loses at most the output since. */
const progressEveryMs = 250
/** Interval at which settled calls are summed up for usage reports. */
const countEveryMs = 1_000
/** Longest wait for the list of instances, which probes read. */
const listTimeoutMs = 1_500
/** Longest wait of close() for settlements while the database does not answer. */
const closeDeadlineMs = 10_000

export interface LedgerDeps {
  database: Database
  clock: Clock
  log: Log
  observer?: LedgerObserver
  /** Longest wait of a call that does not fit while other holds are open; default 5,000. */
  holdWaitMs?: number
  /** Entries of calls that began more than this many days ago are removed; without it, none are. */
  keepEntriesDays?: number | undefined
  /** Where writes of the hot path become durable; without it, in the database. Only with an embedded database. */
  journal?: JournalOptions | undefined
  /** After this silence an instance is presumed dead; default 10,000. All instances of a database need the same. */
  instanceExpiryMs?: number | undefined
  /** What this process states about itself in the list of instances. */
  facts?: InstanceFacts | undefined
  webhooks?: {
    fetch: typeof fetch
    target(organisationId: OrganisationId): Promise<WebhookTarget | undefined>
  }
}

export interface LedgerService extends Ledger {
  /** Resolves when every call that was settled before is in the ledger's tables. Rejects with 503 when that takes too long. */
  flush(): Promise<void>
  /** Why new calls are refused with 503; undefined: they are not. */
  reasonToRefuse(): RefusalReason | undefined
  /** Checks that entries, counters, leases and holds agree, and reports what does not. */
  audit(): Promise<AuditReport>
  /** Settles now what recovery would settle: the holds of dead instances and those without an instance. Returns their number. */
  repair(actor: Actor): Promise<number>
  /** Reports of the console, including everything that was settled before the call. */
  reports: UsageReports
  /** Reports of the whole installation, for operators. */
  installation: InstallationReports
  /** Sums for a report, including everything that was settled before the call. */
  loadUsage(query: UsageQuery): Promise<UsagePage>
  loadUsageTotals(query: UsageQuery): Promise<UsageSum>
  /**
   * What the timers do every second: heartbeat, recovery of dead instances, thresholds, idle leases, sums for usage reports, removal of
   * old entries.
   */
  maintain(): Promise<void>
  /** Writes the progress of running streams, as the timer does every 250 ms. */
  writeProgress(): Promise<void>
  /** This process among the ledger's instances. */
  instanceId(): InstanceId
  /** The processes that run on this database, this one included. Rejects when the database does not answer in time. */
  loadLiveInstances(): Promise<LiveInstance[]>
  /**
   * What is durable in the journal now, for a copy. While no statement runs on the database, both are from one moment. Empty without a
   * journal. The caller closes the descriptors.
   */
  openJournalCopies(): JournalCopy[]
}

/**
 * Opens the ledger: settles what earlier processes left open, registers this one and starts the timers. `close` it before the
 * database.
 */
export async function createLedger(deps: LedgerDeps): Promise<LedgerService> {
  const { database, clock, log, observer = {} } = deps
  const parts = await openParts(deps, observer)
  const { instance, writer, leases, thresholds, holds, counting, retention, expiryMs } = parts
  const shared = database.for(sharedOwner)
  const webhooks = deps.webhooks && createWebhookDelivery({ database: shared, clock, log, ...deps.webhooks })
  await thresholds.checkAll()

  const recoverOthers = () => recover(deps, instance.id, expiryMs, () => instance.isSteady())
  async function maintain(): Promise<void> {
    if (expiryMs !== null) await recoverOthers()
    await thresholds.check(leases.all())
    await leases.maintain().catch((error: unknown) => {
      if (!(error instanceof FencedError)) throw error
      return instance.renew(error.instanceId)
    })
  }
  const repeated = startRepeatedWork(deps, parts, {
    'ledger maintenance failed': maintain,
    'the webhooks could not be delivered': async () => void (await webhooks?.deliverDue()),
  })
  const catchUp = (owner: string) => writer.barrier().then(() => counting.catchUp(owner))
  const { reports, installation } = createReports(deps, parts, catchUp)
  let closing: Promise<void> | undefined
  return {
    hold: async (request) => holds.open(request),
    holdAtOnce: (request) => holds.open(request),
    keepRoom: (request) => holds.keepRoom(request),
    hasCredit(organisation) {
      const lease = leases.find(organisation, clock.now())
      return lease ? unbilledPicoUsd(lease) > 0n : organisation.monthlyBudgetPicoUsd > 0n
    },
    budgetResetsAt(organisation) {
      const nowMs = clock.now()
      const period = leases.find(organisation, nowMs)?.period
      return (period ?? periodAt(nowMs, organisation.timeZone, organisation.periodAnchorDay)).endsAt
    },
    loadBudget: (organisation) => loadBudget(deps, parts, organisation),
    loadReceipt: async (requestId, owner = sharedOwner) =>
      writer.find(requestId) ?? (await loadReceipt(database.for(owner), requestId)),
    noteRefused: (refusal) => counting.noteRefused(refusal),
    reports,
    installation,
    async loadUsage(query) {
      await catchUp(query.organisationId)
      return loadUsagePage(database.for(query.organisationId), query, await counting.isComplete())
    },
    async loadUsageTotals(query) {
      await catchUp(query.organisationId)
      return loadUsageTotals(database.for(query.organisationId), query, await counting.isComplete())
    },
    flush: () => writer.barrier(),
    async audit() {
      await writer.barrier()
      // With the embedded engine recovery runs at the start only, and no other instance can have holds.
      return runAudit(shared, expiryMs === null ? null : instance.staleAfterMs())
    },
    repair: (actor) => repair(deps, actor, recoverOthers),
    reasonToRefuse: () => writer.reasonToRefuse(),
    isAccepting: () => writer.reasonToRefuse() === undefined,
    async maintain() {
      await instance.beat()
      await maintain()
      await counting.run()
      await retention.run()
    },
    writeProgress: () => holds.writeProgress(),
    instanceId: () => instance.id,
    loadLiveInstances: () => loadLiveInstances(shared, parts.times.expiryMs, listTimeoutMs),
    openJournalCopies: () => (writer instanceof JournalWriter ? writer.openJournalCopies() : []),
    close() {
      if (!closing) {
        holds.refuse()
        closing = close(deps, parts, repeated)
      }
      return closing
    },
  }
}

function createReports(deps: LedgerDeps, parts: LedgerParts, catchUp: (owner: string) => Promise<void>) {
  const { database, clock } = deps
  const { counting } = parts
  const read = { database, clock, catchUp }
  return {
    reports: createUsageReports({
      ...read,
      isComplete: () => counting.isComplete(),
      loadBudget: (organisation) => loadBudget(deps, parts, organisation),
    }),
    installation: createInstallationReports({ ...read, isComplete: () => counting.isInstallationComplete() }),
  }
}

type LedgerParts = Awaited<ReturnType<typeof openParts>>

async function openParts(deps: LedgerDeps, observer: LedgerObserver) {
  const { database, clock, log } = deps
  const shared = database.for(sharedOwner)
  const times = instanceTimes(deps.instanceExpiryMs)
  // The embedded database's folder is locked by its one owner: every other instance in the table is dead.
  const expiryMs = database.engine === 'embedded' ? null : times.expiryMs
  if (expiryMs !== null) await assertNoServerJournal(shared)
  // First of all: recovery settles what the journal leaves open.
  const openWriter = await prepareWriter({ ...deps, database: shared })
  await recover(deps, null, expiryMs)
  const instance = new LedgerInstance({
    database: shared,
    clock,
    log,
    times,
    onFenced: (fenced) => holds.revoke(fenced),
    onRenewed() {
      leases.forgetAll()
      writer.noteDatabase(true)
    },
    noteDatabase: (answers) => writer.noteDatabase(answers),
    facts: deps.facts,
  })
  await instance.register()
  const instanceId = () => instance.id
  const onFenced = (fenced: InstanceId) => instance.renew(fenced)
  const writer = openWriter({ instanceId, onFenced })
  const leases = new Leases({ database, clock, log, writer, instanceId })
  await leases.listen()
  const reservation = { leases, clock, holdWaitMs: deps.holdWaitMs ?? defaultHoldWaitMs }
  const holds = new OpenHolds({ reservation, writer, log, observer, onFenced })
  const thresholds = createThresholds({
    database: shared,
    log,
    observer,
    barrier: () => writer.barrier(),
    now: () => clock.now(),
  })
  const counting = new UsageCounting({ database, clock, log })
  const { keepEntriesDays } = deps
  const onRemoved = (entries: number) => observer.removed?.(entries)
  const retention = new Retention({ database: shared, clock, log, keepEntriesDays, onRemoved })
  return { times, expiryMs, instance, writer, leases, holds, thresholds, counting, retention }
}

/** Earlier versions had journals in front of a server. Bills may be on the disk of one only. */
async function assertNoServerJournal(database: OwnedDatabase): Promise<void> {
  const [journal] = await loadServerJournals(database)
  if (!journal) return
  const { journalId, place } = journal
  throw new JournalError(
    `an earlier version has not finished the journal ${journalId} in ${place}, and this version has no journal in front of a server`,
    {
      remedy:
        `Start the earlier version there once with ledger.journal: database, and stop it: then every bill is in the database. If the ` +
        `folder is lost, give it up in the earlier version with \`portico ledger release ${journalId} --yes\``,
    },
  )
}

async function recover(
  deps: LedgerDeps,
  self: InstanceId | null,
  expiryMs: number | null,
  isSteady = () => true,
): Promise<number> {
  const { database, clock, log, observer } = deps
  const holds = await recoverDeadInstances({
    database: database.for(sharedOwner),
    clock,
    log,
    self,
    expiryMs,
    isSteady,
  })
  if (holds > 0) observer?.recovered?.(holds)
  return holds
}

async function repair(
  { database, clock }: LedgerDeps,
  actor: Actor,
  recoverOthers: () => Promise<number>,
): Promise<number> {
  const closedHolds = await recoverOthers()
  await recordRepair(database.for(sharedOwner), { actor, atMs: clock.now() }, closedHolds)
  return closedHolds
}

async function loadBudget(
  { database, clock }: LedgerDeps,
  { leases, writer, instance }: LedgerParts,
  organisation: Organisation,
): Promise<BudgetState> {
  const now = clock.now()
  const lease = leases.find(organisation, now) ?? (await leases.open(organisation, now))
  const key = { organisationId: organisation.id, period: lease.period.name }
  await writer.barrier()
  const own = database.for(organisation.id)
  const [state] = await loadPeriodStates(own, instance.id, [key])
  return {
    ...key,
    periodStartsAt: lease.period.startsAt,
    periodEndsAt: lease.period.endsAt,
    budgetPicoUsd: organisation.monthlyBudgetPicoUsd,
    settledPicoUsd: state!.settledPicoUsd,
    heldPicoUsd: await loadHeld(own, organisation.id, lease.period.name),
  }
}

/** Settles open holds by policy, gives the leases back and removes the instance. */
async function close(
  { database, log }: LedgerDeps,
  { instance, writer, leases, holds, thresholds, counting }: LedgerParts,
  repeated: readonly RepeatedWork[],
): Promise<void> {
  for (const work of repeated) await work.close()
  const deadline = AbortSignal.timeout(closeDeadlineMs)
  deadline.addEventListener('abort', () => writer.abandon(), { once: true })
  await holds.settleAll('shutdown')
  await writer.drained()
  await counting.close()
  instance.stop()
  try {
    await thresholds.check(leases.all())
    await leases.close()
    // Holds that could not be settled stay for the next start; so does the instance that they belong to.
    await writer.barrier()
    if (holds.size === 0)
      await database.for(sharedOwner).transaction((transaction) => closeInstance(transaction, instance.id))
  } catch (error) {
    log.error({ error: describeError(error) }, 'the ledger could not give its leases back; the next start will')
  }
  await writer.close()
}

/** `maintenance`: what runs at the interval of the heartbeat, by the message of its failure. */
function startRepeatedWork(
  { clock, log }: LedgerDeps,
  { instance, counting, retention, holds, times }: LedgerParts,
  maintenance: Readonly<Record<string, () => Promise<void>>>,
): RepeatedWork[] {
  const repeat = (everyMs: number, work: () => Promise<void>, failure: string) =>
    repeatWork({ clock, everyMs, work, onFailed: (error) => log.error({ error: describeError(error) }, failure) })
  return [
    // Separate, so that no other task can delay it until this instance is presumed dead.
    repeat(times.heartbeatEveryMs, () => instance.beat(), 'the heartbeat could not be written'),
    ...Object.entries(maintenance).map(([failure, work]) => repeat(times.heartbeatEveryMs, work, failure)),
    repeat(countEveryMs, () => counting.run(), 'usage reports could not be kept current'),
    repeat(countEveryMs, () => retention.run(), 'old entries of the ledger could not be removed'),
    repeat(progressEveryMs, () => holds.writeProgress(), 'the progress of streams could not be written'),
  ]
}
