/**
 * Quality of search on sets of questions with known answers: words, vectors and both, beside a plain BM25 in the same process.
 *
 *   npm run bench:retrieval [-- --data FOLDER] [--embedder hashing|FOLDER_OF_AN_ONNX_MODEL] [--target TOKENS] [--sweep]
 *
 * FOLDER holds an index.json as in the shared data folder `retrieval`. `--sweep` prints the fused figures for every weight.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createFileExtractor } from '../src/ingestion/extractors/extract-file.ts'
import { createSpaceId, type SpaceId } from '../src/kernel/index.ts'
import {
  createHashingEmbedder,
  createOnnxEmbedder,
  createRetrieval,
  type Embedder,
  type Passage,
} from '../src/retrieval/index.ts'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import {
  type BenchIndex,
  type ChunkSize,
  chunksOf,
  createBenchIndex,
  paragraphsOf,
  pipelineChunkSize,
} from './retrieval/bench-index.ts'
import { type EvaluationSet, loadEvaluationSets } from './retrieval/evaluation-sets.ts'
import { findRange, lettersOf } from './retrieval/letters.ts'
import { mean, type Range, scoreExcerpts, scoreRanking } from './retrieval/metrics.ts'
import { createPlainBm25, windowsOf } from './retrieval/plain-bm25.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    embedder: { type: 'string', default: 'hashing' },
    target: { type: 'string' },
    sweep: { type: 'boolean', default: false },
    'database-url': { type: 'string' },
  },
})

/** Passages fetched for a ranking of ten documents: several may be of one document. */
const passagesPerRanking = 40
const passagesPerExcerpt = 5

type Modes = { name: string; vectorWeight?: number }[]
const modes: Modes = [
  { name: 'words', vectorWeight: 0 },
  { name: 'vectors', vectorWeight: 1 },
  { name: 'fused' },
  ...(options.sweep
    ? [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((vectorWeight) => ({
        name: `fused at ${vectorWeight}`,
        vectorWeight,
      }))
    : []),
]

const folder = options.data ?? sharedDataFolder('retrieval')
if (folder === undefined) {
  console.error('No data: give --data FOLDER with an index.json (see the head of bench/retrieval.ts).')
  process.exit(1)
}
const embedder =
  options.embedder === 'hashing' ? createHashingEmbedder() : await createOnnxEmbedder({ modelFolder: options.embedder })
const size: ChunkSize = options.target
  ? {
      ...pipelineChunkSize,
      targetTokens: Number(options.target),
      maximumTokens: Math.max(Number(options.target), pipelineChunkSize.maximumTokens),
    }
  : pipelineChunkSize
console.log(`embedder: ${embedder.label}; chunks of about ${size.targetTokens} tokens`)
await using bench = await createBenchIndex(embedder, options['database-url'])
console.log(`search: ${bench.index.engine}`)
for (const set of loadEvaluationSets(folder)) {
  if (set.spans.length > 0) await measureExcerpts(bench, embedder, set)
  else await measureDocuments(bench, embedder, set)
}
await embedder.close()

/** Sets that judge whole documents: a document ranks where its best passage does. */
async function measureDocuments(bench: BenchIndex, embedder: Embedder, set: EvaluationSet): Promise<void> {
  const spaceId = createSpaceId()
  const ids = new Map<string, string>()
  let chunkCount = 0
  for (const { id, title, text } of set.corpus) {
    const chunks = await chunksOf(paragraphsOf(text), embedder, size)
    chunkCount += chunks.length
    ids.set(await bench.addDocument(spaceId, title || id, chunks), id)
  }
  const queries = set.queries.filter((query) => set.relevant.has(query.id))
  const plain = createPlainBm25(set.corpus.map(({ id, title, text }) => ({ id, text: `${title}\n${text}` })))
  const rows: Record<string, object> = {
    'plain BM25 (stated)': pick(set.statedBaseline, ['ndcg@10', 'recall@5', 'recall@10', 'mrr@10']),
    'plain BM25 (here)': mean(
      queries.map((query) => scoreRanking(plain.rank(query.text, 10), set.relevant.get(query.id)!)),
    ),
  }
  for (const { name, ...weight } of modes) {
    const scores = []
    for (const query of queries) {
      const passages = await search(bench, embedder, {
        spaceId,
        query: query.text,
        limit: passagesPerRanking,
        ...weight,
      })
      const ranked = [...new Set(passages.map((passage) => ids.get(passage.documentId)!))]
      scores.push(scoreRanking(ranked, set.relevant.get(query.id)!))
    }
    rows[name] = mean(scores)
  }
  print(`${set.name}: ${set.corpus.length} documents, ${chunkCount} chunks, ${queries.length} questions`, rows)
}

/** Sets with exact passages: how much of them the best five passages hold, and how much else. */
async function measureExcerpts(bench: BenchIndex, embedder: Embedder, set: EvaluationSet): Promise<void> {
  const spaceId = createSpaceId()
  const files =
    set.files.length > 0
      ? set.files.map((file) => ({ id: file.id, text: fs.readFileSync(file.path, 'utf8'), path: file.path }))
      : set.corpus.map((one) => ({ ...one, path: undefined }))
  const letters = new Map(files.map((file) => [file.id, lettersOf(file.text)]))
  const ids = new Map<string, string>()
  let chunkCount = 0
  for (const file of files) {
    const blocks = file.path === undefined ? paragraphsOf(file.text) : readFile(file.path)
    const chunks = await chunksOf(blocks, embedder, size)
    chunkCount += chunks.length
    ids.set(
      await bench.addDocument(spaceId, file.path === undefined ? file.id : path.basename(file.path), chunks),
      file.id,
    )
  }
  const answers = answersOf(set, letters)
  const windows = files.flatMap((file) =>
    windowsOf(file.text).map((window, number) => ({ id: `${file.id} ${number}`, file: file.id, text: window.text })),
  )
  const plain = createPlainBm25(windows)
  const windowById = new Map(windows.map((window) => [window.id, window]))
  const queries = set.queries.filter((query) => answers.has(query.id))
  const rows: Record<string, object> = {
    'plain BM25 (stated)': pick(set.statedBaseline, [
      'excerpt_character_recall@5',
      'excerpt precision@5',
      'any_overlap@5',
    ]),
    'plain BM25 (here)': mean(
      queries.map((query) => {
        const found = plain.rank(query.text, passagesPerExcerpt).map((id) => windowById.get(id)!)
        return scoreFound(
          found.map((window) => [window.file, window.text]),
          answers.get(query.id)!,
          letters,
        )
      }),
    ),
  }
  for (const { name, ...weight } of modes) {
    const scores = []
    for (const query of queries) {
      const passages = await search(bench, embedder, {
        spaceId,
        query: query.text,
        limit: passagesPerExcerpt,
        ...weight,
      })
      scores.push(
        scoreFound(
          passages.map((passage) => [ids.get(passage.documentId)!, passage.text]),
          answers.get(query.id)!,
          letters,
        ),
      )
    }
    rows[name] = mean(scores)
  }
  print(`${set.name}: ${files.length} files, ${chunkCount} chunks, ${queries.length} questions`, rows)
}

/** Ranges of the letters of all files laid one behind the other, so that answers may lie in several. */
function answersOf(set: EvaluationSet, letters: Map<string, string>): Map<string, Range[]> {
  const answers = new Map<string, Range[]>()
  for (const { queryId, documentId, text } of set.spans) {
    const range = placeOf(documentId, text, letters)
    if (range) answers.set(queryId, [...(answers.get(queryId) ?? []), range])
  }
  return answers
}

function scoreFound(found: (readonly [file: string, text: string])[], answers: Range[], letters: Map<string, string>) {
  return scoreExcerpts(
    found.map(([file, text]) => placeOf(file, text, letters)).filter((range) => range !== null),
    answers,
  )
}

function placeOf(file: string, text: string, letters: Map<string, string>): Range | null {
  let offset = 0
  for (const [id, content] of letters) {
    if (id === file) {
      const range = findRange(content, text)
      return range && [range[0] + offset, range[1] + offset]
    }
    offset += content.length
  }
  return null
}

async function* readFile(filePath: string) {
  const limits = { maximumPages: 1, maximumCharacters: 1e8, maximumBlocks: 1e6, maximumUnpackedBytes: 1e8 }
  const report = { progress() {}, warn() {} }
  yield* createFileExtractor().extract('md', { filePath, sizeBytes: fs.statSync(filePath).size, limits, report })
}

function search(
  bench: BenchIndex,
  embedder: Embedder,
  request: { spaceId: SpaceId; query: string; limit: number; vectorWeight?: number },
): Promise<Passage[]> {
  const { vectorWeight, ...rest } = request
  const weight = vectorWeight === undefined ? {} : { vectorWeight }
  const retrieval = createRetrieval({ index: bench.index, embedder, ...weight })
  return retrieval.search({ organisationId: bench.organisationId, ...rest, signal: AbortSignal.timeout(60_000) })
}

function pick(stated: Record<string, unknown>, names: string[]): object {
  return Object.fromEntries(names.map((name) => [name, stated[name]]).filter(([, value]) => typeof value === 'number'))
}

function print(title: string, rows: Record<string, object>): void {
  const columns = Object.keys(Object.values(rows)[1]!)
  console.log(`\n${title}\n${''.padEnd(22)}${columns.map((column) => column.padStart(22)).join('')}`)
  for (const [name, scores] of Object.entries(rows)) {
    const figures =
      Object.values(scores).length === columns.length ? Object.values(scores) : alignStated(scores, columns)
    console.log(
      name.padEnd(22) +
        figures.map((figure) => (typeof figure === 'number' ? figure.toFixed(4) : '–').padStart(22)).join(''),
    )
  }
}

/** The stated figures have names of their own: matched by their letters and digits. */
function alignStated(scores: object, columns: string[]): (number | undefined)[] {
  const plainName = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]|character/g, '')
  const byName = new Map(Object.entries(scores).map(([name, value]) => [plainName(name), value as number]))
  return columns.map((column) => byName.get(plainName(column)))
}
