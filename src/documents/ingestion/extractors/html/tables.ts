import type { ExtractedBlock } from '../../extraction.ts'
import { cleanLine } from '../clean-text.ts'
import { isValue } from '../csv-dialect.ts'
import { endLink, type LinkedText } from '../link-target.ts'
import { createTableBlocks, type TableBlocks } from '../table-blocks.ts'
import type { HtmlAttribute } from './tokenizer.ts'

/** Most columns and rows that one cell spans, and most columns whose cells continue in the next rows. */
const maximumSpan = 64
const maximumRows = 1_000
const maximumContinued = 256
/** Longest text that is repeated in the rows of its cell. */
const maximumRepeated = 200

interface Cell extends LinkedText {
  columns: number
  rows: number
  /** Of a heading in it. */
  level: number | null
}

export interface HtmlTable {
  /** Used to place things on the page: its cells are blocks of the page. */
  isLayout: boolean
  blocks: TableBlocks
  /** A row with several cells was read. */
  isGrid: boolean
  cells: string[]
  /** Cells that the row has, without those that continue from rows above. */
  own: number
  namesColumns: boolean
  /** Of a heading in the row. */
  level: number | null
  isRowOpen: boolean
  cell: Cell | null
  /** Texts of cells that continue in the next rows, by column. */
  continued: ({ text: string; rows: number } | undefined)[]
}

export function newTable(isLayout: boolean): HtmlTable {
  return {
    isLayout,
    blocks: createTableBlocks(),
    isGrid: false,
    cells: [],
    own: 0,
    namesColumns: true,
    level: null,
    isRowOpen: false,
    cell: null,
    continued: [],
  }
}

export function openCell(table: HtmlTable, name: string, attribute: HtmlAttribute) {
  closeCell(table)
  table.isRowOpen = true
  if (table.isLayout) return
  continueCells(table)
  table.own += 1
  if (name === 'td') table.namesColumns = false
  const columns = spanOf(attribute('colspan'), maximumSpan)
  table.cell = { text: '', links: [], columns, rows: spanOf(attribute('rowspan'), maximumRows), level: null }
}

function spanOf(written: string | undefined, maximum: number): number {
  return Math.max(1, Math.min(maximum, Number.parseInt(written ?? '1', 10) || 1))
}

/** Each row is read alone, so the text of a cell of several rows is repeated in each of them. A number would count twice. */
function continueCells(table: HtmlTable) {
  for (;;) {
    const above = table.continued[table.cells.length]
    if (!above || above.rows === 0) return
    above.rows -= 1
    table.cells.push(above.text)
  }
}

export function closeCell(table: HtmlTable) {
  const { cell } = table
  if (!cell) return
  table.cell = null
  table.level ??= cell.level
  while (cell.links.length > 0) endLink(cell)
  const text = cleanLine(cell.text)
  const column = table.cells.length
  if (column < maximumContinued) {
    const repeated = isValue(text) || text.length > maximumRepeated ? '' : text
    table.continued[column] = cell.rows > 1 ? { text: repeated, rows: cell.rows - 1 } : undefined
  }
  table.cells.push(text, ...Array.from({ length: cell.columns - 1 }, () => ''))
}

/** Ends the open row and returns the blocks that are complete. */
export function closeRow(table: HtmlTable): ExtractedBlock[] {
  closeCell(table)
  if (!table.isRowOpen) return []
  continueCells(table)
  const { cells, own, namesColumns, level } = table
  table.cells = []
  table.own = 0
  table.namesColumns = true
  table.level = null
  table.isRowOpen = false
  if (table.isLayout) return []
  if (own === 1 && !table.isGrid) {
    const text = cells.filter((cell) => cell !== '').join(' ')
    if (text === '') return []
    return [level === null ? { kind: 'paragraph', text } : { kind: 'heading', level, text }]
  }
  table.isGrid = true
  return table.blocks.addRow(cells, namesColumns)
}

export function closeTable(table: HtmlTable): ExtractedBlock[] {
  return [...closeRow(table), ...table.blocks.end()]
}

/** A table with another one in a cell is layout: what its open row holds so far becomes paragraphs. */
export function turnIntoLayout(table: HtmlTable): ExtractedBlock[] {
  closeCell(table)
  const texts = table.cells.filter((cell) => cell !== '')
  table.cells = []
  table.isLayout = true
  return [...table.blocks.end(), ...texts.map((text): ExtractedBlock => ({ kind: 'paragraph', text }))]
}
