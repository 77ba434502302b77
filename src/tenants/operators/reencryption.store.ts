import type { OwnedDatabase } from '../../platform/database/index.ts'
import type { SecretBox } from '../../platform/kernel/index.ts'
import { recordAdminChange } from './admin-log.store.ts'
import type { Actor } from './admin-log.ts'
import type { Reencrypted, ReencryptedKind } from './reencryption.ts'

/** A column of encrypted values. The names are constants of the code, never input. */
export interface EncryptedColumn {
  table: string
  /** The column that identifies a row. */
  id: string
  column: string
}

/** A column whose values the service has encrypted with its secret key. */
export interface SealedColumn extends EncryptedColumn {
  kind: ReencryptedKind
  /** What the value of a row is bound to. */
  contextOf: (id: string) => string
}

const rowsPerRead = 500

/** Encrypts the values of a column again that are under the second key. What changes at the same time keeps the other change. */
export function reencryptColumn(
  control: OwnedDatabase,
  secretBox: Pick<SecretBox, 'reseal'>,
  { contextOf, ...column }: SealedColumn,
): Promise<Reencrypted> {
  return renewColumn(control, column, (sealed, id) => secretBox.reseal(sealed, contextOf(id)))
}

/** Replaces the values of a column by what `renew` makes of them: undefined keeps a value. Where it throws, the value counts as unreadable. */
export async function renewColumn(
  database: OwnedDatabase,
  encrypted: EncryptedColumn,
  renew: (value: string, id: string) => string | undefined | Promise<string | undefined>,
): Promise<Reencrypted> {
  const { table, id, column } = encrypted
  const counts = { reencrypted: 0, unchanged: 0, unreadable: 0 }
  for (let after: string | null = null; ;) {
    const rows: { id: string; value: string }[] = await database.query(
      `SELECT ${id}::text AS id, ${column} AS value FROM ${table}
       WHERE ${column} IS NOT NULL AND (${id} > $1 OR $1 IS NULL) ORDER BY ${id} LIMIT ${rowsPerRead}`,
      [after],
    )
    for (const row of rows) counts[await renewRow(row)]++
    if (rows.length < rowsPerRead) return counts
    after = rows.at(-1)!.id
  }

  async function renewRow(row: { id: string; value: string }): Promise<keyof Reencrypted> {
    let renewed
    try {
      renewed = await renew(row.value, row.id)
    } catch {
      return 'unreadable'
    }
    if (renewed === undefined) return 'unchanged'
    return (await replaceValue(database, encrypted, row.id, row.value, renewed)) ? 'reencrypted' : 'unchanged'
  }
}

/** Writes a value unless it was changed since it was read. Returns whether it wrote. */
export async function replaceValue(
  database: OwnedDatabase,
  { table, id, column }: EncryptedColumn,
  rowId: string,
  before: string,
  after: string,
): Promise<boolean> {
  const written = await database.execute(`UPDATE ${table} SET ${column} = $3 WHERE ${id} = $1 AND ${column} = $2`, [
    rowId,
    before,
    after,
  ])
  return written > 0
}

export async function recordReencryption(
  control: OwnedDatabase,
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
      after: { ...counts },
    }),
  )
}
