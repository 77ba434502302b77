/**
 * Speed of search and of indexing in one Space as it grows, on the embedded engine or on a server.
 *
 *   npm run bench:search [-- --sizes 1000,10000,100000] [--dimensions 384] [--queries 200] [--grow] [--database-url URL] [--reuse]
 *
 * Texts have Zipf's frequencies of 30,000 words; vectors are in 200 clusters, like those of a model. At each size the indexes
 * of large Spaces are built, then measured: latency of whole searches (lexical, vectors and fusion, without the embedder),
 * alone and during imports, and recall@20 of the vector search compared with all vectors. `--grow` keeps the HNSW index
 * while rows are inserted (slow rows, no build) instead of building it once. `--reuse` measures the largest Space of the database as
 * it is, such as an earlier run left it on a server.
 */
import { parseArgs } from 'node:util'
import { createSpaceId, type OrganisationId, type SpaceId } from '../src/kernel/index.ts'
import {
  type ContextText,
  createRetrieval,
  type Embedder,
  type IndexedChunk,
  type Retrieval,
} from '../src/retrieval/index.ts'
import { createExactScan } from '../src/retrieval/engines/exact-scan.store.ts'
import { type BenchIndex, createBenchIndex } from './retrieval/bench-index.ts'
import { createSyntheticTexts } from './synthetic-texts.ts'

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    dimensions: { type: 'string', default: '384' },
    queries: { type: 'string', default: '200' },
    grow: { type: 'boolean', default: false },
    'database-url': { type: 'string' },
    reuse: { type: 'boolean', default: false },
  },
})

/** A larger step of growth drops the indexes first and builds them afterwards, as for the import of a large store. */
const bulkFromChunks = 50_000
/** Duration of the measured import, with all indexes kept. */
const ingestMs = 5_000
const dimensions = Number(options.dimensions)
const queryCount = Number(options.queries)
const chunksPerDocument = 100
const wordsPerChunk = 150
const { random, words } = createSyntheticTexts(7)
const clusters = Array.from({ length: 200 }, () => gaussian(dimensions, 1))
/** The vector of each text, so that the embedder costs nothing and queries are near their answers. */
const vectorByText = new Map<string, Float32Array>()

const embedder: Embedder = {
  id: `bench:${dimensions}`,
  label: 'seeded clusters',
  dimensions,
  maximumTokens: 512,
  countTokens: (text) => text.split(' ').length,
  counter: { kind: 'word_pieces' },
  embed: ({ texts }) => Promise.resolve(texts.map((text) => vectorByText.get(text) ?? clusterPoint())),
  close: () => Promise.resolve(),
}

await using bench = await createBenchIndex(embedder, options['database-url'])
let spaceId = createSpaceId()
console.log(
  `${bench.corpus.engine} engine, PostgreSQL ${bench.corpus.features.serverVersion}, ${bench.index.engine.description}`,
)
let size = 0
if (options.reuse) {
  const [largest] = await bench.corpus.query<{ organisationId: OrganisationId; spaceId: SpaceId; chunks: number }>(
    `select organisation_id as "organisationId", space_id as "spaceId", sum(chunk_count)::int as chunks
     from indexed_documents group by 1, 2 order by 3 desc limit 1`,
  )
  if (!largest) throw new Error('--reuse: the database holds no Space')
  bench.organisationId = largest.organisationId
  spaceId = largest.spaceId
  size = largest.chunks
  await bench.index.engine.maintain()
  await measure(bench, size)
} else
  for (const wanted of options.sizes.split(',').map(Number)) {
    if (wanted - size > bulkFromChunks) await dropIndexes(bench)
    await grow(bench, wanted)
    const startedMs = performance.now()
    const { built } = await bench.index.engine.maintain()
    if (built.length > 0)
      console.log(`  built ${built.length} indexes in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
    await loadIntoMemory(bench)
    await bench.corpus.execute('analyze chunks, chunk_terms, embeddings_1, indexed_documents')
    await measure(bench, wanted)
  }

async function dropIndexes({ index }: BenchIndex): Promise<void> {
  await index.engine.maintain({ vectorIndexFromChunks: Infinity, bm25IndexFromChunks: Infinity })
}

/** As at a start: everything is read from the database. */
async function loadIntoMemory({ corpus, index: { engine } }: BenchIndex): Promise<void> {
  if (corpus.engine !== 'embedded') return
  engine.reset()
  const startedMs = performance.now()
  await engine.warm()
  console.log(`  loaded into memory in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
}

/** Adds documents until the Space has `wanted` chunks; prints the rate for each 10,000 rows. */
async function grow(bench: BenchIndex, wanted: number): Promise<void> {
  let markMs = performance.now()
  let mark = size
  while (size < wanted) {
    size += await addDocument(bench, Math.min(chunksPerDocument, wanted - size))
    if (options.grow && size >= 20_000) await bench.index.engine.maintain()
    if (size - mark >= 10_000 || size >= wanted) {
      const rate = ((size - mark) / (performance.now() - markMs)) * 1000
      console.log(`  ${String(size).padStart(8)} chunks: ${rate.toFixed(0)} rows/s`)
      mark = size
      markMs = performance.now()
    }
  }
}

async function addDocument(bench: BenchIndex, chunkCount: number): Promise<number> {
  const chunks: IndexedChunk[] = Array.from({ length: chunkCount }, (_, index) => ({
    index,
    text: words(wordsPerChunk),
    headingPath: [],
    tableHeader: null,
    tokens: wordsPerChunk,
    pageFrom: null,
    pageTo: null,
    characterFrom: 0,
    characterTo: 1,
    rowFrom: null,
    rowTo: null,
  }))
  await bench.addDocument(spaceId, 'bench.txt', chunks)
  return chunkCount
}

async function measure(bench: BenchIndex, chunks: number): Promise<void> {
  const queries = Array.from({ length: queryCount }, () => {
    const text = words(6)
    vectorByText.set(text, clusterPoint())
    return text
  })
  const recall = await measureRecall(bench, queries)
  console.log(`${chunks} chunks: recall@20 of vectors ${recall.toFixed(3)}`)
  const retrieval = createRetrieval({ index: bench.index, embedder })
  print('alone', await timeSearches(retrieval, bench, queries))
  print('alone, in a conversation', await timeSearches(retrieval, bench, queries, earlierTurns))
  const stop = { now: false }
  const ingesting = (async () => {
    let rows = 0
    while (!stop.now) rows += await addDocument(bench, 20)
    return rows
  })()
  const startedMs = performance.now()
  try {
    print('during imports', await timeSearches(retrieval, bench, queries))
  } finally {
    stop.now = true
    const rows = await ingesting
    size += rows
    console.log(`    (${((rows / (performance.now() - startedMs)) * 1000).toFixed(0)} rows/s imported meanwhile)`)
  }
  for (const query of queries) vectorByText.delete(query)
  await measureIngestion(bench)
}

async function measureIngestion(bench: BenchIndex): Promise<void> {
  const startedMs = performance.now()
  let rows = 0
  while (performance.now() - startedMs < ingestMs) rows += await addDocument(bench, 20)
  size += rows
  console.log(`    imports alone              ${((rows / (performance.now() - startedMs)) * 1000).toFixed(0)} rows/s`)
}

async function timeSearches(
  retrieval: Retrieval,
  bench: BenchIndex,
  queries: string[],
  contextOf?: () => ContextText[],
): Promise<number[]> {
  const times: number[] = []
  for (const [index, query] of [...queries.slice(0, 10), ...queries].entries()) {
    const context = contextOf?.() ?? []
    const startedMs = performance.now()
    const found = await retrieval.search({
      organisationId: bench.organisationId,
      spaceId,
      query,
      context,
      limit: 20,
      signal: AbortSignal.timeout(60_000),
    })
    if (found.length < 20) throw new Error(`short: ${found.length} of 20 for ${query}`)
    // The first ten warm the caches.
    if (index >= 10) times.push(performance.now() - startedMs)
  }
  return times
}

/** Four questions and an answer, as a chat adds them to a query: more than the 64 terms that are compared. */
function earlierTurns(): ContextText[] {
  const questions = [0.2, 0.1, 0.05, 0.025].map((weight) => ({ text: words(8), weight }))
  return [...questions, { text: words(wordsPerChunk), weight: 0.2 }]
}

/** Share of the 20 nearest chunks that the engine's vector search finds. */
async function measureRecall({ corpus, index, organisationId }: BenchIndex, queries: string[]): Promise<number> {
  const scope = { organisationId, spaceId }
  const signal = AbortSignal.timeout(600_000)
  const exact = createExactScan({
    queryable: corpus,
    scope,
    space: { chunks: 0, averageTerms: 0 },
    options: { signal },
  })
  let found = 0
  for (const query of queries.slice(0, 100)) {
    const vector = vectorByText.get(query)!
    const space = await index.engine.openSpace(scope, signal)
    const version = space.embeddingVersions[0]!
    const near = await space.findCandidates({
      terms: [],
      vectors: [{ version, vector, hasSemantics: true }],
      limit: 20,
    })
    const truth = new Set((await exact.byVector({ version, vector, limit: 20 })).map((chunk) => chunk.chunkId))
    found += near.filter((candidate) => truth.has(candidate.chunkId)).length / truth.size
  }
  return found / Math.min(100, queries.length)
}

function print(name: string, times: number[]): void {
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)
  console.log(`    ${name.padEnd(26)} p50 ${at(0.5)} ms   p99 ${at(0.99)} ms   longest ${sorted.at(-1)!.toFixed(1)} ms`)
}

function clusterPoint(): Float32Array {
  const center = clusters[Math.floor(random() * clusters.length)]!
  const offset = gaussian(dimensions, 0.7)
  const point = center.map((value, index) => value + offset[index]!)
  const length = Math.hypot(...point)
  return point.map((value) => value / length)
}

function gaussian(count: number, deviation: number): Float32Array {
  return Float32Array.from({ length: count }, () => {
    return deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  })
}
