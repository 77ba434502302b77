/**
 * What finding tables in pdfs brings to search and answers: the same files, chunks of the same size and the same search, once with
 * tables found and once with their rows read as lines of text.
 *
 * Files: Wikipedia tables and generated tables, printed by Chromium in 15 layouts; the shared pdf documents that have tables; and prose
 * in one and two columns, in which every table found is false.
 *
 *   npm run bench:pdf-tables [-- --data FOLDER] [--pdfs FOLDER]
 *
 * Needs Chromium at /usr/bin/chromium. Without the shared data only the generated tables are measured.
 *
 * --data    holds the shared data folders `tables`, `docs` and `retrieval`
 * --pdfs    keeps the printed files there, and reads them from there in the next run
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createFileExtractor } from '../src/documents/ingestion/extractors/extract-file.ts'
import type { ExtractedBlock } from '../src/documents/ingestion/index.ts'
import { createSpaceId, type SpaceId } from '../src/platform/kernel/index.ts'
import { createHashingEmbedder, createRetrieval } from '../src/documents/retrieval/index.ts'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import { generatedCases, type CellQuestion, wikipediaCases } from './pdf-tables/cases.ts'
import { pagesWithoutTables } from './pdf-tables/no-tables.ts'
import { openPrinter, pageHtml, proseHtml, tableHtml } from './pdf-tables/print.ts'
import { type CellScore, scoreCell } from './pdf-tables/score.ts'
import { sharedProse, sharedQuestions } from './pdf-tables/shared-files.ts'
import { chunksOf, createBenchIndex, pipelineChunkSize } from './retrieval/bench-index.ts'

const { values: options } = parseArgs({
  options: { data: { type: 'string' }, pdfs: { type: 'string' } },
})
const folder = (name: string) => (options.data === undefined ? sharedDataFolder(name) : path.join(options.data, name))
const printed = options.pdfs ?? fs.mkdtempSync(path.join(os.tmpdir(), 'portico-pdf-tables-'))
const passagesPerQuestion = 5

/** A file with what is asked of it. */
interface BenchFile {
  set: string
  file: string
  questions: CellQuestion[]
  /** Files of one print are in one Space. */
  print?: number
  /** Passages of prose that answer a question. */
  spans?: { question: string; answers: string[] }[]
  isProse?: boolean
}

const modes = { on: createFileExtractor(), off: createFileExtractor({ findsTables: false }) }
type Mode = keyof typeof modes
const embedder = createHashingEmbedder()
await using bench = await createBenchIndex(embedder)
const retrieval = createRetrieval({ index: bench.index, embedder })

const files = [...(await printFiles()), ...sharedFiles()]
for (const mode of ['off', 'on'] as const) await measure(mode)
await measureTime()
await embedder.close()
if (options.pdfs === undefined) fs.rmSync(printed, { recursive: true })

async function printFiles(): Promise<BenchFile[]> {
  fs.mkdirSync(printed, { recursive: true })
  await using printer = await openPrinter()
  const files: BenchFile[] = []
  const print = async (name: string, html: string) => {
    const file = path.join(printed, `${name}.pdf`)
    if (!fs.existsSync(file)) await printer.print(html, file)
    return file
  }
  const prose = readProse()
  const tables = folder('tables')
  const cases = [...(tables ? wikipediaCases(path.join(tables, 'wikitables')) : []), ...generatedCases()]
  for (const [index, table] of cases.entries()) {
    const around = [0, 1].map((offset) => prose?.others[(index * 2 + offset) % prose.others.length] ?? '')
    const file = await print(`table-${index}`, tableHtml(table, around))
    files.push({ set: table.layout, file, questions: table.questions, print: table.print })
  }
  if (!prose) return files
  for (const columns of [1, 2] as const) {
    const file = await print(`prose-${columns}`, proseHtml('State of the union', prose.text.split(/\n\s*\n/), columns))
    files.push({ set: `prose, ${columns} column`, file, questions: [], spans: prose.spans, print: 2, isProse: true })
  }
  for (const [name, body] of Object.entries(pagesWithoutTables(prose.others))) {
    const file = await print(`no table, ${name}`, pageHtml(name, body))
    files.push({ set: 'pages that look like tables', file, questions: [], print: 2, isProse: true })
  }
  return files
}

function readProse() {
  const place = folder('retrieval') && path.join(folder('retrieval')!, 'excerpts')
  if (place === undefined) return null
  const lines = <Line>(name: string) =>
    fs
      .readFileSync(path.join(place, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
  const [first, other] = lines<{ id: string; text: string }>('corpus.jsonl')
  const { id, text } = first!
  const spans = lines<{ query_id: string; doc_id: string; text: string }>('spans.jsonl')
  return {
    text,
    /** Paragraphs of another text, for pages with tables. */
    others: other!.text.split(/\n+/).filter((paragraph) => paragraph.length > 150 && paragraph.length < 900),
    spans: lines<{ id: string; text: string; corpus: string }>('queries.jsonl')
      .filter(({ corpus }) => corpus === id)
      .map((query) => ({
        question: query.text,
        answers: spans.filter(({ query_id }) => query_id === query.id).map((span) => span.text),
      })),
  }
}

function sharedFiles(): BenchFile[] {
  const docs = folder('docs')
  if (docs === undefined) return []
  const place = (name: string) => path.join(docs, 'pdf', name)
  return [
    ...Object.entries(sharedQuestions).map(([name, questions]) => ({
      set: 'shared files',
      file: place(name),
      questions,
    })),
    ...sharedProse.map((name) => ({
      set: 'shared files of prose',
      file: place(name),
      questions: [],
      print: 2,
      isProse: true,
    })),
  ]
}

async function measure(mode: Mode): Promise<void> {
  const spaces = [createSpaceId(), createSpaceId(), createSpaceId()]
  const spaceOf = ({ print = 0 }: BenchFile) => spaces[print]!
  const documents = new Map<BenchFile, string>()
  const falseTables = new Map<string, number>()
  let chunkCount = 0
  for (const item of files) {
    const blocks = await read(mode, item.file)
    if (item.isProse) falseTables.set(item.set, (falseTables.get(item.set) ?? 0) + blocks.filter(isTableStart).length)
    const chunks = await chunksOf(batchOf(blocks), embedder, pipelineChunkSize)
    chunkCount += chunks.length
    documents.set(item, await bench.addDocument(spaceOf(item), path.basename(item.file), chunks))
  }
  const scores = new Map<string, CellScore[]>()
  const prose: Record<string, string | number>[] = []
  for (const item of files) {
    for (const question of item.questions) {
      const passages = await search(spaceOf(item), question.question)
      scores.set(item.set, [...(scores.get(item.set) ?? []), scoreCell(passages, documents.get(item)!, question)])
    }
    if (item.spans) prose.push(await proseScores(spaceOf(item), item, documents.get(item)!))
  }
  console.log(`\ntables ${mode === 'on' ? 'found' : 'read as lines'}: ${files.length} files, ${chunkCount} chunks`)
  console.table([...scores, ['all', [...scores.values()].flat()] as const].map(([set, of]) => tableRow(set, of)))
  console.table(prose)
  console.log('tables found in prose:', Object.fromEntries(falseTables))
}

/** The first row of each table; a row without number is a header. */
function isTableStart({ kind }: ExtractedBlock, index: number, blocks: ExtractedBlock[]): boolean {
  return kind === 'table_row' && blocks[index - 1]?.kind !== 'table_row'
}

function tableRow(set: string, scores: CellScore[]) {
  const share = (test: (score: CellScore) => boolean) => (scores.filter(test).length / scores.length).toFixed(3)
  return {
    set,
    questions: scores.length,
    'rank 1': share(({ rank }) => rank === 1),
    [`rank 1-${passagesPerQuestion}`]: share(({ rank }) => rank !== null),
    together: share(({ together }) => together),
    attributed: share(({ attributed }) => attributed),
  }
}

async function proseScores(spaceId: SpaceId, { set, spans = [] }: BenchFile, documentId: string) {
  const letters = (text: string) => text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '')
  let first = 0
  let found = 0
  for (const { question, answers } of spans) {
    const passages = (await search(spaceId, question)).map((passage) =>
      passage.documentId === documentId ? letters(passage.text) : '',
    )
    const rank = passages.findIndex((text) => answers.some((answer) => text.includes(letters(answer))))
    if (rank === 0) first += 1
    if (rank >= 0) found += 1
  }
  const share = (count: number) => (count / spans.length).toFixed(3)
  return { set, questions: spans.length, 'rank 1': share(first), [`rank 1-${passagesPerQuestion}`]: share(found) }
}

/** Milliseconds for each page, the best of three runs over all files, in turns. */
async function measureTime(): Promise<void> {
  const best = { on: Infinity, off: Infinity }
  let pages = 0
  for (let round = 0; round < 3; round += 1) {
    for (const mode of ['on', 'off'] as const) {
      const start = performance.now()
      pages = 0
      for (const { file } of files) pages += Math.max(...(await read(mode, file)).map(({ page }) => page ?? 1))
      best[mode] = Math.min(best[mode], performance.now() - start)
    }
  }
  const perPage = (mode: Mode) => `${(best[mode] / pages).toFixed(2)} ms`
  console.log(`\n${pages} pages; time for each: ${perPage('off')} as lines, ${perPage('on')} with tables`)
}

async function read(mode: Mode, filePath: string): Promise<ExtractedBlock[]> {
  const limits = { maximumPages: 1_000, maximumCharacters: 1e8, maximumBlocks: 1e6, maximumUnpackedBytes: 1e8 }
  const input = { filePath, sizeBytes: fs.statSync(filePath).size, limits, report: { progress() {}, warn() {} } }
  const blocks: ExtractedBlock[] = []
  for await (const batch of modes[mode].extract('pdf', input)) blocks.push(...batch)
  return blocks
}

async function* batchOf(blocks: ExtractedBlock[]): AsyncGenerator<ExtractedBlock[]> {
  yield blocks
}

function search(spaceId: SpaceId, query: string) {
  const { organisationId } = bench
  const signal = AbortSignal.timeout(60_000)
  return retrieval.search({ organisationId, spaceId, filter: null, query, limit: passagesPerQuestion, signal })
}
