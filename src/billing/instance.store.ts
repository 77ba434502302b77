import type { InstanceId } from '../kernel/index.ts'
import type { Queryable } from '../database/index.ts'

/** The ledger's table of running processes. Times come from the database's clock, because clocks of instances differ. */

export async function registerInstance(
  database: Queryable,
  instanceId: InstanceId,
  signal?: AbortSignal,
): Promise<void> {
  await database.execute(
    'insert into ledger_instances (instance_id) values ($1) on conflict do nothing',
    [instanceId],
    { ...(signal && { signal }) },
  )
}

/** False: the row is gone because another instance presumed this one dead. */
export async function writeHeartbeat(
  database: Queryable,
  instanceId: InstanceId,
  signal: AbortSignal,
): Promise<boolean> {
  const touched = await database.execute(
    'update ledger_instances set heartbeat_at = clock_timestamp() where instance_id = $1',
    [instanceId],
    { signal },
  )
  return touched === 1
}

/** Other instances whose heartbeat is older than `expiryMs`; null: all others. */
export async function loadDeadInstances(
  database: Queryable,
  self: InstanceId | null,
  expiryMs: number | null,
): Promise<InstanceId[]> {
  const rows = await database.query<{ instance_id: string }>(
    `select instance_id from ledger_instances
     where instance_id is distinct from $1::uuid
       and ($2::int8 is null or heartbeat_at < clock_timestamp() - $2::int8 * interval '1 millisecond')
     order by started_at`,
    [self, expiryMs],
  )
  return rows.map((row) => row.instance_id as InstanceId)
}

/** True when the row still exists, is still expired, and is now locked by this transaction. */
export async function lockInstance(
  transaction: Queryable,
  instanceId: InstanceId,
  expiryMs: number | null,
): Promise<boolean> {
  const rows = await transaction.query(
    `select 1 from ledger_instances
     where instance_id = $1
       and ($2::int8 is null or heartbeat_at < clock_timestamp() - $2::int8 * interval '1 millisecond')
     for update skip locked`,
    [instanceId, expiryMs],
  )
  return rows.length === 1
}

/** What each lease of an instance has left to bill, by `organisation period`. */
export async function loadLeaseRoom(transaction: Queryable, instanceId: InstanceId): Promise<Map<string, bigint>> {
  const rows = await transaction.query<{ key: string; room: bigint }>(
    `select organisation_id || ' ' || period as key, granted_pico_usd - settled_pico_usd as room
     from ledger_leases where instance_id = $1`,
    [instanceId],
  )
  return new Map(rows.map((row) => [row.key, row.room]))
}

/** Moves the bills of its leases to the periods' counters, frees the rest, and removes the instance. It has no open holds. */
export async function closeInstance(transaction: Queryable, instanceId: InstanceId): Promise<void> {
  await transaction.execute(
    `with closed as (
       delete from ledger_leases where instance_id = $1 returning organisation_id, period, granted_pico_usd, settled_pico_usd)
     update ledger_periods p
     set committed_pico_usd = p.committed_pico_usd - (closed.granted_pico_usd - closed.settled_pico_usd),
       settled_pico_usd = p.settled_pico_usd + closed.settled_pico_usd
     from closed where p.organisation_id = closed.organisation_id and p.period = closed.period`,
    [instanceId],
  )
  await transaction.execute('delete from ledger_instances where instance_id = $1', [instanceId])
}
