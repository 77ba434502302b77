import { isValue } from '../csv-dialect.ts'
import { columnOf, rowOf, type SheetRow } from './sheet.ts'

/** Most merged cells that are kept, and the longest text that is repeated. */
const maximumMerges = 100_000
const maximumRepeated = 200
/** Longer than an element that states a merged cell. */
const overlap = 200

/** A cell over several rows. */
interface Merge {
  column: number
  from: number
  to: number
}

/**
 * The cells over several rows. A sheet states them after its cells, so its text is searched for them first: a second run of the XML parser
 * would take ten times as long.
 */
export async function findMerges(pieces: AsyncIterable<string>): Promise<Merge[]> {
  const merges: Merge[] = []
  let rest = ''
  for await (const piece of pieces) {
    const text = rest + piece
    let read = 0
    for (const match of text.matchAll(
      /<(?:\w{1,20}:)?mergeCell\s[^<>]{0,60}?ref="(\$?[A-Z]{1,4}\$?\d{1,7}):(\$?[A-Z]{1,4}\$?\d{1,7})"/g,
    )) {
      read = match.index + match[0].length
      const column = columnOf(match[1])
      const from = rowOf(match[1])
      const to = rowOf(match[2])
      if (column === null || from === null || to === null || to <= from || merges.length === maximumMerges) continue
      merges.push({ column, from, to })
    }
    rest = text.slice(Math.max(read, text.length - overlap))
  }
  return merges
}

/**
 * Repeats the text of a cell over several rows in each of them, because each row is read alone. A number stays in its first row, where it
 * counts once.
 */
export function createMergeFiller(merges: readonly Merge[]) {
  const starts = new Map<number, Merge[]>()
  for (const merge of merges) {
    const others = starts.get(merge.from)
    if (others) others.push(merge)
    else starts.set(merge.from, [merge])
  }
  const open = new Map<number, { text: string; to: number }>()
  return (row: SheetRow) => {
    for (const [column, { text, to }] of open) {
      if (row.number > to) open.delete(column)
      else if (!row.cells.has(column)) row.cells.set(column, text)
    }
    for (const { column, to } of starts.get(row.number) ?? []) {
      const text = row.cells.get(column) ?? ''
      if (text !== '' && text.length <= maximumRepeated && !isValue(text)) open.set(column, { text, to })
    }
  }
}
