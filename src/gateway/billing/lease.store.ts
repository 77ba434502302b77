import { FencedError } from './instance.store.ts'
import { type InstanceId, type OrganisationId, withDeadline } from '../../platform/kernel/index.ts'
import { columnsOf, type OwnedDatabase, type Queryable } from '../../platform/database/index.ts'
import { type Period, periodAfter } from './periods.ts'

/** Channel of the notifications between instances; the payload is a LeaseNotice as JSON. */
export const leaseChannel = 'portico_ledger_lease'

export interface LeaseNotice {
  kind: 'wanted' | 'returned'
  organisationId: string
  from: string
}

/** Longest lease operation: a client waits for it. */
const leaseTimeoutMs = 4_000
/** Longest wait for another instance's lock on a period. */
const lockTimeoutMs = 3_000
/** An instance that vanishes between two statements of such a transaction blocks the others for so long. */
const idleTimeoutMs = 3_000

/**
 * A transaction that locks what other instances wait for. It ends within `leaseTimeoutMs` for the caller; a rejection leaves open
 * whether it took effect. Server-side limits free its locks when this process vanishes.
 */
export function boundedTransaction<T>(
  database: OwnedDatabase,
  work: (transaction: Queryable) => Promise<T>,
  timeoutMs = leaseTimeoutMs,
): Promise<T> {
  return withDeadline(timeoutMs, (signal) =>
    database.transaction(
      async (transaction) => {
        await transaction.query(
          `select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)`,
          [String(lockTimeoutMs), String(idleTimeoutMs)],
        )
        return work(transaction)
      },
      { signal },
    ),
  )
}

/** The state of a period in one transaction. */
export interface PeriodState {
  committedPicoUsd: bigint
  /** Billed so far, by all instances. */
  settledPicoUsd: bigint
  /** What other instances hold in leases and have not billed. */
  othersLeasedPicoUsd: bigint
}

interface LoadedPeriodState extends PeriodState {
  /** The time of the latest request for room by another instance. */
  roomWantedAt: Date | null
}

export interface LeaseState extends PeriodState {
  /** This instance's lease after the change; 0 when it has none. */
  grantedPicoUsd: bigint
}

/** The period of a moment; inserts it if it is new. See periodAfter for changes of zone and anchor day. */
export async function openPeriod(
  database: OwnedDatabase,
  organisation: { id: OrganisationId; timeZone: string; periodAnchorDay: number; monthlyBudgetPicoUsd: bigint },
  atMs: number,
): Promise<Period> {
  return boundedTransaction(database, async (transaction) => {
    await transaction.query("select pg_advisory_xact_lock(hashtextextended('portico ledger ' || $1, 0))", [
      organisation.id,
    ])
    const at = new Date(atMs)
    const [before] = await transaction.query<StoredPeriod>(
      `select period, starts_at, ends_at from ledger_periods where organisation_id = $1 and starts_at <= $2
       order by starts_at desc limit 1`,
      [organisation.id, at],
    )
    const [after] = await transaction.query<StoredPeriod>(
      `select period, starts_at, ends_at from ledger_periods where organisation_id = $1 and starts_at > $2
       order by starts_at limit 1`,
      [organisation.id, at],
    )
    const previous = before && periodOf(before)
    const period = periodAfter(previous, atMs, organisation.timeZone, organisation.periodAnchorDay)
    if (period === previous) return period
    // After a clock jumped back, a later period may exist already: the new one ends where that one starts.
    if (after && after.starts_at.getTime() < period.endsAt) period.endsAt = after.starts_at.getTime()
    await transaction.execute(
      `insert into ledger_periods (organisation_id, period, starts_at, ends_at, budget_pico_usd, ceiling_pico_usd)
       values ($1, $2, $3, $4, $5, greatest($5::int8, 0)) on conflict do nothing`,
      [
        organisation.id,
        period.name,
        new Date(period.startsAt),
        new Date(period.endsAt),
        organisation.monthlyBudgetPicoUsd,
      ],
    )
    return period
  })
}

interface StoredPeriod {
  period: string
  starts_at: Date
  ends_at: Date
}

function periodOf(row: StoredPeriod): Period {
  return { name: row.period, startsAt: row.starts_at.getTime(), endsAt: row.ends_at.getTime() }
}

export interface LeaseRequest {
  instanceId: InstanceId
  organisationId: OrganisationId
  period: string
  budgetPicoUsd: bigint
  neededPicoUsd: bigint
}

/**
 * Leases more of the period's budget: at least what is needed, or all that is left. A single instance gets everything; several get
 * a share that leaves room for the others. Throws FencedError.
 */
export async function extendLease(database: OwnedDatabase, request: LeaseRequest): Promise<LeaseState> {
  return boundedTransaction(database, async (transaction) => {
    await assertAlive(transaction, request)
    const key = [request.organisationId, request.period] as const
    const [row] = await transaction.query<{ committed: bigint; instances: bigint }>(
      `select committed_pico_usd as committed, (select count(*) from ledger_instances) as instances
       from ledger_periods where organisation_id = $1 and period = $2 for update`,
      [...key],
    )
    if (!row) throw new Error(`the period ${request.period} was never opened`)
    const grant = grantOf(request.budgetPicoUsd - row.committed, request.neededPicoUsd, row.instances)
    await transaction.execute(
      `update ledger_periods set committed_pico_usd = committed_pico_usd + $3, budget_pico_usd = $4,
         ceiling_pico_usd = greatest(ceiling_pico_usd, $4) where organisation_id = $1 and period = $2`,
      [...key, grant, request.budgetPicoUsd],
    )
    if (grant > 0n) {
      await transaction.execute(
        `insert into ledger_leases (organisation_id, period, instance_id, granted_pico_usd) values ($1, $2, $3, $4)
         on conflict (organisation_id, period, instance_id)
         do update set granted_pico_usd = ledger_leases.granted_pico_usd + excluded.granted_pico_usd`,
        [...key, request.instanceId, grant],
      )
    }
    return readLease(transaction, request)
  })
}

/** Half of an equal share at a time, so that an instance that starts later finds something left. */
function grantOf(leftPicoUsd: bigint, neededPicoUsd: bigint, instances: bigint): bigint {
  if (leftPicoUsd <= 0n) return 0n
  if (instances <= 1n) return leftPicoUsd
  const share = leftPicoUsd / (2n * instances)
  const wanted = neededPicoUsd > share ? neededPicoUsd : share
  return wanted < leftPicoUsd ? wanted : leftPicoUsd
}

/**
 * Gives a part of the lease back. `close`: the lease has no open holds and nothing left in it; its bill moves to the period's
 * counter and its row goes. The caller has made sure that everything written so far is in the database.
 */
export async function returnLease(
  database: OwnedDatabase,
  request: Omit<LeaseRequest, 'neededPicoUsd'> & { returnedPicoUsd: bigint; close: boolean },
): Promise<LeaseState> {
  return boundedTransaction(database, async (transaction) => {
    await assertAlive(transaction, request)
    const key = [request.organisationId, request.period] as const
    await transaction.query('select from ledger_periods where organisation_id = $1 and period = $2 for update', [
      ...key,
    ])
    await transaction.execute(
      `with lease as (
         update ledger_leases set granted_pico_usd = granted_pico_usd - $4
         where organisation_id = $1 and period = $2 and instance_id = $3 returning 1)
       update ledger_periods set committed_pico_usd = committed_pico_usd - $4
       where organisation_id = $1 and period = $2 and exists (select from lease)`,
      [...key, request.instanceId, request.returnedPicoUsd],
    )
    if (request.close) {
      await transaction.execute(
        `with closed as (
           delete from ledger_leases
           where organisation_id = $1 and period = $2 and instance_id = $3 and granted_pico_usd = settled_pico_usd
           returning settled_pico_usd)
         update ledger_periods p set settled_pico_usd = p.settled_pico_usd + closed.settled_pico_usd
         from closed where p.organisation_id = $1 and p.period = $2`,
        [...key, request.instanceId],
      )
    }
    if (request.returnedPicoUsd > 0n) {
      await notify(transaction, { kind: 'returned', organisationId: request.organisationId, from: request.instanceId })
    }
    return readLease(transaction, request)
  })
}

/** The current lease in the database, after every earlier operation on it. Throws FencedError. */
export async function loadLease(database: OwnedDatabase, key: LeaseKey): Promise<LeaseState> {
  return boundedTransaction(database, async (transaction) => {
    await assertAlive(transaction, key)
    // The lock waits for an operation whose commit is still under way.
    await transaction.query('select from ledger_periods where organisation_id = $1 and period = $2 for update', [
      key.organisationId,
      key.period,
    ])
    return readLease(transaction, key)
  })
}

async function notify(database: Queryable, notice: LeaseNotice): Promise<void> {
  await database.query('select pg_notify($1, $2)', [leaseChannel, JSON.stringify(notice)])
}

/** Asks the other instances to give back what they do not use: with a notification, and in the row for those that it does not reach. */
export async function requestRoom(
  database: Queryable,
  { instanceId, organisationId, period }: LeaseKey,
  signal: AbortSignal,
): Promise<void> {
  const notice: LeaseNotice = { kind: 'wanted', organisationId, from: instanceId }
  // A row that is locked belongs to a lease operation: the request is repeated soon, and must not wait for it.
  await database.query(
    `with free as (
       select organisation_id, period from ledger_periods where organisation_id = $1 and period = $2 for update skip locked),
     wanted as (
       update ledger_periods p set room_wanted_at = clock_timestamp(), room_wanted_by = $3::uuid
       from free where p.organisation_id = free.organisation_id and p.period = free.period)
     select pg_notify($4, $5)`,
    [organisationId, period, instanceId, leaseChannel, JSON.stringify(notice)],
    { signal },
  )
}

type LeaseKey = Pick<LeaseRequest, 'organisationId' | 'period' | 'instanceId'>

async function assertAlive(transaction: Queryable, { instanceId }: LeaseKey): Promise<void> {
  const rows = await transaction.query('select 1 from ledger_instances where instance_id = $1 for share', [instanceId])
  if (rows.length === 0) throw new FencedError(instanceId)
}

async function readLease(
  transaction: Queryable,
  { organisationId, period, instanceId }: LeaseKey,
): Promise<LeaseState> {
  const [row] = await transaction.query<LeaseState>(
    `select p.committed_pico_usd as "committedPicoUsd",
       p.settled_pico_usd + coalesce(sum(l.settled_pico_usd), 0)::int8 as "settledPicoUsd",
       coalesce(sum(l.granted_pico_usd - l.settled_pico_usd) filter (where l.instance_id <> $3), 0)::int8 as "othersLeasedPicoUsd",
       coalesce(sum(l.granted_pico_usd) filter (where l.instance_id = $3), 0)::int8 as "grantedPicoUsd"
     from ledger_periods p left join ledger_leases l on l.organisation_id = p.organisation_id and l.period = p.period
     where p.organisation_id = $1 and p.period = $2
     group by p.organisation_id, p.period`,
    [organisationId, period, instanceId],
  )
  if (!row) throw new Error(`the period ${period} was never opened`)
  return row
}

/** The current state of several periods, in the order of the request. */
export function loadPeriodStates(
  database: Queryable,
  instanceId: InstanceId,
  keys: readonly { organisationId: OrganisationId; period: string }[],
): Promise<LoadedPeriodState[]> {
  return database.query<LoadedPeriodState>(
    `select coalesce(p.committed_pico_usd, 0) as "committedPicoUsd",
       coalesce(p.settled_pico_usd, 0) + coalesce(l.settled, 0)::int8 as "settledPicoUsd",
       coalesce(l.others, 0)::int8 as "othersLeasedPicoUsd",
       case when p.room_wanted_by is distinct from $1 then p.room_wanted_at end as "roomWantedAt"
     from unnest($2::uuid[], $3::text[]) with ordinality as k (organisation_id, period, place)
     left join ledger_periods p on p.organisation_id = k.organisation_id and p.period = k.period
     left join lateral (
       select sum(settled_pico_usd) as settled,
         sum(granted_pico_usd - settled_pico_usd) filter (where instance_id <> $1) as others
       from ledger_leases l where l.organisation_id = k.organisation_id and l.period = k.period) l on true
     order by k.place`,
    [instanceId, ...columnsOf(keys, 'organisationId', 'period')],
  )
}

/** Money set aside by all instances for calls that run now. */
export async function loadHeld(database: Queryable, organisationId: OrganisationId, period: string): Promise<bigint> {
  const [row] = await database.query<{ held: bigint }>(
    'select coalesce(sum(amount_pico_usd), 0)::int8 as held from ledger_holds where organisation_id = $1 and period = $2',
    [organisationId, period],
  )
  return row!.held
}
