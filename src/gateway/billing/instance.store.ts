import type { InstanceId, Role } from '../../platform/kernel/index.ts'
import type { Database, Queryable } from '../../platform/database/index.ts'
import { type Actor, recordAdminChange } from '../../tenants/operators/index.ts'
import { FencedError } from './lease.store.ts'

/** The ledger's table of running processes. Times come from the database's clock, because clocks of instances differ. */

/** The local journal of an instance on a server. */
export interface HeldJournal {
  journalId: string
  /** This process. Another holder has taken the journal over; none: it was released. */
  holder: string
}

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
  {
    instanceId,
    journal,
    facts,
  }: { instanceId: InstanceId; journal?: HeldJournal | undefined; facts?: InstanceFacts | undefined },
  signal?: AbortSignal,
): Promise<void> {
  await database.execute(
    `insert into ledger_instances (instance_id, journal_id, journal_holder, role, name, file_store)
     select $1::uuid, $2::uuid, $3::uuid, $4, $5, $6
     where $2::uuid is null or exists (
       select from ledger_journals where journal_id = $2 and holder = $3 and closed_at is null)
     on conflict do nothing`,
    [
      instanceId,
      journal?.journalId ?? null,
      journal?.holder ?? null,
      facts?.role ?? null,
      facts?.name ?? null,
      facts?.fileStore ?? null,
    ],
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

/** False: the row is gone because another instance presumed this one dead, or its journal has another holder. */
export async function writeHeartbeat(
  database: Queryable,
  instanceId: InstanceId,
  journal: HeldJournal | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  // One row, so that a transaction that takes the journal at the same time is seen.
  const touched = await database.execute(
    `update ledger_instances set heartbeat_at = clock_timestamp()
     where instance_id = $1 and journal_holder is not distinct from $2::uuid`,
    [instanceId, journal?.holder ?? null],
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

export interface DeadInstance {
  instanceId: InstanceId
  /** Its journal may have records that only its next start can apply: until then, or until a release, nobody settles its holds. */
  journalId: string | null
}

/** Other instances whose heartbeat is older than `expiryMs`; null: all others. */
export async function loadDeadInstances(
  database: Queryable,
  self: InstanceId | null,
  expiryMs: number | null,
): Promise<DeadInstance[]> {
  return database.query<DeadInstance>(
    `select instance_id as "instanceId", case when journal_holder is not null then journal_id end as "journalId"
     from ledger_instances
     where instance_id is distinct from $1::uuid
       and ($2::int8 is null or heartbeat_at < clock_timestamp() - $2::int8 * interval '1 millisecond')
     order by started_at`,
    [self, expiryMs],
  )
}

/**
 * True when the row still exists, is still expired, and is now locked by this transaction. An instance whose journal has a holder is
 * locked only for that holder.
 */
export async function lockInstance(
  transaction: Queryable,
  instanceId: InstanceId,
  expiryMs: number | null,
  journal: HeldJournal | undefined,
): Promise<boolean> {
  const rows = await transaction.query(
    `select 1 from ledger_instances
     where instance_id = $1 and journal_holder is not distinct from $3::uuid
       and ($2::int8 is null or heartbeat_at < clock_timestamp() - $2::int8 * interval '1 millisecond')
     for update skip locked`,
    [instanceId, expiryMs, journal?.holder ?? null],
  )
  return rows.length === 1
}

export function recordRepair(
  database: Database,
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
      before: null,
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
 * Moves the bills of its leases to the periods' counters, frees the rest, and removes the instance. Everything in its journal is applied or
 * was given up: the journal is closed. Throws if it has open holds, which nobody would settle afterwards.
 */
export async function closeInstance(
  transaction: Queryable,
  instanceId: InstanceId,
  journal: HeldJournal | undefined,
): Promise<void> {
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
  // A trigger protects instances with a journal.
  if (journal) await transaction.query("select set_config('portico.ledger_journal', $1, true)", [journal.journalId])
  const [gone] = await transaction.query<{ journalId: string | null }>(
    `delete from ledger_instances where instance_id = $1 and journal_holder is not distinct from $2::uuid
     returning journal_id as "journalId"`,
    [instanceId, journal?.holder ?? null],
  )
  if (!gone && journal) throw new FencedError(instanceId)
  if (!gone || gone.journalId === null) return
  await transaction.execute(
    'update ledger_journals set closed_at = clock_timestamp(), holder = null where journal_id = $1',
    [gone.journalId],
  )
}
