import type { InstanceId } from '../../../platform/kernel/index.ts'
import type { Database, Queryable } from '../../../platform/database/index.ts'
import { type Actor, recordAdminChange } from '../../../tenants/operators/index.ts'
import { boundedTransaction } from '../lease.store.ts'

/** Journals in front of a server: one for each run of a process. */

/** Closed journals recognise copies of their folders for so long. */
const keepClosedDays = 90

export interface ServerJournal {
  journalId: string
  appliedSequence: number
  leaseGrowths: number
  /** Everything in it is in the tables, or was given up. */
  isClosed: boolean
  /** The operator has accepted the loss of what was not applied. */
  isReleased: boolean
  /** Its process, which may be dead; null: it has stopped, or never registered. */
  instanceId: InstanceId | null
  /** Since the last heartbeat. */
  silentMs: number | null
}

export async function loadServerJournal(database: Queryable, journalId: string): Promise<ServerJournal | undefined> {
  const [row] = await database.query<{
    applied: bigint
    growths: bigint
    closed: boolean
    released: boolean
    instance: string | null
    silent: number | null
  }>(
    `select applied_sequence as applied, lease_growths as growths, closed_at is not null as closed,
       released_at is not null as released, i.instance_id as instance,
       (extract(epoch from clock_timestamp() - i.heartbeat_at) * 1000)::float8 as silent
     from ledger_journals j left join ledger_instances i using (journal_id)
     where j.journal_id = $1 and j.place is not null`,
    [journalId],
  )
  return (
    row && {
      journalId,
      appliedSequence: Number(row.applied),
      leaseGrowths: Number(row.growths),
      isClosed: row.closed,
      isReleased: row.released,
      instanceId: row.instance as InstanceId | null,
      silentMs: row.silent,
    }
  )
}

export function insertServerJournal(
  database: Database,
  { journalId, holder, place }: { journalId: string; holder: string; place: string },
): Promise<void> {
  return boundedTransaction(database, async (transaction) => {
    await transaction.execute(
      `delete from ledger_journals where closed_at < clock_timestamp() - interval '${keepClosedDays} days'`,
    )
    await transaction.execute('insert into ledger_journals (journal_id, holder, place) values ($1, $2, $3)', [
      journalId,
      holder,
      place,
    ])
  })
}

/**
 * Makes this process the only one that may write for the journal. `expiryMs` null: its former process is known to be dead; else its
 * instance must have been silent for so long. False: it was not, or the journal is closed.
 */
export function claimJournal(
  database: Database,
  { journalId, holder, expiryMs }: { journalId: string; holder: string; expiryMs: number | null },
): Promise<boolean> {
  return boundedTransaction(database, async (transaction) => {
    if (!(await lockOpenJournal(transaction, journalId, expiryMs))) return false
    // The former holder's next heartbeat, lease operation and batch find themselves without the journal.
    await setHolder(transaction, journalId, holder)
    return true
  })
}

/** A journal whose instance is registered. */
export interface OpenJournal {
  journalId: string
  instanceId: InstanceId
  /** Host and folder. */
  place: string
  startedAt: Date
  heartbeatAt: Date
  /** Without a heartbeat for the expiry. */
  isSilent: boolean
  /** Those that the database has. */
  openHolds: number
  /** In leases, and not billed. */
  reservedPicoUsd: bigint
}

export async function loadOpenJournals(database: Queryable, expiryMs: number): Promise<OpenJournal[]> {
  const rows = await database.query<Omit<OpenJournal, 'openHolds'> & { openHolds: bigint }>(
    `select j.journal_id as "journalId", i.instance_id as "instanceId", j.place, i.started_at as "startedAt", i.heartbeat_at as "heartbeatAt",
       i.heartbeat_at < clock_timestamp() - $1::int8 * interval '1 millisecond' as "isSilent",
       (select count(*) from ledger_holds h where h.instance_id = i.instance_id) as "openHolds",
       (select coalesce(sum(granted_pico_usd - settled_pico_usd), 0)::int8 from ledger_leases l where l.instance_id = i.instance_id)
         as "reservedPicoUsd"
     from ledger_journals j join ledger_instances i using (journal_id)
     where j.place is not null and j.released_at is null
     order by i.started_at`,
    [expiryMs],
  )
  return rows.map((row) => ({ ...row, openHolds: Number(row.openHolds) }))
}

/**
 * The operator accepts the loss of what is in the journal only: from now on its instance is recovered like one without a journal.
 * Refused while its process is alive.
 */
export function releaseJournal(
  database: Database,
  { journalId, expiryMs }: { journalId: string; expiryMs: number },
  { actor, atMs }: { actor: Actor; atMs: number },
): Promise<'released' | 'alive' | 'unknown'> {
  return boundedTransaction(database, async (transaction) => {
    const [journal] = await transaction.query<{ place: string; applied: bigint; instance: string }>(
      `select j.place, j.applied_sequence as applied, i.instance_id as instance
       from ledger_journals j join ledger_instances i using (journal_id)
       where j.journal_id = $1 and j.place is not null and j.closed_at is null and j.released_at is null`,
      [journalId],
    )
    if (!journal) return 'unknown'
    if (!(await lockOpenJournal(transaction, journalId, expiryMs))) return 'alive'
    await setHolder(transaction, journalId, null)
    await transaction.execute('update ledger_journals set released_at = clock_timestamp() where journal_id = $1', [
      journalId,
    ])
    const { place, applied, instance: instanceId } = journal
    await recordAdminChange(transaction, {
      actor,
      atMs,
      action: 'ledger_journal.released',
      subjectType: 'ledger_journal',
      subjectId: journalId,
      organisationId: null,
      before: { place, instanceId, appliedRecords: Number(applied) },
      after: null,
    })
    return 'released'
  })
}

/** A journal without an instance: it never had a record. */
export async function closeEmptyJournal(database: Database, journalId: string): Promise<void> {
  await database.execute(
    `update ledger_journals set closed_at = clock_timestamp(), holder = null
     where journal_id = $1 and not exists (select from ledger_instances i where i.journal_id = $1)`,
    [journalId],
  )
}

/** Locks the journal before its instance, like every other transaction that needs both. */
async function lockOpenJournal(transaction: Queryable, journalId: string, expiryMs: number | null): Promise<boolean> {
  const journals = await transaction.query(
    `select 1 from ledger_journals
     where journal_id = $1 and place is not null and closed_at is null and released_at is null for update`,
    [journalId],
  )
  if (journals.length === 0) return false
  const [instance] = await transaction.query<{ silent: boolean }>(
    `select $2::int8 is null or heartbeat_at < clock_timestamp() - $2::int8 * interval '1 millisecond' as silent
     from ledger_instances where journal_id = $1 for update`,
    [journalId, expiryMs],
  )
  return instance?.silent ?? true
}

async function setHolder(transaction: Queryable, journalId: string, holder: string | null): Promise<void> {
  await transaction.execute('update ledger_journals set holder = $2 where journal_id = $1', [journalId, holder])
  await transaction.execute('update ledger_instances set journal_holder = $2 where journal_id = $1', [
    journalId,
    holder,
  ])
}
