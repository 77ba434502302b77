import type { Worker } from 'node:worker_threads'
import { collect, collectInThreads } from './collect-in-threads.ts'
import { startPortico } from './portico.ts'

/**
 * The whole service in a process that reports its memory, for mixed-load.ts. Needs --expose-gc, and --import of
 * collect-in-threads.ts in NODE_OPTIONS. First argument: settings as JSON.
 * Sends `{url, operatorToken}` once, then a `MemoryReport` for each message.
 */

export interface MemoryReport {
  /** Reachable heap after forced garbage collections. */
  heapBytes: number
  /** Buffers outside of the heap. */
  externalBytes: number
  /** Resident set of the whole process, with its threads and the reserves of its allocators. */
  residentBytes: number
  /** Physical memory of the JavaScript heaps of all other threads, after a collection in each. */
  threadHeapBytes: number
  /** Sockets, timers and other resources that keep an event loop alive. */
  openHandles: number
  /** Of the databases. */
  databaseBytes: number
}

/** More than one, because finalizers of one collection free memory for the next. */
const collections = 4

const threads = new Set<Worker>()
process.on('worker', (thread: Worker) => {
  threads.add(thread)
  thread.once('exit', () => threads.delete(thread))
})
const portico = await startPortico({ settings: JSON.parse(process.argv[2]!) as Record<string, unknown> })
process.on('message', () => void report())
// Ends with the test.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => void portico.stop().then(() => process.exit(0)))
process.send!({ url: portico.url, operatorToken: portico.operatorToken })

async function report() {
  for (let round = 0; round < collections; round++) {
    collect()
    await collectInThreads(threads.size)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  process.send!({
    heapBytes: heapUsed,
    externalBytes: external,
    residentBytes: rss,
    threadHeapBytes: await readThreadHeapBytes(),
    openHandles: process.getActiveResourcesInfo().length,
    databaseBytes: await readDatabaseBytes(),
  } satisfies MemoryReport)
}

async function readThreadHeapBytes(): Promise<number> {
  const heaps = await Promise.all([...threads].map((thread) => thread.getHeapStatistics()))
  return heaps.reduce((sum, heap) => sum + heap.total_physical_size, 0)
}

/** A server has both in one database. */
async function readDatabaseBytes(): Promise<number> {
  const { control, corpus } = portico.service
  let sum = 0
  for (const database of portico.place.databaseUrl === undefined ? [control, corpus] : [control]) {
    const [row] = await database.query<{ bytes: bigint }>('select pg_database_size(current_database()) as bytes')
    sum += Number(row!.bytes)
  }
  return sum
}
