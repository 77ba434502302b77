import { startPortico } from './portico.ts'

/**
 * The whole service in a process that reports its memory, for mixed-load.ts. Needs --expose-gc. First argument: settings as JSON.
 * Sends `{url, operatorToken}` once, then a `MemoryReport` for each message.
 */

export interface MemoryReport {
  /** After forced collections: what is still reachable. */
  heapBytes: number
  /** Buffers outside of the heap. */
  externalBytes: number
  /** The whole process, with its threads and what allocators keep. */
  residentBytes: number
}

/** Finalizers of one collection free what the next one finds. */
const collections = 4

const portico = await startPortico({ settings: JSON.parse(process.argv[2]!) as Record<string, unknown> })
process.on('message', () => void report())
// Do not survive the test.
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
