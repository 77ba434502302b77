import fs from 'node:fs'
import path from 'node:path'
import { parse } from 'csv-parse/sync'

/** A question over one cell. `column` has two names where a name spans several columns. */
export interface CellQuestion {
  question: string
  row: string
  column: string[]
  value: string
}

/** A table to print, in one layout. */
export interface TableCase {
  title: string
  layout: Layout
  /** Which print of the same table; prints are searched apart from each other. */
  print: number
  /** Rows of the header, then `headerRows` less than all rows of the body. Header cells can span columns. */
  header: { text: string; span: number }[][]
  rows: string[][]
  questions: CellQuestion[]
}

export const layouts = [
  'ruled',
  'ruled, open sides',
  'lines between columns',
  'rules below rows',
  'rule below header',
  'striped',
  'no lines, bold header',
  'no lines, plain header',
  'no lines, wrapped cells',
  'ruled, wrapped cells',
  'two-column page',
  'several pages, ruled',
  'several pages, no lines',
  'merged heads, ruled',
  'merged heads, no lines',
] as const
export type Layout = (typeof layouts)[number]

/** Layouts that every flat table can be printed in. */
const flatLayouts = layouts.filter((layout) => !layout.startsWith('merged') && !layout.startsWith('several'))
const questionsPerTable = 4
const maximumColumns = 8
const maximumRows = 60

/** Wikipedia tables in turns over the flat layouts, each table in two of them. */
export function wikipediaCases(folder: string): TableCase[] {
  const lines = fs.readFileSync(path.join(folder, 'tables.jsonl'), 'utf8').trim().split('\n')
  const cases: TableCase[] = []
  let turn = 0
  for (const line of lines) {
    const { file, title } = JSON.parse(line) as { file: string; title: string }
    const [header, ...rows] = parse(fs.readFileSync(path.join(folder, file)), {
      relax_quotes: true,
      relax_column_count: true,
    }) as string[][]
    const cells = rows.map((row) => row.map(plainCell))
    const names = header!.map(plainCell)
    if (!isUsable(names, cells)) continue
    for (const print of [0, 1]) {
      const layout = flatLayouts[(turn + print * 4) % flatLayouts.length]!
      // A column of a page is too narrow for more.
      const columns = layout === 'two-column page' ? 4 : names.length
      const narrow = cells.map((row) => row.slice(0, columns))
      cases.push({ ...flatCase(title, layout, names.slice(0, columns), narrow), print })
    }
    turn += 1
  }
  return cases
}

function plainCell(text: string): string {
  return text
    .replace(/\\n|\s+/g, ' ')
    .replace(/[|\\]/g, '/')
    .trim()
}

/** Tables that fit on a portrait page and whose first column names each row. */
function isUsable(header: string[], rows: string[][]): boolean {
  if (header.length > maximumColumns || rows.length > maximumRows || header.length < 2) return false
  if (header.some((name) => name === '') || new Set(header).size < header.length) return false
  if (rows.some((row) => row.length !== header.length)) return false
  const keys = rows.map((row) => row[0]!)
  return keys.every((key) => key !== '') && new Set(keys).size === keys.length
}

function flatCase(title: string, layout: Layout, header: string[], rows: string[][]): TableCase {
  const cells = rows.flatMap((row) => header.slice(1).map((name, column) => ({ row, name, value: row[column + 1]! })))
  const filled = cells.filter(({ value }) => /[\p{L}\p{N}]/u.test(value))
  const step = Math.max(1, Math.floor(filled.length / questionsPerTable))
  const questions = filled
    .filter((_, index) => index % step === 0)
    .slice(0, questionsPerTable)
    .map(({ row, name, value }) => ({
      question: `${title}: what is the ${name} of ${header[0]} ${row[0]}?`,
      row: row[0]!,
      column: [name],
      value,
    }))
  return { title, layout, print: 0, header: [header.map((text) => ({ text, span: 1 }))], rows, questions }
}

const towns = ['Aldersey', 'Brackwell', 'Corvane', 'Dunmoor', 'Eastholt', 'Farrow', 'Glenhart', 'Hollins', 'Ivetsey']
const goods = ['Wool', 'Timber', 'Slate', 'Copper', 'Barley', 'Salt', 'Linen', 'Honey']
const years = ['2021', '2022', '2023']
const measures = ['Sales', 'Costs', 'Margin']

/** Tables over several pages, and tables whose header has names over several columns; the same in each run. */
export function generatedCases(): TableCase[] {
  return [1, 2, 3, 4].flatMap((seed) => [
    longCase('several pages, ruled', seed),
    longCase('several pages, no lines', seed),
    mergedCase('merged heads, ruled', seed),
    mergedCase('merged heads, no lines', seed),
  ])
}

function longCase(layout: Layout, seed: number): TableCase {
  const header = ['Parcel', 'Owner', 'Area (ha)', 'Tax (EUR)', 'Registered']
  const rows = Array.from({ length: 130 }, (_, index) => {
    const mixed = (index + 1) * 7919 * seed
    return [
      `${towns[mixed % towns.length]} ${index + 11}`,
      `${goods[mixed % goods.length]} & ${towns[(mixed >> 3) % towns.length]} Ltd`,
      ((mixed % 4000) / 100).toFixed(2),
      ((mixed % 90_000) / 10).toFixed(2),
      `20${10 + (mixed % 14)}-0${1 + (mixed % 9)}-1${mixed % 10}`,
    ]
  })
  const flat = flatCase(`Land register ${layout} ${seed}`, layout, header, rows)
  const questions = rows
    .filter((_, index) => index % 11 === 3)
    .map((row, index) => {
      const column = 1 + (index % 4)
      const question = `${flat.title}: what is the ${header[column]} of parcel ${row[0]}?`
      return { question, row: row[0]!, column: [header[column]!], value: row[column]! }
    })
  return { ...flat, questions }
}

function mergedCase(layout: Layout, seed: number): TableCase {
  const header = [
    [{ text: 'Product', span: 1 }, ...years.map((text) => ({ text, span: measures.length }))],
    [{ text: '', span: 1 }, ...years.flatMap(() => measures.map((text) => ({ text, span: 1 })))],
  ]
  const rows = goods.map((name, index) => [
    name,
    ...Array.from({ length: years.length * measures.length }, (_, column) =>
      String(((index + 2) * 3571 * seed + (column + 1) * 811) % 9973),
    ),
  ])
  const title = `Trade of ${towns[seed]} ${layout}`
  const questions = rows.map((row, index) => {
    const at = (index * 4 + seed) % (years.length * measures.length)
    const column = [years[Math.floor(at / measures.length)]!, measures[at % measures.length]!]
    return {
      question: `${title}: ${column[1]} of ${row[0]} in ${column[0]}?`,
      row: row[0]!,
      column,
      value: row[at + 1]!,
    }
  })
  return { title, layout, print: 0, header, rows, questions }
}
