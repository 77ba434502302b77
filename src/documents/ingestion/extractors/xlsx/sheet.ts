import { cleanLine } from '../clean-text.ts'
import { corruptFile } from '../extractor.ts'
import type { Attribute, XmlHandler } from '../office-xml.ts'
import { pageTextElements, pageTexts } from './page-texts.ts'
import { createTextReader, maximumCellCharacters } from './cell-text.ts'
import type { Workbook } from './workbook.ts'

/** Most columns of a sheet. */
const maximumColumns = 16_384

/** A row with its filled cells. */
export interface SheetRow {
  /** 1-based. */
  number: number
  /** Texts by 0-based column. */
  cells: Map<number, string>
}

interface Cell {
  column: number
  type: string
  style: number
  hasValue: boolean
  value: string
  hasFormula: boolean
  formula: string
}

/** Reads the elements of a sheet into rows. */
export class SheetReader implements XmlHandler {
  private readonly workbook: Pick<Workbook, 'strings' | 'formats'>
  /** Called for a formula whose value the file does not have. */
  private readonly missesValue: () => void
  private readonly inline = createTextReader()
  private rows: SheetRow[] = []
  private row: SheetRow | null = null
  private isHiddenRow = false
  private lastRow = 0
  private lastColumn = -1
  private cell: Cell | null = null
  private field: 'value' | 'formula' | null = null
  private pageText: string | null = null
  private readonly shownOnPages: string[] = []
  private readonly hidden = { rows: createRanges(String), columns: createRanges(columnName) }

  constructor(workbook: Pick<Workbook, 'strings' | 'formats'>, missesValue: () => void) {
    this.workbook = workbook
    this.missesValue = missesValue
  }

  /** Returns the rows that are complete by now. */
  take(): SheetRow[] {
    const taken = this.rows
    this.rows = []
    return taken
  }

  /** The rows with cells, and the columns, that Excel does not show; empty if it shows all. */
  hiddenPlaces(): string {
    const places = [
      ['Hidden rows', this.hidden.rows.toString()],
      ['Hidden columns', this.hidden.columns.toString()],
    ]
    return places.flatMap(([what, ranges]) => (ranges === '' ? [] : [`${what}: ${ranges}.`])).join(' ')
  }

  /** The texts of the headers and footers of its printed pages. */
  pageTexts(): readonly string[] {
    return this.shownOnPages
  }

  open(name: string, attribute: Attribute) {
    if (this.cell) {
      if (name === 'v') {
        this.field = 'value'
        this.cell.hasValue = true
      } else if (name === 'f') {
        this.field = 'formula'
        this.cell.hasFormula = true
      }
      this.inline.open(name)
    } else if (name === 'c' && this.row) this.openCell(attribute)
    else if (name === 'row') {
      this.row = { number: Number(attribute('r')) || this.lastRow + 1, cells: new Map() }
      this.lastRow = this.row.number
      this.lastColumn = -1
      this.isHiddenRow = isTrue(attribute('hidden'))
    } else if (pageTextElements.has(name)) this.pageText = ''
    else if (name === 'col' && isTrue(attribute('hidden'))) {
      this.hidden.columns.add(Number(attribute('min')) || 0, Math.min(Number(attribute('max')) || 0, maximumColumns))
    }
  }

  close(name: string) {
    this.inline.close(name)
    if (name === 'v' || name === 'f') this.field = null
    else if (name === 'c') this.closeCell()
    else if (this.pageText !== null) {
      this.shownOnPages.push(...pageTexts(this.pageText))
      this.pageText = null
    } else if (name === 'row' && this.row) {
      if (this.row.cells.size > 0) {
        this.rows.push(this.row)
        if (this.isHiddenRow) this.hidden.rows.add(this.row.number, this.row.number)
      }
      this.row = null
    }
  }

  text(text: string) {
    if (this.pageText !== null) this.pageText += text
    if (!this.cell) return
    if (this.field) this.cell[this.field] += text
    else this.inline.text(text)
  }

  private openCell(attribute: Attribute) {
    const column = columnOf(attribute('r')) ?? this.lastColumn + 1
    if (column >= maximumColumns) throw corruptFile('The xlsx file is damaged: a cell is outside of its sheet.')
    this.lastColumn = column
    const style = Number(attribute('s') ?? 0)
    this.cell = {
      column,
      type: attribute('t') ?? 'n',
      style,
      hasValue: false,
      value: '',
      hasFormula: false,
      formula: '',
    }
    this.inline.start()
  }

  private closeCell() {
    const { cell, row } = this
    this.cell = null
    if (!cell || !row) return
    const text = this.textOf(cell)
    if (text !== '') row.cells.set(cell.column, text)
  }

  private textOf({ type, hasValue, value, hasFormula, formula, style }: Cell): string {
    if (type === 'inlineStr') return this.inline.take()
    if (value === '') {
      // The result of a text formula can be the empty text.
      if (!hasFormula || (type === 'str' && hasValue)) return ''
      this.missesValue()
      // A formula that is shared with other cells is in the first of them.
      return formula === '' ? '' : cellText(`=${formula}`)
    }
    switch (type) {
      case 's':
        return this.workbook.strings[Number(value)] ?? ''
      case 'b':
        return value === '1' ? 'TRUE' : 'FALSE'
      case 'n': {
        const number = Number(value)
        return Number.isFinite(number) ? (this.workbook.formats[style] ?? String)(number) : cellText(value)
      }
      default:
        return cellText(value)
    }
  }
}

/** Longest list of hidden rows or columns. */
const maximumRanges = 100

/** Ranges of numbers in ascending order, as text. */
function createRanges(show: (number: number) => string) {
  const ranges: { from: number; to: number }[] = []
  let isCut = false
  return {
    add(from: number, to: number) {
      if (from < 1 || to < from) return
      const last = ranges.at(-1)
      if (last && from <= last.to + 1) last.to = Math.max(last.to, to)
      else if (ranges.length < maximumRanges) ranges.push({ from, to })
      else isCut = true
    },
    toString: () =>
      ranges.map(({ from, to }) => (from === to ? show(from) : `${show(from)}–${show(to)}`)).join(', ') +
      (isCut ? ' and more' : ''),
  }
}

/** The letters of a 1-based column. */
function columnName(column: number): string {
  let name = ''
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26))
    name = String.fromCharCode(65 + ((left - 1) % 26)) + name
  return name
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true'
}

/** The 0-based column of a place such as `AB12`; null where it names none. */
export function columnOf(place: string | undefined): number | null {
  const letters = /^\$?([A-Z]{1,4})\$?\d/i.exec(place ?? '')?.[1]
  if (letters === undefined) return null
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

/** The 1-based row of a place; null where it names none. */
export function rowOf(place: string | undefined): number | null {
  const digits = /^\$?[A-Z]{1,4}\$?(\d{1,7})$/i.exec(place ?? '')?.[1]
  return digits === undefined ? null : Number(digits)
}

function cellText(value: string): string {
  return cleanLine(value.slice(0, maximumCellCharacters))
}
