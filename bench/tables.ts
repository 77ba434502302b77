/**
 * Search in tables: whether the passages of a question hold the row and the column that answer it.
 *
 * Sets: Wikipedia tables with their questions (few columns), a table of countries with 56 columns, and generated tables of 30 to 60
 * columns. Prints for each kind of question the share of the answer's cells that the best passages show, for wide tables only in a
 * line with the name of the row and under the name of the column.
 *
 *   npm run bench:tables [-- --data FOLDER] [--passages 8]
 *
 * FOLDER holds the shared data folders `tables` and `docs`.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'csv-parse/sync'
import { createFileExtractor } from '../src/documents/ingestion/extractors/extract-file.ts'
import { createSpaceId, type SpaceId } from '../src/platform/kernel/index.ts'
import { createHashingEmbedder, createRetrieval, type Passage } from '../src/documents/retrieval/index.ts'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import { chunksOf, createBenchIndex, pipelineChunkSize } from './retrieval/bench-index.ts'
import { generateTables, type TableFile } from './retrieval/wide-tables.ts'

const { values: options } = parseArgs({
  options: { data: { type: 'string' }, passages: { type: 'string', default: '8' } },
})
const folder = (name: string) => (options.data === undefined ? sharedDataFolder(name) : path.join(options.data, name))
const limit = Number(options.passages)
const embedder = createHashingEmbedder()
await using bench = await createBenchIndex(embedder)
const retrieval = createRetrieval({ index: bench.index, embedder })

const tables = folder('tables')
if (tables !== undefined) await measureWikitables(path.join(tables, 'wikitables'))
const countries = folder('docs') && path.join(folder('docs')!, 'csv', 'country-codes.csv')
if (countries !== undefined) await measureWide(countryTable(fs.readFileSync(countries, 'utf8')))
for (const table of generateTables()) await measureWide(table)
await embedder.close()

/** Questions about cells: the answer is looked for in the passages of the question's table. */
async function measureWikitables(place: string): Promise<void> {
  const lines = fs.readFileSync(path.join(place, 'questions.jsonl'), 'utf8').trim().split('\n')
  const questions = lines.map(
    (line) => JSON.parse(line) as { table_file: string; question: string; answers: string[]; kind: string },
  )
  const spaceId = createSpaceId()
  const documents = new Map<string, string>()
  let chunkCount = 0
  for (const { file, title } of readTitles(place)) {
    const chunks = await chunksOfCsv(path.join(place, file))
    chunkCount += chunks.length
    documents.set(file, await bench.addDocument(spaceId, `${title}.csv`, chunks))
  }
  const found = new Map<string, number[]>()
  for (const { table_file, question, answers, kind } of questions) {
    if (kind !== 'lookup' && kind !== 'filter' && kind !== 'max/min') continue
    const passages = await search(spaceId, question)
    const shown = passages
      .filter(({ documentId }) => documentId === documents.get(table_file))
      .map(({ text, tableHeader }) => `${tableHeader ?? ''}\n${text}`.toLowerCase())
    const score = answers.filter((answer) => shown.some((text) => text.includes(answer.toLowerCase()))).length
    found.set(kind, [...(found.get(kind) ?? []), score / answers.length])
  }
  report('Wikipedia tables', chunkCount, found)
}

function readTitles(place: string) {
  const lines = fs.readFileSync(path.join(place, 'tables.jsonl'), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as { file: string; title: string })
}

async function measureWide(table: TableFile): Promise<void> {
  const spaceId = createSpaceId()
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-tables-'))
  const file = path.join(scratch, table.name)
  fs.writeFileSync(file, table.text)
  const chunks = await chunksOfCsv(file)
  fs.rmSync(scratch, { recursive: true })
  await bench.addDocument(spaceId, table.name, chunks)
  const found = new Map<string, number[]>()
  for (const { kind, question, answers } of table.questions) {
    const passages = await search(spaceId, question)
    const score = answers.filter((answer) => passages.some((passage) => shows(passage, answer))).length
    found.set(kind, [...(found.get(kind) ?? []), score / answers.length])
  }
  report(table.name, chunks.length, found)
}

/** True where a line of the passage holds the row's name and the value, and its header the column. */
function shows({ text, tableHeader }: Passage, answer: { row: string; column: string; value: string }): boolean {
  const [first = '', ...rest] = text.split('\n')
  const header = (tableHeader ?? first).split(' | ')
  const lines = tableHeader === null ? rest : [first, ...rest]
  const at = header.indexOf(answer.column)
  return at >= 0 && lines.some((line) => line.includes(answer.row) && line.split(' | ')[at] === answer.value)
}

async function chunksOfCsv(filePath: string) {
  const limits = { maximumPages: 1, maximumCharacters: 1e8, maximumBlocks: 1e6, maximumUnpackedBytes: 1e8 }
  const input = { filePath, sizeBytes: fs.statSync(filePath).size, limits, report: { progress() {}, warn() {} } }
  return chunksOf(createFileExtractor().extract('csv', input), embedder, pipelineChunkSize)
}

function search(spaceId: SpaceId, query: string): Promise<Passage[]> {
  const signal = AbortSignal.timeout(60_000)
  return retrieval.search({ organisationId: bench.organisationId, spaceId, filter: null, query, limit, signal })
}

function report(name: string, chunks: number, found: ReadonlyMap<string, number[]>): void {
  console.log(`\n${name}: ${chunks} chunks`)
  for (const [kind, scores] of found) {
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
    console.log(`  ${kind.padEnd(28)} ${String(scores.length).padStart(4)} questions ${mean.toFixed(3).padStart(8)}`)
  }
}

/** Real questions over a table of countries; rows are asked for by their English names. */
function countryTable(text: string): TableFile {
  const rows = parse(text, { columns: true, bom: true }) as Record<string, string>[]
  const name = 'CLDR display name'
  const columns = ['ISO4217-currency_name', 'Capital', 'Sub-region Name', 'TLD', 'Dial', 'Languages']
  const cell = (row: Record<string, string>, column: string) => ({
    row: row[name]!,
    column,
    value: row[column]!.replace(/\s+/g, ' ').trim(),
  })
  const having = (column: string, value: string) =>
    rows.filter((row) => row[column] === value).map((row) => cell(row, column))
  const questions: TableFile['questions'] = [
    ['Which countries use the euro as their currency name?', 'ISO4217-currency_name', 'Euro'],
    ['which countries use the euro', 'ISO4217-currency_name', 'Euro'],
    ['List the countries whose currency is the US Dollar', 'ISO4217-currency_name', 'US Dollar'],
    ['Which countries use the East Caribbean Dollar?', 'ISO4217-currency_name', 'East Caribbean Dollar'],
    ['Which countries are in Western Africa (intermediate region name)?', 'Intermediate Region Name', 'Western Africa'],
    ['Which countries are in the Caribbean?', 'Intermediate Region Name', 'Caribbean'],
    ['Which countries use the CFA Franc BCEAO?', 'ISO4217-currency_name', 'CFA Franc BCEAO'],
    ['What countries belong to Southern Europe (sub-region name)?', 'Sub-region Name', 'Southern Europe'],
    ['Which countries belong to Melanesia?', 'Sub-region Name', 'Melanesia'],
  ].map(([question, column, value]) => ({
    kind: 'over a column',
    question: question!,
    answers: having(column!, value!),
  }))
  const filled = rows.filter((row) => [name, ...columns].every((column) => row[column]))
  for (const [index, row] of filled.entries()) {
    if (index % 3 !== 0) continue
    const column = columns[(index / 3) % columns.length]!
    const other = columns[(index / 3 + 1) % columns.length]!
    questions.push({
      kind: 'one cell of a row',
      question: `What is the ${column} of ${row[name]}?`,
      answers: [cell(row, column)],
    })
    questions.push({
      kind: 'two cells of a row',
      question: `${column} and ${other} of ${row[name]}`,
      answers: [cell(row, column), cell(row, other)],
    })
  }
  return { name: 'country-codes.csv', text, questions }
}
