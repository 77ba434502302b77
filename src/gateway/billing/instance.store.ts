import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import type { InstanceId, Role } from '../../platform/kernel/index.ts'
import { type Actor, recordAdminChange } from '../../tenants/operators/index.ts'

/** The ledger's table of running processes. Times come from the database's clock, because clocks of instances differ. */

/** What a process states about itself. */
export interface InstanceFacts {
  role: Role
  /** Host and process, for the operator. */
  name: string
  /** Where uploaded files are: equal in processes with the same place. null: it has nothing to do with files. */
  fileStore: string | null
}

export async function registerInstance(
  database: Queryable,
  { instanceId, facts }: { instanceId: InstanceId; facts?: InstanceFacts | undefined },
  signal?: AbortSignal,
): Promise<void> {
  await database.execute(
    'insert into ledger_instances (instance_id, role, name, file_store) values ($1, $2, $3, $4) on conflict do nothing',
    [instanceId, facts?.role ?? null, facts?.name ?? null, facts?.fileStore ?? null],
    { ...(signal && { signal }) },
  )
}

export interface LiveInstance {
  id: string
  /** null: of a version before roles, which does everything. */
  role: Role | null
  name: string | null
  fileStore: string | null
}

/** The processes with a heartbeat within `expiryMs`. */
export function loadLiveInstances(database: Queryable, expiryMs: number, timeoutMs: number): Promise<LiveInstance[]> {
  return database.query<LiveInstance>(
    `select instance_id as id, role, name, file_store as "fileStore" from ledger_instances
     where heartbeat_at >= clock_timestamp() - $1::int8 * interval '1 millisecond' order by started_at`,
    [expiryMs],
    { timeoutMs },
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

/**
 * Holds and leases whose instance has no row get a row for it, silent since 1970, so that recovery settles and frees them. Versions before
 * `write_attempt` left such holds. The attempt refuses statements of the former process that are still on their way.
 */
export async function registerMissingInstances(database: Queryable): Promise<void> {
  await database.execute(
    `insert into ledger_instances (instance_id, started_at, heartbeat_at, write_attempt)
     select instance_id, 'epoch', 'epoch', 9223372036854775807
     from (select instance_id from ledger_holds union select instance_id from ledger_leases) owner
     where not exists (select from ledger_instances i where i.instance_id = owner.instance_id)
     on conflict do nothing`,
  )
}

/** Other instances whose heartbeat is older than `expiryMs`; null: all others. Not those of an earlier version with a journal. */
export async function loadDeadInstances(
  database: Queryable,
  self: InstanceId | null,
  expiryMs: number | null,
): Promise<InstanceId[]> {
  const rows = await database.query<{ id: InstanceId }>(
    `select instance_id as id from ledger_instances
     where instance_id is distinct from $1::uuid and journal_holder is null
       and ($2::int8 is null or heartbeat_at < clock_timestamp() - $2::int8 * interval '1 millisecond')
     order by started_at`,
    [self, expiryMs],
  )
  return rows.map(({ id }) => id)
}

/** Journals in front of a server, of an earlier version: records may be on its disk only. */
export async function loadServerJournals(database: Queryable): Promise<{ journalId: string; place: string }[]> {
  return database.query(
    `select journal_id as "journalId", coalesce(j.place, '') as place
     from ledger_instances i join ledger_journals j using (journal_id) where i.journal_holder is not null order by i.started_at`,
  )
}

/** True when the row still exists, is still expired, and is now locked by this transaction. */
export async function lockInstance(
  transaction: Queryable,
  instanceId: InstanceId,
  expiryMs: number | null,
): Promise<boolean> {
  const rows = await transaction.query(
    `select 1 from ledger_instances
     where instance_id = $1 and ($2::int8 is null or heartbeat_at < clock_timestamp() - $2::int8 * interval '1 millisecond')
     for update skip locked`,
    [instanceId, expiryMs],
  )
  return rows.length === 1
}

export function recordRepair(
  database: OwnedDatabase,
  { actor, atMs }: { actor: Actor; atMs: number },
  closedHolds: number,
): Promise<void> {
  return database.transaction((transaction) =>
    recordAdminChange(transaction, {
      actor,
      atMs,
      action: 'ledger.repaired',
      subjectType: 'ledger',
      subjectId: 'only',
      organisationId: null,
      after: { closedHolds },
    }),
  )
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

/**
 * Moves the bills of its leases to the periods' counters, frees the rest, and removes the instance. Throws if it has open holds, which nobody
 * would settle afterwards.
 */
export async function closeInstance(transaction: Queryable, instanceId: InstanceId): Promise<void> {
  // Waits for statements of this instance that run; later ones find no instance.
  await transaction.query('select from ledger_instances where instance_id = $1 for update', [instanceId])
  const open = await transaction.query('select from ledger_holds where instance_id = $1 limit 1', [instanceId])
  if (open.length > 0) throw new Error(`the instance ${instanceId} has open holds`)
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

/** The instance's row is gone: another instance presumed it dead, settled its holds and freed its leases. */
export class FencedError extends Error {
  readonly instanceId: InstanceId

  constructor(instanceId: InstanceId) {
    super('another instance has presumed this one dead')
    this.name = 'FencedError'
    this.instanceId = instanceId
  }
}
