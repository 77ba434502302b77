import type { Matched, ReadPassage, ReadRow, ReadSentence } from './read-passages.ts'

/** Rows in one quote. */
const maximumRows = 3

/**
 * The rows of the same table that have the same words of the question as one of them, as text. If the question names a column, its values in
 * all these rows; otherwise the first rows, each cell with the name of its column. At most `maximumUnits` UTF-16 units.
 */
export function quoteRows(
  { sentences }: ReadPassage,
  best: ReadRow,
  maximumUnits: number,
): { rows: ReadSentence[]; text: string } {
  const named = wordsOf(best.matched)
  const keys = best.matched.flatMap((cell, column) => (sizeOf(cell) > 0 ? [column] : []))
  const asked = best.header.flatMap((cell, column) => (sizeOf(cell) > 0 && !keys.includes(column) ? [column] : []))
  const rows = sentences.filter(({ row }) => row?.header === best.header && named.isSubsetOf(wordsOf(row.matched)))
  if (asked.length > 0 && keys.length > 0) {
    const columns = [...keys, ...asked].map((column) => {
      const values = new Set(rows.map(({ row }) => row!.cells[column] ?? '').filter((value) => value !== ''))
      return withName(best, column, [...values].join(', '))
    })
    const text = columns.join('; ')
    if (text.length <= maximumUnits) return { rows, text }
  }
  const first = rows.find(({ row }) => row === best)!
  const others = rows.filter((row) => row !== first).slice(0, maximumRows - 1)
  let text = composeRow(first.row!)
  const quoted = [first]
  for (const row of others) {
    const next = composeRow(row.row!)
    if (text.length + next.length > maximumUnits) break
    text += `. ${next}`
    quoted.push(row)
  }
  return { rows: quoted, text }
}

/** "Plan: Starter; Price: $9" */
function composeRow(row: ReadRow): string {
  return row.cells.flatMap((cell, column) => (cell === '' ? [] : [withName(row, column, cell)])).join('; ')
}

function withName({ names }: ReadRow, column: number, value: string): string {
  const name = names[column] ?? ''
  return name === '' || name === value ? value : `${name}: ${value}`
}

const sizeOf = ({ words, related }: Matched) => words.size + related.size

function wordsOf(cells: readonly Matched[]): Set<string> {
  return new Set(cells.flatMap(({ words, related }) => [...words, ...related]))
}
