import type { ExtractedBlock } from '../../extraction.ts'
import type { Attribute } from '../office-xml.ts'
import { isOn } from './form-fields.ts'
import { createTableBlocks, type TableBlocks } from '../table-blocks.ts'

/** Most columns that one cell or gap of a row spans; Word allows 63. */
const maximumSpan = 64

interface Table {
  /** Null for a table of one column, which is layout: its paragraphs are blocks. */
  rows: TableBlocks | null
  columns: number
  cells: string[]
  cell: string[] | null
  span: number
  /** The cell continues the one above it. */
  isMerged: boolean
  /** Texts of cells that may continue in the next rows, by column. */
  merged: (string | undefined)[]
  startsMerge: boolean
  gapAfter: number
  declaredHeader: boolean
}

/** The open tables of a document part, from the outermost to the innermost. */
export class TableStack {
  private readonly tables: Table[] = []

  /** Paragraphs of the innermost open cell, or null outside tables. Tables of one column count as no table. */
  cell(): string[] | null {
    return this.tables.findLast((table) => table.cell !== null && table.rows !== null)?.cell ?? null
  }

  open(name: string, attribute: Attribute) {
    if (name === 'w:tbl') this.tables.push(newTable())
    const table = this.tables.at(-1)
    if (table) openElement(table, name, attribute)
  }

  /** Returns the blocks that are complete when the element ends. */
  close(name: string): ExtractedBlock[] {
    const table = this.tables.at(-1)
    if (!table) return []
    if (name === 'w:tc') closeCell(table)
    else if (name === 'w:tr') {
      for (let gap = 0; gap < table.gapAfter; gap += 1) table.cells.push('')
      return this.closeRow(table)
    } else if (name === 'w:tbl') {
      this.tables.pop()
      if (table.rows && !this.cell()) return table.rows.end()
    }
    return []
  }

  private closeRow(table: Table): ExtractedBlock[] {
    if (!table.rows) return []
    const outer = this.tables.length > 1 ? this.cell() : null
    if (!outer) return table.rows.addRow(table.cells, table.declaredHeader)
    // A table inside a cell becomes lines of that cell.
    outer.push(table.cells.filter((cell) => cell !== '').join(' | '))
    return []
  }
}

function openElement(table: Table, name: string, attribute: Attribute) {
  switch (name) {
    case 'w:gridCol':
      table.columns += 1
      if (table.columns > 1) table.rows ??= createTableBlocks()
      return
    case 'w:tr':
      // A table without a grid counts as a table of several columns.
      if (table.columns === 0) table.rows ??= createTableBlocks()
      table.cells = []
      table.gapAfter = 0
      table.declaredHeader = false
      return
    case 'w:gridBefore':
      table.cells.push(...emptyCells(attribute('val')))
      return
    case 'w:gridAfter':
      table.gapAfter = emptyCells(attribute('val')).length
      return
    case 'w:tblHeader':
      table.declaredHeader = isOn(attribute('val'))
      return
    case 'w:tc':
      table.cell = []
      table.span = 1
      table.isMerged = false
      table.startsMerge = false
      return
    case 'w:gridSpan':
      table.span = Math.max(1, Math.min(maximumSpan, Number(attribute('val')) || 1))
      return
    case 'w:vMerge':
      table.startsMerge = attribute('val') === 'restart'
      table.isMerged = !table.startsMerge
  }
}

function closeCell(table: Table) {
  const column = table.cells.length
  const own = (table.cell ?? []).join(' ')
  // Each row is read alone, so the text of a merged cell is repeated in each of its rows.
  const text = table.isMerged && own === '' ? (table.merged[column] ?? '') : own
  if (!table.isMerged) table.merged[column] = table.startsMerge ? text : undefined
  table.cells.push(text, ...Array.from({ length: table.span - 1 }, () => ''))
  table.cell = null
}

function newTable(): Table {
  return {
    rows: null,
    columns: 0,
    cells: [],
    cell: null,
    span: 1,
    isMerged: false,
    merged: [],
    startsMerge: false,
    gapAfter: 0,
    declaredHeader: false,
  }
}

function emptyCells(count: string | undefined): string[] {
  return Array.from({ length: Math.max(0, Math.min(maximumSpan, Number(count) || 0)) }, () => '')
}
