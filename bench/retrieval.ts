/**
 * Quality of search on sets of questions with known answers: lexical, vectors and fused, compared with a plain BM25 in the same
 * process.
 *
 * Ends with `N passed, N failed`: a set passes where the fused figures are at or above the plain ones, and where a Space that holds
 * all sets together finds within 0.02 of what a Space of the set alone does.
 *
 *   npm run bench:retrieval [-- --data FOLDER] [--embedder hashing|FOLDER_OF_AN_ONNX_MODEL] [--target TOKENS] [--sweep]
 *
 * FOLDER holds an index.json as in the shared data folders `retrieval` and `conversations`. `--sweep` prints the fused figures for every weight.
 * `in the best order`: what a reranker of the same passages could reach at most.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createFileExtractor } from '../src/documents/ingestion/extractors/extract-file.ts'
import { createSpaceId, type SpaceId } from '../src/platform/kernel/index.ts'
import {
  createHashingEmbedder,
  createOnnxEmbedder,
  createRetrieval,
  type Embedder,
  type Passage,
} from '../src/documents/retrieval/index.ts'
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
import {
  type ExcerptScores,
  mean,
  type Range,
  type RankingScores,
  scoreExcerpts,
  scoreRanking,
} from './retrieval/metrics.ts'
import { createPlainBm25, statedSettings, windowsOf } from './retrieval/plain-bm25.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    embedder: { type: 'string', default: 'hashing' },
    target: { type: 'string' },
    sweep: { type: 'boolean', default: false },
    'database-url': { type: 'string' },
  },
})

/** Rounding: the figures are sums in another order. */
const rounding = 1e-9
/** Largest loss of nDCG@10 of a set's questions by the documents of other sets. */
const mixedLoss = 0.02
/** Passages fetched for a ranking of ten documents: several may be of one document. */
const passagesPerRanking = 40
const passagesPerExcerpt = 5

type Modes = { name: string; vectorWeight?: number }[]
const modes: Modes = [
  { name: 'lexical', vectorWeight: 0 },
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
console.log(`search: ${bench.index.engine.description}`)
const outcomes: { name: string; passed: boolean }[] = []
const sets = loadEvaluationSets(folder)
const alone = new Map<EvaluationSet, RankingScores>()
for (const set of sets) {
  if (set.spans.length > 0) await measureExcerpts(bench, embedder, set)
  else alone.set(set, await measureDocuments(bench, embedder, set))
}
if (alone.size > 1) await measureMixed(bench, embedder, alone)
await embedder.close()
for (const { name, passed } of outcomes) if (!passed) console.log(`failed: ${name}`)
const passed = outcomes.filter((outcome) => outcome.passed).length
console.log(`\n${passed} passed, ${outcomes.length - passed} failed`)
process.exitCode = passed === outcomes.length ? 0 : 1

function judge<Scores extends object>(name: string, plain: Scores, fused: Scores, figures: (keyof Scores)[]): void {
  const passed = figures.every((figure) => (fused[figure] as number) >= (plain[figure] as number) - rounding)
  outcomes.push({ name: `${name}: fused at or above plain BM25`, passed })
}

/** Sets that judge whole documents: a document has the rank of its best passage. */
async function measureDocuments(bench: BenchIndex, embedder: Embedder, set: EvaluationSet): Promise<RankingScores> {
  const spaceId = createSpaceId()
  const ids = new Map<string, string>()
  let chunkCount = 0
  for (const { id, title, text } of set.corpus) {
    const chunks = await chunksOf(paragraphsOf(text), embedder, size)
    chunkCount += chunks.length
    ids.set(await bench.addDocument(spaceId, title || id, chunks), id)
  }
  const queries = set.queries.filter((query) => set.relevant.has(query.id))
  const plain = createPlainBm25(
    set.corpus.map(({ id, title, text }) => ({ id, text: `${title}\n${text}` })),
    statedSettings(set.statedBaseline.how),
  )
  const plainScores = mean(
    queries.map((query) => scoreRanking(plain.rank(query.text, 10), set.relevant.get(query.id)!)),
  )
  const rows: Record<string, object> = {
    'plain BM25 (stated)': pick(set.statedBaseline, ['ndcg@10', 'recall@5', 'recall@10', 'mrr@10']),
    'plain BM25 (here)': plainScores,
  }
  for (const { name, ...weight } of modes) {
    const scores = []
    const ceiling = []
    for (const query of queries) {
      const passages = await search(bench, embedder, {
        spaceId,
        query: query.text,
        limit: passagesPerRanking,
        ...weight,
      })
      const ranked = [...new Set(passages.map((passage) => ids.get(passage.documentId)!))]
      const relevant = set.relevant.get(query.id)!
      scores.push(scoreRanking(ranked, relevant))
      const bestOrder = [...ranked.filter((id) => relevant.has(id)), ...ranked.filter((id) => !relevant.has(id))]
      ceiling.push(scoreRanking(bestOrder, relevant))
    }
    rows[name] = mean(scores)
    if (name === 'fused') rows['fused, in the best order'] = mean(ceiling)
  }
  print(`${set.name}: ${set.corpus.length} documents, ${chunkCount} chunks, ${queries.length} questions`, rows)
  const fused = rows.fused as RankingScores
  judge(set.name, plainScores, fused, ['nDCG@10', 'recall@5'])
  return fused
}

/** All sets in one Space: how much a set's questions lose by the others' documents. */
async function measureMixed(
  bench: BenchIndex,
  embedder: Embedder,
  alone: ReadonlyMap<EvaluationSet, RankingScores>,
): Promise<void> {
  const spaceId = createSpaceId()
  const keyOf = (document: EvaluationSet['corpus'][number]) => JSON.stringify([document.id, document.text])
  const keys = new Map<string, string>()
  const added = new Set<string>()
  for (const document of [...alone.keys()].flatMap((set) => set.corpus)) {
    const key = keyOf(document)
    // Sets that share a corpus share its documents.
    if (added.has(key)) continue
    added.add(key)
    const chunks = await chunksOf(paragraphsOf(document.text), embedder, size)
    keys.set(await bench.addDocument(spaceId, document.title || document.id, chunks), key)
  }
  for (const [set, scores] of alone) {
    const idOfKey = new Map(set.corpus.map((document) => [keyOf(document), document.id]))
    const found = []
    for (const query of set.queries.filter((one) => set.relevant.has(one.id))) {
      const passages = await search(bench, embedder, { spaceId, query: query.text, limit: passagesPerRanking })
      const ranked = [...new Set(passages.map((passage) => keys.get(passage.documentId)!))]
      const ids = ranked.map((key) => idOfKey.get(key) ?? 'of another set')
      found.push(scoreRanking(ids, set.relevant.get(query.id)!))
    }
    const mixed = mean(found)
    print(`${set.name} in a Space of all sets`, { alone: scores, mixed })
    const name = `${set.name}: within ${mixedLoss} in a Space of all sets`
    outcomes.push({ name, passed: mixed['nDCG@10'] >= scores['nDCG@10'] - mixedLoss })
  }
}

/** Sets with exact passages: how much of them the best five passages contain, and how much else. */
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
  const plain = createPlainBm25(windows, statedSettings(set.statedBaseline.how))
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
  judge(set.name, rows['plain BM25 (here)'] as ExcerptScores, rows.fused as ExcerptScores, ['excerpt recall@5'])
}

/** Ranges in the concatenated letters of all files, so that answers may be in several files. */
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
  return retrieval.search({
    organisationId: bench.organisationId,
    filter: null,
    ...rest,
    signal: AbortSignal.timeout(60_000),
  })
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

/** The stated figures have other names: matched by their letters and digits. */
function alignStated(scores: object, columns: string[]): (number | undefined)[] {
  const plainName = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]|character/g, '')
  const byName = new Map(Object.entries(scores).map(([name, value]) => [plainName(name), value as number]))
  return columns.map((column) => byName.get(plainName(column)))
}
