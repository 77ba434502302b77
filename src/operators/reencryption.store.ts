import type { Database } from '../database/index.ts'
import type { SecretBox } from '../kernel/index.ts'
import { recordAdminChange } from './admin-log.store.ts'
import type { Actor } from './admin-log.ts'
import type { Reencrypted, ReencryptedKind } from './reencryption.ts'

/** A column whose values the service has encrypted with its secret key. The names are constants of the code, never input. */
export interface SealedColumn {
  kind: ReencryptedKind
  table: string
  /** The column that identifies a row. */
  id: string
  column: string
  /** What the value of a row is bound to. */
  contextOf: (id: string) => string
}

const rowsPerRead = 500

/** Encrypts the values of a column again that are under the second key. What changes at the same time keeps the other change. */
export async function reencryptColumn(
  control: Database,
  secretBox: Pick<SecretBox, 'reseal'>,
  { table, id, column, contextOf }: SealedColumn,
): Promise<Reencrypted> {
  const counts = { reencrypted: 0, unchanged: 0, unreadable: 0 }
  for (let after: string | null = null; ;) {
    const rows: { id: string; sealed: string }[] = await control.query(
      `SELECT ${id}::text AS id, ${column} AS sealed FROM ${table}
       WHERE ${column} IS NOT NULL AND ($1::text IS NULL OR ${id}::text > $1) ORDER BY ${id}::text LIMIT ${rowsPerRead}`,
      [after],
    )
    for (const row of rows) counts[await reencryptRow(row)]++
    if (rows.length < rowsPerRead) return counts
    after = rows.at(-1)!.id
  }

  async function reencryptRow(row: { id: string; sealed: string }): Promise<keyof Reencrypted> {
    let resealed
    try {
      resealed = secretBox.reseal(row.sealed, contextOf(row.id))
    } catch {
      return 'unreadable'
    }
    if (resealed === undefined) return 'unchanged'
    const written = await control.execute(
      `UPDATE ${table} SET ${column} = $3 WHERE ${id}::text = $1 AND ${column} = $2`,
      [row.id, row.sealed, resealed],
    )
    return written === 0 ? 'unchanged' : 'reencrypted'
  }
}

export async function recordReencryption(
  control: Database,
  actor: Actor,
  nowMs: number,
  counts: Reencrypted,
): Promise<void> {
  await control.transaction((transaction) =>
    recordAdminChange(transaction, {
      actor,
      atMs: nowMs,
      action: 'secret_key.reencrypted',
      subjectType: 'secret_key',
      subjectId: 'only',
      organisationId: null,
      before: null,
      after: { ...counts },
    }),
  )
}
