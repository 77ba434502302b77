import { randomUUID } from 'node:crypto'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { type Clock, describeError, type Log, repeatWork } from '../../platform/kernel/index.ts'
import type { CircuitChange, FailingDeployment, TrafficOutcome } from './deployment-state.ts'
import {
  addHistory,
  type CircuitEvent,
  type DeploymentCounts,
  type HistoryBatch,
  replaceFailures,
  tidyHistory,
} from './deployment-history.store.ts'

/**
 * Counts outcomes and durations of each deployment in memory and adds them to the database in batches, so that operators see the health of all
 * instances over 30 days. Recording increments counters and waits for nothing. A killed process loses what it counted since the last flush.
 */
export interface DeploymentHistory {
  attempt(deploymentId: string, outcome: TrafficOutcome, errorClass: string | null): void
  brokenStream(deploymentId: string, errorClass: string): void
  firstBytes(deploymentId: string, ms: number): void
  finished(deploymentId: string, ms: number): void
  circuitChanged(deploymentId: string, change: CircuitChange): void
}

const flushEveryMs = 10_000
const tidyEveryMs = 3_600_000
/** Different deployments that are counted between two flushes; further ones are not. */
const maximumTracked = 5_000
const maximumEvents = 2_000
/** Two to the 24th milliseconds is more than four hours. */
const buckets = 24 * 4
const dayMs = 86_400_000

/** The part without a database. `take` returns what was counted, and starts again. */
export function createHistoryCounts({ clock }: { clock: Pick<Clock, 'now'> }) {
  let current = new Map<string, DeploymentCounts>()
  /** Of days that ended since the last flush. */
  let ended: DeploymentCounts[] = []
  let events: CircuitEvent[] = []
  /** What is counted when more deployments are tracked; never written. */
  const unknown = emptyCounts('', 0)

  function countsOf(deploymentId: string): DeploymentCounts {
    const day = Math.floor(clock.now() / dayMs)
    const known = current.get(deploymentId)
    if (known?.day === day) return known
    if (known) ended.push(known)
    else if (current.size >= maximumTracked) return unknown
    const created = emptyCounts(deploymentId, day)
    current.set(deploymentId, created)
    return created
  }
  const countError = ({ errors }: DeploymentCounts, errorClass: string) =>
    void errors.set(errorClass, (errors.get(errorClass) ?? 0) + 1)

  const record: DeploymentHistory = {
    attempt(deploymentId, outcome, errorClass) {
      const counts = countsOf(deploymentId)
      counts[outcome] += 1
      if (errorClass !== null) countError(counts, errorClass)
    },
    brokenStream(deploymentId, errorClass) {
      const counts = countsOf(deploymentId)
      counts.broken += 1
      countError(counts, errorClass)
    },
    firstBytes: (deploymentId, ms) => void countsOf(deploymentId).firstBytes[bucketOf(ms)]!++,
    finished: (deploymentId, ms) => void countsOf(deploymentId).totals[bucketOf(ms)]!++,
    circuitChanged(deploymentId, change) {
      if (events.length < maximumEvents) events.push({ deploymentId, atMs: clock.now(), ...change })
    },
  }
  return {
    record,
    take(): HistoryBatch {
      const batch = { counts: [...ended, ...current.values()], events }
      current = new Map()
      ended = []
      events = []
      return batch
    },
    /** Puts a batch back that could not be written. */
    restore(batch: HistoryBatch): void {
      ended = [...batch.counts, ...ended].slice(0, maximumTracked)
      events = [...batch.events, ...events].slice(0, maximumEvents)
    },
  }
}

function emptyCounts(deploymentId: string, day: number): DeploymentCounts {
  return {
    deploymentId,
    day,
    answered: 0,
    failed: 0,
    limited: 0,
    rejected: 0,
    broken: 0,
    errors: new Map(),
    firstBytes: new Uint32Array(buckets),
    totals: new Uint32Array(buckets),
  }
}

/** The same as `bucketOf` of the ledger's usage tables. */
function bucketOf(ms: number): number {
  return Math.min(buckets - 1, Math.floor(4 * Math.log2(Math.max(ms, 1)) + 1e-9))
}

interface HistoryWriterDeps {
  database: OwnedDatabase
  clock: Clock
  log: Log
  counts: Pick<ReturnType<typeof createHistoryCounts>, 'take' | 'restore'>
  /** What this instance fails to call now. */
  failing: () => FailingDeployment[]
}

/** Writes what was counted every ten seconds, and at a stop. One per process. */
export function createHistoryWriter({ database, clock, log, counts, failing }: HistoryWriterDeps) {
  const instanceId = randomUUID()
  let hadFailures = false
  let tidiedMs = clock.monotonicMs()

  async function flush(): Promise<void> {
    const batch = counts.take()
    try {
      if (batch.counts.length > 0 || batch.events.length > 0) await addHistory(database, instanceId, batch)
    } catch (error) {
      counts.restore(batch)
      throw error
    }
    const failures = failing()
    if (failures.length > 0 || hadFailures) await replaceFailures(database, instanceId, failures)
    hadFailures = failures.length > 0
    if (clock.monotonicMs() - tidiedMs < tidyEveryMs) return
    tidiedMs = clock.monotonicMs()
    await tidyHistory(database)
  }
  const onFailed = (error: unknown) =>
    log.warn({ error: describeError(error) }, 'the health of deployments could not be written')
  const repeated = repeatWork({ clock, everyMs: flushEveryMs, work: flush, onFailed })
  return {
    flush,
    async close(): Promise<void> {
      await repeated.close()
      await flush().catch(onFailed)
      await replaceFailures(database, instanceId, []).catch(onFailed)
    },
  }
}
