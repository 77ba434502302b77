import { parseArgs } from 'node:util'
import { createSpaceId, type OrganisationId, type SpaceId } from '../src/platform/kernel/index.ts'
import { type BenchIndex, createBenchIndex } from './retrieval/bench-index.ts'
import { createSyntheticSpace, printTimes, type SyntheticSpace } from './retrieval/synthetic-space.ts'

const chunksPerDocument = 100

interface Load {
  bench: BenchIndex
  space: SyntheticSpace
  spaceId: SpaceId
  writers: number
}

/**
 * Rows per second into one Space that is searched and indexed meanwhile, as in the service: several writers without a pause, the
 * background jobs of the index, and one search after the other.
 *
 *   npm run bench:ingest -- --index [--database-url URL] [--chunks 100000] [--seconds 60] [--writers 2] [--dimensions 384] [--reuse]
 *
 * The Space gets `--chunks` first. `--reuse` takes the largest Space of the database instead, such as an earlier run left it.
 */
export async function benchIndexing(args: readonly string[]): Promise<void> {
  const { values: options } = parseArgs({
    args: [...args],
    options: {
      index: { type: 'boolean' },
      'database-url': { type: 'string' },
      chunks: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '60' },
      writers: { type: 'string', default: '2' },
      dimensions: { type: 'string', default: '384' },
      reuse: { type: 'boolean', default: false },
    },
  })
  const space = createSyntheticSpace(Number(options.dimensions))
  await using bench = await createBenchIndex(space.embedder, options['database-url'])
  const load: Load = { bench, space, spaceId: createSpaceId(), writers: Number(options.writers) }
  console.log(
    `${bench.corpus.engine} engine, PostgreSQL ${bench.corpus.features.serverVersion}, ${load.writers} writers, ${bench.index.engine.description}`,
  )
  if (options.reuse) await takeLargestSpace(load)
  else await fill(load, Number(options.chunks))
  await bench.indexed()
  const queries = space.queries(200)
  console.log(`${await countChunks(load)} chunks: recall@20 of vectors ${await recall(load, queries)}`)
  printTimes('searches alone', await space.timeSearches(bench, load.spaceId, queries))
  await measure(load, queries, Number(options.seconds) * 1000)
  console.log(`recall@20 of vectors after the import, before its rest is indexed: ${await recall(load, queries)}`)
}

async function takeLargestSpace(load: Load): Promise<void> {
  const [largest] = await load.bench.corpus.query<{ organisationId: OrganisationId; spaceId: SpaceId }>(
    `select organisation_id as "organisationId", space_id as "spaceId" from indexed_documents
     group by 1, 2 order by sum(chunk_count) desc limit 1`,
  )
  if (!largest) throw new Error('--reuse: the database holds no Space')
  load.bench.organisationId = largest.organisationId
  load.spaceId = largest.spaceId
}

/** The rate includes the background jobs that the rows cause: it ends when they have ended. */
async function fill(load: Load, wanted: number): Promise<void> {
  const startedMs = performance.now()
  const rows = await write(load, (written) => written < wanted)
  const writtenMs = performance.now() - startedMs
  await load.bench.indexed()
  const indexedMs = performance.now() - startedMs
  console.log(`${rows} rows: written ${rate(rows, writtenMs)}, written and indexed ${rate(rows, indexedMs)}`)
}

async function measure(load: Load, queries: readonly string[], durationMs: number): Promise<void> {
  const startedMs = performance.now()
  const usedBefore = process.cpuUsage()
  const goesOn = () => performance.now() - startedMs < durationMs
  const times: number[] = []
  const searching = (async () => {
    while (goesOn()) times.push(...(await load.space.timeSearches(load.bench, load.spaceId, queries.slice(0, 20))))
  })()
  const rows = await write(load, goesOn)
  const writtenMs = performance.now() - startedMs
  await searching
  const used = process.cpuUsage(usedBefore)
  printTimes('searches during the import', times)
  await load.bench.indexed()
  const indexedMs = performance.now() - startedMs
  console.log(
    `    ${rows} rows: written ${rate(rows, writtenMs)} during ${times.length} searches, with the rest of the indexing afterwards ${rate(rows, indexedMs)}`,
  )
  console.log(
    `    processor time of this process: ${((used.user + used.system) / 1000 / rows).toFixed(2)} ms a row, searches included`,
  )
}

/** Several writers; returns the number of rows. */
async function write({ bench, space, spaceId, writers }: Load, goesOn: (rows: number) => boolean): Promise<number> {
  let rows = 0
  const writer = async () => {
    while (goesOn(rows)) rows += await space.addDocument(bench, spaceId, chunksPerDocument)
  }
  await Promise.all(Array.from({ length: writers }, writer))
  return rows
}

async function recall({ bench, space, spaceId }: Load, queries: readonly string[]): Promise<string> {
  return (await space.measureRecall(bench, spaceId, queries)).toFixed(3)
}

async function countChunks({ bench, spaceId }: Load): Promise<number> {
  const [row] = await bench.corpus.query<{ chunks: number }>(
    'select sum(chunk_count)::int as chunks from indexed_documents where space_id = $1 and searchable',
    [spaceId],
  )
  return row!.chunks
}

function rate(rows: number, milliseconds: number): string {
  return `${((rows / milliseconds) * 1000).toFixed(0)} rows/s`
}
