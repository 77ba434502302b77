/**
 * Speed of search and of indexing in one Space as it grows, on the embedded engine or on a server.
 *
 *   npm run bench:search [-- --sizes 1000,10000,100000] [--dimensions 384] [--queries 200] [--database-url URL] [--reuse]
 *     [--imports 5] [--rounds 3] [--json FILE]
 *
 * Texts have Zipf's frequencies of 30,000 words; vectors are in 200 clusters, like those of a model. At each size the indexes
 * of large Spaces are built, then measured: latency of whole searches (lexical, vectors and fusion, without the embedder),
 * alone, with filters and during imports, and recall@20 of the vector search compared with all vectors. `--reuse` measures the largest Space of
 * the database as it is, such as an earlier run left it on a server. The figures of `--json` compare searches of up to 20,000 chunks, in
 * turns, with a plain BM25 and a loop over all vectors, both in memory and without a database.
 */
import { parseArgs } from 'node:util'
import { createSpaceId, type OrganisationId, type SpaceId } from '../src/platform/kernel/index.ts'
import { type BenchIndex, createBenchIndex } from './retrieval/bench-index.ts'
import { createRetrieval, type Embedder } from '../src/documents/retrieval/index.ts'
import { createPlainSearch } from './retrieval/plain-search.ts'
import { createSyntheticSpace, p99, printTimes } from './retrieval/synthetic-space.ts'
import { figureWriter } from './runner/figures.ts'
import { runPaired } from './runner/paired.ts'

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    dimensions: { type: 'string', default: '384' },
    queries: { type: 'string', default: '200' },
    'database-url': { type: 'string' },
    reuse: { type: 'boolean', default: false },
    imports: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
})

/** A larger step of growth drops the indexes first and builds them afterwards, as for the import of a large store. */
const bulkFromChunks = 50_000
/** Duration of the measured import, with all indexes kept. */
const ingestMs = Number(options.imports) * 1000
/** More would take seconds for a search of the plain kind. */
const comparedChunks = 20_000
/** Below, a hundredth of the documents has too few chunks. */
const leastFilteredChunks = 10_000
const queryCount = Number(options.queries)
const chunksPerDocument = 100
const synthetic = createSyntheticSpace(Number(options.dimensions))

const plain = createPlainSearch()

await using bench = await createBenchIndex(embedderOfChunks(), options['database-url'])
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
  await bench.indexed()
  await measure(bench, size)
} else
  for (const wanted of options.sizes.split(',').map(Number)) {
    if (wanted - size > bulkFromChunks) await dropIndexes(bench)
    await grow(bench, wanted)
    const startedMs = performance.now()
    await bench.indexed()
    console.log(`  indexed in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
    await loadIntoMemory(bench)
    await bench.corpus.execute('analyze chunks, chunk_terms, embeddings_1, indexed_documents')
    await measure(bench, wanted)
  }

async function dropIndexes({ index }: BenchIndex): Promise<void> {
  await index.engine.maintain({ bm25IndexFromChunks: Infinity })
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
    if (size - mark >= 10_000 || size >= wanted) {
      const rate = ((size - mark) / (performance.now() - markMs)) * 1000
      console.log(`  ${String(size).padStart(8)} chunks: ${rate.toFixed(0)} rows/s`)
      mark = size
      markMs = performance.now()
    }
  }
}

function addDocument(bench: BenchIndex, chunkCount: number): Promise<number> {
  return synthetic.addDocument(bench, spaceId, chunkCount)
}

async function measure(bench: BenchIndex, chunks: number): Promise<void> {
  const queries = synthetic.queries(queryCount)
  const recall = await synthetic.measureRecall(bench, spaceId, queries)
  console.log(`${chunks} chunks: recall@20 of vectors ${recall.toFixed(3)}`)
  const timeSearches = (contextOf?: typeof synthetic.earlierTurns) =>
    synthetic.timeSearches(bench, spaceId, queries, contextOf)
  if (plain.size === chunks) await compare(bench, queries)
  printTimes('alone', await timeSearches())
  printTimes('alone, in a conversation', await timeSearches(synthetic.earlierTurns))
  if (chunks >= leastFilteredChunks) await measureFilters(bench, queries)
  const stop = { now: false }
  const ingesting = (async () => {
    let rows = 0
    while (!stop.now) rows += await addDocument(bench, 20)
    return rows
  })()
  const startedMs = performance.now()
  try {
    printTimes('during imports', await timeSearches())
  } finally {
    stop.now = true
    const rows = await ingesting
    size += rows
    console.log(`    (${((rows / (performance.now() - startedMs)) * 1000).toFixed(0)} rows/s imported meanwhile)`)
  }
  if (ingestMs > 0) await measureIngestion(bench)
}

/** Keeps texts and vectors for the plain search. */
function embedderOfChunks(): Embedder {
  const { embedder } = synthetic
  if (options.json === undefined) return embedder
  return {
    ...embedder,
    async embed(request) {
      const vectors = await embedder.embed(request)
      for (const [index, text] of request.texts.entries())
        if (plain.size <= comparedChunks) plain.add(text, vectors[index]!)
      return vectors
    },
  }
}

async function compare({ index, organisationId }: BenchIndex, queries: readonly string[]): Promise<void> {
  const retrieval = createRetrieval({ index, embedder: synthetic.embedder })
  const signal = AbortSignal.timeout(600_000)
  let turn = 0
  const nextQuery = () => queries[turn++ % queries.length]!
  const subjects = [
    {
      name: 'Portico',
      call: () => retrieval.search({ organisationId, spaceId, filter: null, query: nextQuery(), limit: 20, signal }),
    },
    {
      name: 'plain BM25 and all vectors',
      reference: true,
      call: async () => {
        const query = nextQuery()
        const [vector] = await synthetic.embedder.embed({
          texts: [query],
          purpose: 'query',
          organisationId,
          spaceId,
          signal,
        })
        return plain.search(query, vector!, 20)
      },
    },
  ]
  const name = `search of ${plain.size} chunks`
  const rounds = Number(options.rounds)
  await runPaired({ case: name, rounds, repetitions: 40, subjects, write: figureWriter(options.json) })
}

/** Filters that let half, a tenth and a hundredth of the documents through, compared with a search without one in the same run. */
async function measureFilters(bench: BenchIndex, queries: readonly string[]): Promise<void> {
  const filters = [null, { half: 1 }, { tenth: 3 }, { tenth: { gte: 7, lt: 8 } }, { hundredth: 42 }]
  const [reference, ...others] = await synthetic.timeFiltered(bench, spaceId, queries, filters)
  printTimes('without a filter', reference!)
  for (const [index, times] of others.entries()) {
    printTimes(`filter ${JSON.stringify(filters[index + 1])}`, times)
    console.log(`      p99 ${(p99(times) / p99(reference!)).toFixed(2)} times that without a filter`)
  }
}

async function measureIngestion(bench: BenchIndex): Promise<void> {
  const startedMs = performance.now()
  let rows = 0
  while (performance.now() - startedMs < ingestMs) rows += await addDocument(bench, 20)
  size += rows
  console.log(`    imports alone              ${((rows / (performance.now() - startedMs)) * 1000).toFixed(0)} rows/s`)
}
