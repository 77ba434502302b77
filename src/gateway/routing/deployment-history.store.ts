import { columnsOf, type OwnedDatabase, type Queryable } from '../../platform/database/index.ts'
import type { CircuitChange, FailingDeployment } from './deployment-state.ts'

/** The counts of a deployment since the last flush. */
export interface DeploymentCounts {
  deploymentId: string
  /** Days since the epoch, UTC. */
  day: number
  answered: number
  failed: number
  limited: number
  rejected: number
  broken: number
  errors: Map<string, number>
  /** By bucket: four for each power of two milliseconds, as the ledger counts them. */
  firstBytes: Uint32Array
  totals: Uint32Array
}

export interface CircuitEvent extends CircuitChange {
  deploymentId: string
  atMs: number
}

export interface HistoryBatch {
  counts: DeploymentCounts[]
  events: CircuitEvent[]
}

/** Days that are kept; a page shows 30. */
const keptDays = 35
/** An instance confirms its failures every ten seconds. */
const confirmedMs = 60_000
const dayMs = 86_400_000
const tidyRows = 5_000
const readTimeoutMs = 10_000

/** Adds the counts of one instance. Rows are written in the order of their keys, so that instances wait for each other and never for a circle. */
export function addHistory(
  database: OwnedDatabase,
  instanceId: string,
  { counts, events }: HistoryBatch,
): Promise<void> {
  const days = merge(counts)
  return database.transaction(
    async (transaction) => {
      await addDays(transaction, days)
      await addErrors(transaction, days)
      await addLatency(transaction, days)
      if (events.length === 0) return
      await transaction.execute(
        `insert into deployment_events (at, deployment_id, instance_id, kind, error_class, status)
         select at, deployment_id, $6::uuid, kind, error_class, status
         from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::int4[]) as e (at, deployment_id, kind, error_class, status)`,
        [
          ...columnsOf(events, ({ atMs }) => new Date(atMs), 'deploymentId', 'kind', 'errorClass', 'status'),
          instanceId,
        ],
      )
    },
    { background: true },
  )
}

const dayOf = ({ day }: { day: number }) => new Date(day * dayMs).toISOString().slice(0, 10)

/** A batch that was put back can have the same deployment and day twice, which one statement cannot add. */
function merge(counts: readonly DeploymentCounts[]): DeploymentCounts[] {
  const merged = new Map<string, DeploymentCounts>()
  for (const one of counts) {
    const key = `${one.day} ${one.deploymentId}`
    const known = merged.get(key)
    if (!known) {
      merged.set(key, {
        ...one,
        errors: new Map(one.errors),
        firstBytes: one.firstBytes.slice(),
        totals: one.totals.slice(),
      })
      continue
    }
    for (const field of ['answered', 'failed', 'limited', 'rejected', 'broken'] as const) known[field] += one[field]
    for (const [errorClass, calls] of one.errors)
      known.errors.set(errorClass, (known.errors.get(errorClass) ?? 0) + calls)
    for (const histogram of ['firstBytes', 'totals'] as const)
      one[histogram].forEach((calls, bucket) => (known[histogram][bucket]! += calls))
  }
  return [...merged.values()]
}

async function addDays(transaction: Queryable, days: readonly DeploymentCounts[]): Promise<void> {
  if (days.length === 0) return
  await transaction.execute(
    `insert into deployment_days as d (day, deployment_id, answered, failed, limited, rejected, broken)
     select * from unnest($1::date[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[])
       as added (day, deployment_id, answered, failed, limited, rejected, broken) order by 1, 2
     on conflict (day, deployment_id) do update set answered = d.answered + excluded.answered, failed = d.failed + excluded.failed,
       limited = d.limited + excluded.limited, rejected = d.rejected + excluded.rejected, broken = d.broken + excluded.broken`,
    columnsOf(days, dayOf, 'deploymentId', 'answered', 'failed', 'limited', 'rejected', 'broken'),
  )
}

async function addErrors(transaction: Queryable, days: readonly DeploymentCounts[]): Promise<void> {
  const errors = days.flatMap((one) => [...one.errors].map(([errorClass, calls]) => ({ ...one, errorClass, calls })))
  if (errors.length === 0) return
  await transaction.execute(
    `insert into deployment_errors as e (day, deployment_id, error_class, calls)
     select * from unnest($1::date[], $2::text[], $3::text[], $4::int8[]) as added (day, deployment_id, error_class, calls) order by 1, 2, 3
     on conflict (day, deployment_id, error_class) do update set calls = e.calls + excluded.calls`,
    columnsOf(errors, dayOf, 'deploymentId', 'errorClass', 'calls'),
  )
}

async function addLatency(transaction: Queryable, days: readonly DeploymentCounts[]): Promise<void> {
  const measured = days.flatMap((one) =>
    Array.from(one.totals, (totals, bucket) => ({
      ...one,
      bucket,
      totals,
      firstBytes: one.firstBytes[bucket]!,
    })).filter(({ totals, firstBytes }) => totals + firstBytes > 0),
  )
  if (measured.length === 0) return
  await transaction.execute(
    `insert into deployment_latency as l (day, deployment_id, bucket, first_bytes, totals)
     select * from unnest($1::date[], $2::text[], $3::int2[], $4::int8[], $5::int8[])
       as added (day, deployment_id, bucket, first_bytes, totals) order by 1, 2, 3
     on conflict (day, deployment_id, bucket) do update set first_bytes = l.first_bytes + excluded.first_bytes, totals = l.totals + excluded.totals`,
    columnsOf(measured, dayOf, 'deploymentId', 'bucket', 'firstBytes', 'totals'),
  )
}

/** What one instance fails to call now; its other rows are removed. */
export async function replaceFailures(
  database: Queryable,
  instanceId: string,
  failures: readonly FailingDeployment[],
): Promise<void> {
  await database.execute(
    `with failing as materialized (
       select * from unnest($2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::int4[]) as f (deployment_id, kind, since, error_class, status)
     ), gone as (
       delete from deployment_failures d where d.instance_id = $1::uuid
         and not exists (select from failing f where f.deployment_id = d.deployment_id and f.kind = d.kind)
     )
     insert into deployment_failures (deployment_id, instance_id, kind, since, error_class, status)
     select deployment_id, $1::uuid, kind, since, error_class, status from failing order by 1, 3
     on conflict (deployment_id, instance_id, kind) do update set since = least(deployment_failures.since, excluded.since),
       error_class = excluded.error_class, status = excluded.status, seen_at = clock_timestamp()`,
    [
      instanceId,
      ...columnsOf(failures, 'deploymentId', 'kind', ({ sinceMs }) => new Date(sinceMs), 'errorClass', 'status'),
    ],
    { background: true },
  )
}

/** Deletes a bounded number of old rows. */
export async function tidyHistory(database: Queryable): Promise<void> {
  const conditions = {
    deployment_days: "day < (now() - $1::int8 * interval '1 day')::date",
    deployment_errors: "day < (now() - $1::int8 * interval '1 day')::date",
    deployment_latency: "day < (now() - $1::int8 * interval '1 day')::date",
    deployment_events: "at < now() - $1::int8 * interval '1 day'",
    deployment_failures: "seen_at < now() - $1::int8 * interval '1 hour'",
  }
  for (const [table, condition] of Object.entries(conditions)) {
    await database.execute(
      `delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit $2))`,
      [keptDays, tidyRows],
      { background: true },
    )
  }
}

export interface DeploymentDay {
  deploymentId: string
  day: string
  answered: number
  failed: number
  limited: number
  rejected: number
  broken: number
}

export interface DeploymentError {
  deploymentId: string
  errorClass: string
  calls: number
}

export interface DeploymentDurations {
  deploymentId: string
  buckets: number[]
  firstBytes: number[]
  totals: number[]
}

export interface StoredCircuitEvent {
  at: Date
  deploymentId: string
  instanceId: string
  kind: string
  errorClass: string | null
  status: number | null
}

export interface StoredHistory {
  days: DeploymentDay[]
  errors: DeploymentError[]
  durations: DeploymentDurations[]
  /** Newest first. */
  events: StoredCircuitEvent[]
}

/** The history since a day, UTC. Bounded by days, deployments and classes of errors; at most `maximumEvents` events. */
export async function loadHistory(database: Queryable, from: string, maximumEvents: number): Promise<StoredHistory> {
  const options = { timeoutMs: readTimeoutMs }
  const [days, errors, durations, events] = await Promise.all([
    database.query<DeploymentDay>(
      `select deployment_id as "deploymentId", to_char(day, 'YYYY-MM-DD') as day, answered::float8 as answered, failed::float8 as failed,
         limited::float8 as limited, rejected::float8 as rejected, broken::float8 as broken from deployment_days where day >= $1::date`,
      [from],
      options,
    ),
    database.query<DeploymentError>(
      `select deployment_id as "deploymentId", error_class as "errorClass", sum(calls::float8) as calls
       from deployment_errors where day >= $1::date group by 1, 2`,
      [from],
      options,
    ),
    database.query<DeploymentDurations>(
      `select deployment_id as "deploymentId", array_agg(bucket) as buckets, array_agg(first_bytes) as "firstBytes", array_agg(totals) as totals
       from (select deployment_id, bucket, sum(first_bytes::float8) as first_bytes, sum(totals::float8) as totals
         from deployment_latency where day >= $1::date group by 1, 2) as counted group by deployment_id`,
      [from],
      options,
    ),
    database.query<StoredCircuitEvent>(
      `select at, deployment_id as "deploymentId", instance_id as "instanceId", kind, error_class as "errorClass", status
       from deployment_events where at >= $1::date order by at desc, id desc limit $2`,
      [from, maximumEvents],
      options,
    ),
  ])
  return { days, errors, durations, events }
}

/** Deployments that were called today (UTC), rate limits excluded. */
export async function loadCalledToday(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select deployment_id as id from deployment_days
     where day = (now() at time zone 'UTC')::date and answered + failed + rejected > 0`,
    [],
    { timeoutMs: readTimeoutMs },
  )
  return rows.map(({ id }) => id)
}

export interface FailureNow {
  deploymentId: string
  kind: string
  since: Date
  errorClass: string | null
  status: number | null
  instances: number
}

/** What at least one instance fails to call now. */
export function loadFailures(database: Queryable): Promise<FailureNow[]> {
  return database.query<FailureNow>(
    `select deployment_id as "deploymentId", kind, min(since) as since, (array_agg(error_class order by since))[1] as "errorClass",
       (array_agg(status order by since))[1] as status, count(*)::int4 as instances
     from deployment_failures where seen_at > clock_timestamp() - $1::int8 * interval '1 millisecond'
     group by deployment_id, kind order by deployment_id, kind`,
    [confirmedMs],
    { timeoutMs: readTimeoutMs },
  )
}
