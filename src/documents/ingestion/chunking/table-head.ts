import { tableRowText } from '../extractors/table-row.ts'
import { charactersPerTokenBound, shortened, type TokenBudget } from './pieces.ts'

/** The header of a table, as the chunks of its rows carry it. Made once for each table. */
export interface TableHead {
  /** Its cells; two tables with the same cells have equal heads. */
  cells: readonly string[]
  /** The text above the rows; null where nothing of it fits. */
  shown: string | null
  /** Of `shown` with a line feed. */
  tokens: number
}

/** A header may take at most this share of a chunk; a longer one is cut between cells, or the rows would have no room. */
export const maximumHeaderShare = 0.4

/** Makes the heads of tables; rows of one table that share an array of cells share the work. */
export function createTableHeads({ countTokens, maximumTokens }: TokenBudget) {
  let last: TableHead | null = null
  return {
    headOf(cells: readonly string[]): TableHead {
      if (last && areEqual(last.cells, cells)) return last
      const shown = cutHeader(cells, { countTokens, maximumTokens: Math.floor(maximumTokens * maximumHeaderShare) })
      return (last = { cells, shown, tokens: shown === null ? 0 : countTokens(`${shown}\n`) })
    },
  }
}

/** Longest cells, in code points, of a header of several columns that is too long; tried in order. */
const headerCellLengths = [160, 80, 40, 20]

/** The header of some columns: long names are shortened before any is left out. */
export function columnsHeader(cells: readonly string[], { countTokens, maximumTokens }: TokenBudget): string | null {
  const budget = { countTokens, maximumTokens: Math.floor(maximumTokens * maximumHeaderShare) }
  for (const length of headerCellLengths) {
    const short = shortText(
      cells.map((cell) => shortened(cell, length)),
      budget.maximumTokens,
    )
    if (short === '') return null
    if (short !== null && countTokens(`${short}\n`) <= budget.maximumTokens) return short
  }
  return cutHeader(
    cells.map((cell) => shortened(cell, headerCellLengths.at(-1)!)),
    budget,
  )
}

export function areEqual(left: readonly string[], right: readonly string[]): boolean {
  if (left === right) return true
  return left.length === right.length && left.every((cell, index) => cell === right[index])
}

/** A header that leaves room for rows: its first cells, marked where it was cut. The work does not depend on the length of the cut rest. */
function cutHeader(cells: readonly string[], { countTokens, maximumTokens }: TokenBudget): string | null {
  // The least that a cell and its separator take, so that no more cells than could ever fit are looked at.
  const candidates = cells.slice(0, maximumTokens + 1)
  const whole = cells.length === candidates.length && shortText(candidates, maximumTokens)
  if (whole === '') return null
  if (typeof whole === 'string' && countTokens(`${whole}\n`) <= maximumTokens) return whole
  let kept: string | null = null
  let low = 1
  let high = candidates.length
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const text = shortText(candidates.slice(0, middle), maximumTokens)
    if (text !== null && countTokens(`${text} | …\n`) <= maximumTokens) {
      kept = `${text} | …`
      low = middle + 1
    } else high = middle - 1
  }
  return kept
}

/** Null where the text is longer than any header of so many tokens. */
function shortText(cells: readonly string[], maximumTokens: number): string | null {
  let length = 0
  for (const cell of cells) {
    length += cell.length + 3
    if (length > maximumTokens * charactersPerTokenBound + 3) return null
  }
  const text = tableRowText([...cells])
  return text.trim() === '' ? '' : text
}
