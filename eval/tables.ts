import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { readJsonLines } from '../test/harness/shared-data.ts'
import { chunksOf, createBenchIndex, pipelineChunkSize } from '../bench/retrieval/bench-index.ts'
import type { ShownPassage } from '../src/chat/chat/context/prompt.ts'
import { matchTables } from '../src/chat/chat/tools/table-tools.ts'
import { createFileExtractor } from '../src/documents/ingestion/extractors/extract-file.ts'
import { createTableQueries } from '../src/documents/ingestion/index.ts'
import { planColumns, type SqlColumn } from '../src/documents/ingestion/tables/columns.ts'
import { type ExtractedTable, readTables } from '../src/documents/ingestion/tables/read-tables.ts'
import { createTableDatabase } from '../src/documents/ingestion/tables/table-database.ts'
import { createSpaceId, silentLog } from '../src/platform/kernel/index.ts'
import { createDocumentReader, createHashingEmbedder, createRetrieval } from '../src/documents/retrieval/index.ts'
import type { Evaluation, Measure } from './measure.ts'
import { defaultRoom, packForPrompt } from './prompt-passages.ts'

/**
 * Tables of csv files: whether SQL sees every cell, whether its figures are right, and whether the first step of an agentic answer gives
 * the model the rows that hold the answer. The independent reading is csv-parse, with the first record as header.
 */
export const tables: Evaluation = { title: 'Tables', folder: 'tables', run }

/** The default of a Space. */
const passagesPerSearch = 30

interface Source {
  filePath: string
  file: string
  title: string
  header: string[]
  rows: string[][]
  extracted: ExtractedTable[]
}

async function run(folder: string): Promise<Measure[]> {
  const place = path.join(folder, 'wikitables')
  const listed = readJsonLines<{ file: string; title: string }>(path.join(place, 'tables.jsonl'))
  const sources = await Promise.all(listed.map((table) => readSource(place, table)))
  const queries = sources.flatMap(runScripted)
  const lookups = await measureLookups(place, sources)
  return [
    {
      name: `csv files with header, types and every cell, ${sources.length} files`,
      value: share(sources, isComplete),
      bound: { atLeast: 1 },
      baseline: null,
    },
    {
      name: `exact scripted queries, ${queries.length}`,
      value: share(queries, ({ isExact }) => isExact),
      bound: { atLeast: 1 },
      baseline: { name: 'cells cast by SQLite', value: share(queries, ({ isCastExact }) => isCastExact) },
    },
    {
      name: `rows of the answer are given, ${lookups.length} lookup questions`,
      value: share(lookups, ({ isGiven }) => isGiven),
      bound: { atLeast: 0.9 },
      baseline: { name: 'passages of the search', value: share(lookups, ({ isFound }) => isFound) },
    },
  ]
}

const share = <Item>(items: readonly Item[], test: (item: Item) => boolean) => items.filter(test).length / items.length

async function readSource(place: string, { file, title }: { file: string; title: string }): Promise<Source> {
  const filePath = path.join(place, file)
  const raw: string[][] = parse(fs.readFileSync(filePath), { bom: true, relax_column_count: true })
  const records = raw.map((record) => record.map(oneLine)).filter((record) => record.some((cell) => cell !== ''))
  const [header, ...rows] = records
  return { filePath, file, title, header: header!, rows, extracted: await readTables(extractBlocks(filePath)) }
}

function extractBlocks(filePath: string) {
  const limits = { maximumPages: 1, maximumCharacters: 1e8, maximumBlocks: 1e6, maximumUnpackedBytes: 1e8 }
  const input = { filePath, sizeBytes: fs.statSync(filePath).size, limits, report: { progress() {}, warn() {} } }
  return createFileExtractor().extract('csv', input)
}

/** Without characters that no one sees, and on one line, as text of documents is stored. */
const oneLine = (text: string) =>
  text
    .normalize('NFC')
    .replaceAll(/[\u00ad\ufeff\p{Bidi_Control}]/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** A number that can be written in one way only. */
const plainNumber = /^(?:0|-?[1-9]\d*|-?(?:0|[1-9]\d*)\.\d*[1-9])$/

function isComplete({ header, rows, extracted }: Source): boolean {
  const [table, ...others] = extracted
  if (!table || others.length > 0 || table.rows.length !== rows.length) return false
  const columns = columnsOf(table)
  return header.every((title, index) => {
    const at = columns.findIndex(({ source }) => source === index)
    if (at === -1 || (columns[at]!.header ?? '') !== title) return false
    const cells = rows.map((row) => row[index] ?? '')
    const isNumeric = cells.some((cell) => cell !== '') && cells.every((cell) => cell === '' || plainNumber.test(cell))
    if (isNumeric && columns[at]!.kind !== 'number') return false
    const column = textOf(columns, at)
    return cells.every((cell, at) => String(column.value(table.rows[at]!.cells, at + 1) ?? '') === cell)
  })
}

/** The column with the cells as the file has them. */
function textOf(columns: readonly SqlColumn[], at: number): SqlColumn {
  const next = columns[at + 1]
  return next?.source === null && next.kind === 'text' ? next : columns[at]!
}

function columnsOf({ header, rows }: ExtractedTable): SqlColumn[] {
  return planColumns(
    header,
    rows.map(({ cells }) => cells),
  )
}

interface Scripted {
  isExact: boolean
  /** The same query over the texts of the cells, which SQLite casts. */
  isCastExact: boolean
}

/** Per table: the count of rows. Per column: the count of its most frequent text; of numbers also sum and maximum. */
function runScripted({ rows, header, extracted }: Source): Scripted[] {
  const [table] = extracted
  const database = createTableDatabase([{ key: 'file', tables: extracted }])
  const columns = columnsOf(table!)
  const check = (expected: number, sql: string, castSql: string): Scripted => ({
    isExact: isNear(valueOf(database.query(sql).rows), expected),
    isCastExact: isNear(valueOf(database.query(castSql).rows), expected),
  })
  const done = [check(rows.length, 'select count(*) from t1', 'select count(*) from t1')]
  for (const index of header.keys()) {
    const at = columns.findIndex(({ source }) => source === index)
    const { name } = columns[at]!
    const text = textOf(columns, at).name
    const cells = rows.map((row) => row[index] ?? '').filter((cell) => cell !== '')
    const common = mostFrequent(cells)
    if (common !== undefined) {
      const filter = `select count(*) from t1 where "${text}" = '${common.text.replaceAll("'", "''")}'`
      done.push(check(common.count, filter, filter))
    }
    const numbers = readNumbers(cells)
    if (numbers === null) continue
    const sum = numbers.reduce((total, value) => total + value, 0)
    done.push(
      check(sum, `select sum("${name}") from t1`, `select sum(cast(trim("${text}") as real)) from t1`),
      check(Math.max(...numbers), `select max("${name}") from t1`, `select max(cast(trim("${text}") as real)) from t1`),
    )
  }
  database.close()
  return done
}

const valueOf = (rows: readonly unknown[][]) => rows[0]?.[0]
const isNear = (value: unknown, expected: number) =>
  typeof value === 'number' && Math.abs(value - expected) <= 1e-9 * Math.max(1, Math.abs(expected))

function mostFrequent(cells: readonly string[]): { text: string; count: number } | undefined {
  const counts = new Map<string, number>()
  for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1)
  const [best] = [...counts].toSorted((left, right) => right[1] - left[1])
  return best && { text: best[0], count: best[1] }
}

/** The numbers of a column of which every cell is one: digits with commas, a sign, a currency, a percent sign. Null for others. */
function readNumbers(cells: readonly string[]): number[] | null {
  const number = /^[-+–−]?[$€£]?\d{1,3}(?:,\d{3})*(?:\.\d+)?%?$|^[-+–−]?[$€£]?\d+(?:\.\d+)?%?$/
  if (cells.length === 0 || !cells.every((cell) => number.test(cell))) return null
  return cells.map((cell) => Number(cell.replaceAll(/[,$€£%+]/g, '').replace(/^[–−]/, '-')))
}

interface Lookup {
  isGiven: boolean
  isFound: boolean
}

/** Questions whose answer is the text of a cell. Each row that has this cell must be among what the model is given. */
async function measureLookups(place: string, sources: readonly Source[]): Promise<Lookup[]> {
  const embedder = createHashingEmbedder()
  await using bench = await createBenchIndex(embedder)
  const retrieval = createRetrieval({ index: bench.index, embedder })
  const spaceId = createSpaceId()
  const ids = new Map<string, string>()
  for (const { file, title, filePath } of sources) {
    const chunks = await chunksOf(extractBlocks(filePath), embedder, pipelineChunkSize)
    const id = await bench.addDocument(spaceId, `${title}.csv`, chunks)
    await bench.corpus.execute(`update documents set format = 'csv', blob_key = $2, size_bytes = $3 where id = $1`, [
      id,
      file,
      fs.statSync(filePath).size,
    ])
    ids.set(file, id)
  }
  const blobs = {
    localFolders: [place, os.tmpdir()],
    withFile: <T>(key: string, _signal: AbortSignal, use: (filePath: string) => Promise<T>) =>
      use(path.join(place, key)),
  }
  const queries = createTableQueries({ blobs, log: silentLog })
  const dependencies = { documents: createDocumentReader(bench.corpus), tables: queries }
  const { organisationId } = bench
  const asked: Lookup[] = []
  for (const question of readJsonLines<Question>(path.join(place, 'questions.jsonl'))) {
    if (question.kind !== 'lookup') continue
    const source = sources.find(({ file }) => file === question.table_file)!
    const wanted = rowsOfAnswer(source, question.answers)
    if (wanted.length === 0) continue
    const signal = AbortSignal.timeout(60_000)
    const scope = { organisationId, spaceId, filter: null }
    const search = { ...scope, query: question.question, limit: passagesPerSearch, signal }
    const place = { found: await retrieval.search(search), room: defaultRoom }
    const found = await packForPrompt(dependencies.documents, scope, place, signal)
    const matched = await matchTables({ dependencies, scope, signal }, found, question.question)
    const own = (passages: readonly ShownPassage[]) =>
      passages.filter(({ documentId }) => documentId === ids.get(question.table_file))
    asked.push({
      isFound: wanted.every((row) => own(found).some((passage) => showsRow(passage, row))),
      isGiven: wanted.every((row) => own([...found, ...matched]).some((passage) => showsRow(passage, row))),
    })
  }
  await queries.close()
  await embedder.close()
  return asked
}

interface Question {
  table_file: string
  question: string
  answers: string[]
  kind: string
}

/** The rows with a cell that is one of the answers; where there is none, those with a cell that contains one. */
function rowsOfAnswer({ rows }: Source, answers: readonly string[]): string[][] {
  const folded = answers.map((answer) => oneLine(answer).toLowerCase())
  const exact = rows.filter((row) => row.some((cell) => folded.includes(cell.toLowerCase())))
  if (exact.length > 0) return exact
  return rows.filter((row) => row.some((cell) => folded.some((answer) => cell.toLowerCase().includes(answer))))
}

/** True where a line of the passage has every cell of the row in its order. */
function showsRow({ text }: ShownPassage, row: readonly string[]): boolean {
  return text.split('\n').some((line) => {
    let from = 0
    for (const cell of row) {
      const at = line.indexOf(cell, from)
      if (at < 0) return false
      from = at + cell.length
    }
    return true
  })
}
