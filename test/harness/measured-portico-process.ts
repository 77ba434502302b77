import { startPortico } from './portico.ts'

/**
 * The whole service in a process that reports its memory, for mixed-load.ts. Needs --expose-gc. First argument: settings as JSON.
 * Sends `{url, operatorToken}` once, then a `MemoryReport` for each message.
 */

export interface MemoryReport {
  /** Reachable heap after forced garbage collections. */
  heapBytes: number
  /** Buffers outside of the heap. */
  externalBytes: number
  /** Resident set of the whole process, with its threads and the reserves of its allocators. */
  residentBytes: number
}

/** More than one, because finalizers of one collection free memory for the next. */
const collections = 4

const portico = await startPortico({ settings: JSON.parse(process.argv[2]!) as Record<string, unknown> })
process.on('message', () => void report())
// Ends with the test.
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => void portico.stop().then(() => process.exit(0)))
process.send!({ url: portico.url, operatorToken: portico.operatorToken })

async function report() {
  for (let round = 0; round < collections; round++) {
    globalThis.gc!()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  process.send!({ heapBytes: heapUsed, externalBytes: external, residentBytes: rss } satisfies MemoryReport)
}
