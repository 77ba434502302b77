import type { InstanceId } from '../../../platform/kernel/index.ts'
import type { OwnedDatabase, Queryable } from '../../../platform/database/index.ts'
import type { StoredBatch } from './records.ts'

export interface StoredJournal {
  journalId: string
  /** The records up to this one are in the tables. */
  appliedSequence: number
}

/** The journal whose projection this embedded database is. */
export async function loadJournal(database: Queryable): Promise<StoredJournal | undefined> {
  const [row] = await database.query<{ journal_id: string; applied_sequence: bigint }>(
    'select journal_id, applied_sequence from ledger_journals where place is null',
  )
  return row && { journalId: row.journal_id, appliedSequence: Number(row.applied_sequence) }
}

/** Lets only this holder apply records from now on. For an embedded database, which no other process uses. */
export async function takeJournal(database: OwnedDatabase, journalId: string, holder: string): Promise<void> {
  await database.execute('update ledger_journals set holder = $2 where journal_id = $1', [journalId, holder])
}

/** Starts a new journal of an embedded database in place of the former one; null: without a journal. */
export function replaceJournal(
  database: OwnedDatabase,
  journalId: string | null,
  holder: string | null,
): Promise<void> {
  return database.transaction(async (transaction) => {
    await transaction.execute('delete from ledger_journals where place is null')
    if (journalId !== null) {
      await transaction.execute('insert into ledger_journals (journal_id, holder) values ($1, $2)', [journalId, holder])
    }
  })
}

export interface ApplyResult {
  /** False: nothing was done, because `first` does not follow the last applied record, or the journal is not ours. */
  applied: boolean
  /** The last applied record now; null: the journal is unknown, closed or of another holder, or the database is older. */
  atSequence: number | null
  /** Records that the tables did not take; they are in ledger_journal_rejects. */
  rejected: number
}

/** Applies consecutive records of one instance in one transaction with their sequence. Repeating it is harmless. */
export async function applyRecords(
  database: Queryable,
  place: { journalId: string; holder: string; first: number; last: number; instance: InstanceId },
  batch: StoredBatch,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<ApplyResult> {
  const [row] = await database.query<{ applied: boolean; at_sequence: bigint | null; rejected: number }>(
    `select applied, at_sequence, rejected
     from ledger_apply_calls($1, $2, $3, $4, $5, $6, $7::json, $8::jsonb, $9::json, $10::json, $11, $12, $13, $14, $15, $16, $17, $18, $19,
       $20, $21)`,
    // No leases grow beyond those that an embedded database has.
    [place.journalId, place.holder, 0, place.first, place.last, place.instance, ...batch],
    options,
  )
  const { applied, at_sequence: at, rejected } = row!
  return { applied, atSequence: at === null ? null : Number(at), rejected }
}

/** Moves past one record that the tables reject, and keeps it for the operator. Repeating it is harmless. */
export function rejectRecord(
  database: OwnedDatabase,
  { journalId, holder, sequence }: { journalId: string; holder: string; sequence: number },
  record: { requestId: string; text: string; reason: string },
): Promise<void> {
  return database.transaction(async (transaction) => {
    const moved = await transaction.execute(
      `update ledger_journals set applied_sequence = $2
       where journal_id = $1 and holder = $3 and closed_at is null and applied_sequence = $2 - 1`,
      [journalId, sequence, holder],
    )
    if (moved === 0) return
    await transaction.execute(
      'insert into ledger_journal_rejects (journal_id, sequence, request_id, reason, record) values ($1, $2, $3, $4, $5)',
      [journalId, sequence, record.requestId, record.reason, record.text],
    )
  })
}

/** Those of the instances that are not registered. */
export async function findUnknownInstances(database: Queryable, instances: readonly string[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `select id from unnest($1::uuid[]) as id
     where not exists (select from ledger_instances i where i.instance_id = id) order by 1`,
    [instances],
  )
  return rows.map(({ id }) => id)
}
