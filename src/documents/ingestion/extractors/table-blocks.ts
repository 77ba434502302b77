import type { ExtractedBlock } from '../extraction.ts'
import { looksLikeHeader } from './csv-dialect.ts'
import { tableRow, tableRowText } from './table-row.ts'

/** Rows that wait until it is clear whether the first one is a header. */
const judgedRows = 20

/** One table while its rows are read. */
export type TableBlocks = ReturnType<typeof createTableBlocks>

/** Turns rows into blocks. A header is declared by the file, or recognised by its looks. */
export function createTableBlocks() {
  let waiting: string[][] | null = []
  let header: string[] | undefined
  let row = 0

  const rowBlock = (cells: string[]): ExtractedBlock => {
    row += 1
    return { kind: 'table_row', ...tableRow(cells), row, ...(header ? { header } : {}) }
  }
  const headerBlock = (cells: string[]): ExtractedBlock => {
    header = cells
    return { kind: 'table_row', text: tableRowText(cells), header: cells }
  }
  const judge = (): ExtractedBlock[] => {
    const rows = waiting ?? []
    waiting = null
    const [first, ...following] = rows
    if (!first) return []
    const head = looksLikeHeader(first, following) ? headerBlock(first) : rowBlock(first)
    return [head, ...following.map(rowBlock)]
  }

  return {
    addRow(cells: string[], declaredHeader: boolean): ExtractedBlock[] {
      if (cells.every((cell) => cell === '')) return []
      if (declaredHeader && row === 0 && waiting?.length === 0) {
        waiting = null
        return [headerBlock(cells)]
      }
      if (waiting === null) return [rowBlock(cells)]
      waiting.push(cells)
      return waiting.length > judgedRows ? judge() : []
    },
    end: (): ExtractedBlock[] => (waiting === null ? [] : judge()),
  }
}
