import { ExtractionError, type ExtractedBlock } from '../extraction.ts'
import { cellsOf } from '../extractors/table-row.ts'

/** A table of a document as it was extracted. */
export interface ExtractedTable {
  /** The heading or the line of text above it; null where there is none. */
  title: string | null
  header: string[] | undefined
  rows: { row: number; cells: readonly string[] }[]
}

/** Bounds of the tables of one document. 2 million cells take about 200 MB in SQLite's memory. */
const maximumTables = 200
const maximumCells = 2_000_000
const maximumTitleLength = 200

/** Collects the tables of a document. A table ends where the rows begin to count again, or where the header changes. */
export async function readTables(batches: AsyncIterable<ExtractedBlock[]>): Promise<ExtractedTable[]> {
  const tables: ExtractedTable[] = []
  let open: ExtractedTable | undefined
  let title: string | null = null
  let cellCount = 0
  for await (const batch of batches) {
    for (const block of batch) {
      if (block.kind !== 'table_row') {
        title = block.text.slice(0, maximumTitleLength).toWellFormed().replaceAll(/\s+/g, ' ')
        continue
      }
      if (block.row === undefined) continue
      if (!open || !isSameHeader(open.header, block.header) || block.row <= open.rows.at(-1)!.row) {
        if (tables.length === maximumTables) return tables
        open = { title, header: block.header, rows: [] }
        tables.push(open)
      }
      const cells = cellsOf(block)
      cellCount += cells.length
      if (cellCount > maximumCells) {
        throw new ExtractionError('too_complex', `The tables have more than ${maximumCells} cells.`)
      }
      open.rows.push({ row: block.row, cells })
    }
  }
  return tables
}

function isSameHeader(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  if (one === other) return true
  return one?.length === other?.length && (one ?? []).every((cell, index) => cell === other![index])
}
