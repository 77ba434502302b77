/**
 * LanceDB next to the engine of the database, over the same chunks: one Space on the embedded database or on a server.
 *
 *   npm run bench:engines [-- --chunks 100000] [--dimensions 384] [--queries 200] [--exact 20] [--database-url URL] [--address PLACE]
 *
 * Both engines have their indexes at the same time and search in turns, so that the load of the machine is the same for both. Prints the time of
 * the index, the bytes that it adds for each chunk, recall@10 of vectors and the share of the ten best by terms compared with all chunks
 * (`--exact` queries), latency of whole searches without the embedder, alone and during imports, and the ratios. Imports are measured with the
 * indexes of one engine, and at the end the first searches of a process over the tables of LanceDB. `--address`: a folder instead of a
 * temporary one, or `s3` for an object store in this process that answers after 20 ms.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startFakeS3 } from '../test/harness/fake-s3.ts'
import { makeTemporaryFolder } from '../test/harness/temporary-folder.ts'
import { createExactScan, loadSpaceState } from '../src/documents/retrieval/engines/exact-scan.store.ts'
import { createLanceEngine, createRetrieval, createSearchIndex } from '../src/documents/retrieval/index.ts'
import { analyseWithContext } from '../src/documents/retrieval/lexical/analyse-text.ts'
import { createSpaceId } from '../src/platform/kernel/index.ts'
import { type BenchIndex, createBenchIndex } from './retrieval/bench-index.ts'
import { createSyntheticSpace, p99, printTimes } from './retrieval/synthetic-space.ts'

const { values: options } = parseArgs({
  options: {
    chunks: { type: 'string', default: '100000' },
    dimensions: { type: 'string', default: '384' },
    queries: { type: 'string', default: '200' },
    exact: { type: 'string', default: '20' },
    'database-url': { type: 'string' },
    address: { type: 'string' },
  },
})

const chunks = Number(options.chunks)
const chunksPerDocument = 100
const best = 10
const synthetic = createSyntheticSpace(Number(options.dimensions))
const spaceId = createSpaceId()
const s3 = options.address === 's3' ? await startFakeS3('bench', { pageSize: 1_000, delayMs: 20 }) : null
const address = s3 ? 's3://bench/tables' : (options.address ?? makeTemporaryFolder('bench-lance'))

await using bench = await createBenchIndex(synthetic.embedder, options['database-url'])
const { corpus } = bench
const storage = { address, options: s3?.storageOptions ?? {}, cacheBytes: 2 ** 30 }
const lanceEngine = createLanceEngine({ database: corpus, storage })
const lance: BenchIndex = { ...bench, index: createSearchIndex({ database: corpus, engine: lanceEngine }) }
const database = corpus.engine === 'postgres' ? 'PostgreSQL' : 'in memory'
console.log(`${corpus.engine} engine, ${bench.index.engine.description}; ${lanceEngine.description}`)

// Its jobs would build indexes during the imports, and remove the tables of the other engine.
await bench.stopIndexing()
await fill()
await report(`index ${database}`, async () => {
  await bench.index.engine.indexNew()
  await bench.index.engine.maintain()
  bench.index.engine.reset()
  await bench.index.engine.warm()
})
await report('index LanceDB', () => lanceEngine.indexNew())
console.log(
  `  bytes a chunk: ${database} ${Math.round((await databaseBytes()) / chunks)}, LanceDB ${Math.round((await lanceBytes()) / chunks)}`,
)
await corpus.execute('analyze chunks, chunk_terms, embeddings_1, indexed_documents', [], { timeoutMs: 600_000 })

const queries = synthetic.queries(Number(options.queries))
const exact = queries.slice(0, Number(options.exact))
const turnsOf = new Map(exact.map((query) => [query, synthetic.earlierTurns()]))
/** The best chunks of a query by a scan of all, without and with earlier turns: both engines are compared with the same ones. */
const bestByTerms = new Map<string, ReadonlySet<string>>()
await inTurns('alone')
await inTurns('in a conversation', synthetic.earlierTurns)
// Scans of all chunks, which take minutes: behind what is timed.
for (const [name, one] of [
  [database, bench],
  ['LanceDB', lance],
] as const) {
  const recalls = [
    await synthetic.measureRecall(one, spaceId, exact, best),
    await termRecall(one, false),
    await termRecall(one, true),
  ].map((recall) => recall.toFixed(3))
  console.log(
    `  ${name}: recall@${best} of vectors ${recalls[0]}, of terms ${recalls[1]}, in a conversation ${recalls[2]}`,
  )
}
await duringImports(database, bench)
// It also drops the indexes of the database.
await lanceEngine.maintain()
await duringImports('LanceDB', lance)
console.log(`  memory of this process ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`)
await lanceEngine.close()
await firstSearches()
await s3?.close()

async function fill(): Promise<void> {
  const startedMs = performance.now()
  let left = chunks
  const store = async () => {
    while (left > 0) {
      const size = Math.min(chunksPerDocument, left)
      left -= size
      await synthetic.addDocument(bench, spaceId, size)
    }
  }
  // While the database writes one, the next is made.
  await Promise.all([store(), store(), store()])
  console.log(`  ${chunks} chunks stored in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
}

async function report(name: string, run: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now()
  await run()
  const seconds = (performance.now() - startedMs) / 1000
  console.log(`  ${name}: ${seconds.toFixed(1)} s, ${Math.round(chunks / seconds)} chunks/s`)
}

/** Both engines answer each query, one after the other. */
async function inTurns(name: string, contextOf?: typeof synthetic.earlierTurns): Promise<void> {
  const times: [number[], number[]] = [[], []]
  for (let at = 0; at < queries.length; at += 10) {
    const part = queries.slice(at, at + 10)
    times[0].push(...(await synthetic.timeSearches(bench, spaceId, part, contextOf)))
    times[1].push(...(await synthetic.timeSearches(lance, spaceId, part, contextOf)))
  }
  printTimes(`${name}, ${database}`, times[0])
  printTimes(`${name}, LanceDB`, times[1])
  const middle = (own: number[]) => own.toSorted((left, right) => left - right)[own.length >> 1]!
  const ratio = (of: (own: number[]) => number) => (of(times[1]) / of(times[0])).toFixed(2)
  console.log(`      LanceDB takes ${ratio(middle)} times the p50 and ${ratio(p99)} times the p99`)
}

async function duringImports(name: string, own: BenchIndex): Promise<void> {
  const stop = { now: false }
  const { engine } = own.index
  let indexing: Promise<unknown> | undefined
  engine.onNewChunks(() => void (indexing ??= engine.indexNew().finally(() => (indexing = undefined))))
  const startedMs = performance.now()
  const importing = (async () => {
    let rows = 0
    while (!stop.now) rows += await synthetic.addDocument(own, spaceId, 20)
    return rows
  })()
  try {
    printTimes(`during imports, ${name}`, await synthetic.timeSearches(own, spaceId, queries))
  } finally {
    stop.now = true
    const rows = await importing
    console.log(`      ${((rows / (performance.now() - startedMs)) * 1000).toFixed(0)} rows/s imported meanwhile`)
    engine.onNewChunks(() => {})
    await indexing
  }
}

/** As in a process that has just been started: nothing of the tables is in memory. */
async function firstSearches(): Promise<void> {
  const engine = createLanceEngine({ database: corpus, storage })
  const index = createSearchIndex({ database: corpus, engine })
  const retrieval = createRetrieval({ index, embedder: synthetic.embedder })
  const before = s3?.reads()
  const { organisationId } = bench
  const times: string[] = []
  for (const query of queries.slice(0, 5)) {
    const startedMs = performance.now()
    const signal = AbortSignal.timeout(60_000)
    await retrieval.search({ organisationId, spaceId, filter: null, query, context: [], limit: 20, signal })
    times.push(`${(performance.now() - startedMs).toFixed(0)} ms`)
    if (times.length === 1 && s3 && before) {
      const { count, bytes } = s3.reads()
      times[0] += ` (${count - before.count} reads of ${((bytes - before.bytes) / 2 ** 20).toFixed(1)} MB)`
    }
  }
  console.log(`    first searches of a process: ${times.join(', ')}`)
  await engine.close()
}

/** Share of the best by terms that the engine finds. */
async function termRecall({ index, organisationId }: BenchIndex, inConversation: boolean): Promise<number> {
  const scope = { organisationId, spaceId, filter: null }
  const signal = AbortSignal.timeout(600_000)
  let found = 0
  for (const query of exact) {
    const space = await loadSpaceState(corpus, scope, { signal })
    const terms = await analyseWithContext(spaceId, query, inConversation ? turnsOf.get(query)! : [], space)
    const scan = createExactScan({ queryable: corpus, scope, space, options: { signal, timeoutMs: 600_000 } })
    const place = `${inConversation} ${query}`
    const truth = bestByTerms.get(place) ?? new Set((await scan.byTerms(terms, best)).map(({ chunkId }) => chunkId))
    bestByTerms.set(place, truth)
    const opened = await index.engine.openSpace(scope, signal)
    const own = await opened.findCandidates({ terms, vectors: [], limit: best })
    found += own.filter(({ chunkId }) => truth.has(chunkId)).length / truth.size
  }
  return found / exact.length
}

async function databaseBytes(): Promise<number> {
  const [row] = await corpus.query<{ bytes: bigint }>(
    `select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint as bytes from pg_class
     where (relkind = 'r' and relname like 'vector\\_segment\\_%') or (relkind = 'i' and relname like 'chunk\\_terms\\_bm25%')`,
  )
  return Number(row!.bytes)
}

async function lanceBytes(): Promise<number> {
  const [row] = await corpus.query<{ bytes: bigint }>(
    'select coalesce(sum(octet_length(term_counts)), 0)::bigint as bytes from vector_segments',
  )
  if (s3) return s3.objects.values().reduce((sum, { length }) => sum + length, Number(row!.bytes))
  const files = fs.readdirSync(address, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  const sizes = files.map(({ parentPath, name }) => fs.statSync(path.join(parentPath, name)).size)
  return sizes.reduce((sum, size) => sum + size, Number(row!.bytes))
}
