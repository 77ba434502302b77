import { createHash } from 'node:crypto'
import type { OwnedDatabase } from '../port.ts'
import {
  type BatchSums,
  keyOf,
  type MovedTable,
  MoveError,
  readByKeys,
  readRows,
  sumRows,
  useCommonTexts,
} from './moved-tables.ts'

export interface TableSums {
  rows: number
  /** SHA-256, in hex, over the sums of the SHA-256 of all rows: the same for the same rows in any order. */
  sha256: string
}

/** Rows of one statement; about a second on the embedded engine. */
const verifiedBatch = 5_000
const comparedBatch = 500

/**
 * Reads a table of both engines whole and compares the number of rows and their hash. Throws MoveError, which names the first row of the source
 * that differs.
 */
export async function verifyTable(source: OwnedDatabase, target: OwnedDatabase, table: MovedTable): Promise<TableSums> {
  const [expected, found] = await Promise.all([sumTable(source, table), sumTable(target, table)])
  if (expected.rows === found.rows && expected.sha256 === found.sha256) return expected
  const place = await findDifference(source, target, table)
  throw new MoveError(
    `${table.name} differs: ${expected.rows} rows with the hash ${expected.sha256.slice(0, 12)} in the data folder, ` +
      `${found.rows} rows with ${found.sha256.slice(0, 12)} on the server; ${place}. To begin again, drop the schema portico_${target.name} there`,
  )
}

async function sumTable(database: OwnedDatabase, table: MovedTable): Promise<TableSums> {
  let rows = 0
  const totals = [0n, 0n, 0n, 0n]
  let after: string[] | null = null
  for (;;) {
    const key: string[] | null = after
    const batch: BatchSums = await database.transaction(async (transaction) => {
      await useCommonTexts(transaction)
      return sumRows(transaction, table, key, verifiedBatch)
    })
    rows += batch.rows
    for (const [index, sum] of batch.sums.entries()) totals[index]! += sum
    if (table.key.length === 0 || batch.rows < verifiedBatch) break
    after = batch.lastKey
  }
  return {
    rows,
    sha256: createHash('sha256')
      .update([rows, ...totals].join(' '))
      .digest('hex'),
  }
}

async function findDifference(source: OwnedDatabase, target: OwnedDatabase, table: MovedTable): Promise<string> {
  let after: string[] | null = null
  while (table.key.length > 0) {
    const key: string[] | null = after
    const rows = await source.transaction(async (transaction) => {
      await useCommonTexts(transaction)
      return readRows(transaction, table, key, comparedBatch)
    })
    const found = await target.transaction(async (transaction) => {
      await useCommonTexts(transaction)
      return readByKeys(transaction, table, rows)
    })
    for (const [index, row] of rows.entries()) {
      if (JSON.stringify(row) === JSON.stringify(found[index])) continue
      const name = keyOf(table, row).join(', ')
      return found[index] === undefined ? `the row ${name} is not on the server` : `the row ${name} differs`
    }
    if (rows.length < comparedBatch) return 'the server has rows that the data folder does not have'
    after = keyOf(table, rows.at(-1)!)
  }
  return 'it has no key by which rows could be named'
}
