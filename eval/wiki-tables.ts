import fs from 'node:fs'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import type { CitablePassage } from '../src/chat/chat/citations/citation-rewriter.ts'
import { readJsonLines } from '../test/harness/shared-data.ts'
import { passage, pick } from './statement.ts'

/** A table of Wikipedia, as a model would cite it. */
export interface WikiTable {
  title: string
  /** Its place in the list. */
  index: number
  /** A column with a number in each row. */
  column: number
  columnName: string
  rows: string[][]
  /** Rows whose first cell is a name that no other row has. */
  named: string[][]
  cited: CitablePassage[]
}

const rowsOfPassage = 25

/** The tables that have a column of numbers. */
export function readWikiTables(folder: string): WikiTable[] {
  const place = path.join(folder, 'tables', 'wikitables')
  if (!fs.existsSync(place)) return []
  const listed = readJsonLines<{ file: string; title: string }>(path.join(place, 'tables.jsonl'))
  return listed.flatMap(({ file, title }, index) => {
    const read = parse(fs.readFileSync(path.join(place, file), 'utf8'), { relaxColumnCount: true }) as string[][]
    const [header, ...all] = read.map((cells) => cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()))
    if (header === undefined) return []
    const rows = all.slice(0, rowsOfPassage)
    const columns = header.flatMap((name, at) =>
      at > 0 && name !== '' && rows.every((row) => /^\d[\d,.]{0,10}$/.test(row[at] ?? '')) ? [at] : [],
    )
    const column = pick(columns, index)
    if (column === undefined) return []
    const named = rows.filter(
      (row) => /^\p{L}[\p{L} '-]{3,40}$/u.test(row[0]!) && rows.filter(([key]) => key!.includes(row[0]!)).length === 1,
    )
    const cited = [passage(title, [header, ...rows].map((cells) => cells.join(' | ')).join('\n'))]
    return [{ title, index, column, columnName: header[column]!, rows, named, cited }]
  })
}
