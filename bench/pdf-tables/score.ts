import type { Passage } from '../../src/documents/retrieval/index.ts'
import type { CellQuestion } from './cases.ts'

/** Scores of one question over one cell. */
export interface CellScore {
  /** Best rank of a passage of the file with all words of the row's name and the value; null below the limit. */
  rank: number | null
  /** A passage has the row's name, the column's names and the value, each unbroken. */
  together: boolean
  /** A passage has a line in which the value is in the cell of the row under the column's name. */
  attributed: boolean
}

export function scoreCell(passages: readonly Passage[], documentId: string, question: CellQuestion): CellScore {
  const own = passages.map((passage) => (passage.documentId === documentId ? shownText(passage) : null))
  const words = wordsOf(`${question.row} ${question.value}`)
  const rank = own.findIndex((text) => text !== null && holdsWords(text, words))
  const shown = own.filter((text) => text !== null)
  return {
    rank: rank < 0 ? null : rank + 1,
    together: shown.some((text) => {
      const flat = plain(text.replace(/[|\t\n]/g, ' '))
      return [question.row, question.value, ...question.column].every((part) => flat.includes(plain(part)))
    }),
    attributed: shown.some((text) => readsCell(text, question)),
  }
}

/** The passage as a model receives it: the table's header before the text. */
function shownText({ tableHeader, text }: Passage): string {
  return tableHeader === null ? text : `${tableHeader}\n${text}`
}

/** Reads the cell as a careful reader would: the column's place in the last header line above, then that place in the row's line. */
export function readsCell(text: string, { row, column, value }: CellQuestion): boolean {
  let at = -1
  for (const line of text.split('\n')) {
    const cells = line.split(/ \| |\t/).map(plain)
    if (cells.length < 2) continue
    const place = placeOf(cells, column.map(plain))
    if (place >= 0) at = place
    else if (at >= 0 && cells.includes(plain(row)) && cells[at] === plain(value)) return true
  }
  return false
}

/** Where the last of `names` is, after a cell with the ones before it; -1 where a line is no such header. */
function placeOf(cells: string[], names: string[]): number {
  const [group, name] = names.length === 2 ? names : ['', names[0]]
  const from = cells.findIndex((cell) => cell.startsWith(group!))
  if (from < 0) return -1
  return cells.findIndex(
    (cell, index) => index >= from && (cell === name || (group !== '' && cell.endsWith(` ${name}`))),
  )
}

function plain(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase()
}

function wordsOf(text: string): string[] {
  return plain(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

function holdsWords(text: string, words: string[]): boolean {
  const held = new Set(wordsOf(text))
  return words.every((word) => held.has(word))
}
