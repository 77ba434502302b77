import { parseArgs } from 'node:util'
import { startMixedLoad } from '../test/harness/mixed-load.ts'

/**
 * Whether the service keeps memory of finished requests: its heap, buffers and resident memory after forced collections, at
 * intervals of a mixed load (completions, streams, streams that the client leaves, chat, lists of 100 documents with 15 KB of
 * metadata, errors). The service is a separate process with the embedded database.
 *
 *   npm run bench:memory -- --requests 100000 --steps 10 --clients 8
 */

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    steps: { type: 'string', default: '10' },
    clients: { type: 'string', default: '8' },
  },
})
const perStep = Math.ceil(Number(values.requests) / Number(values.steps))
const load = await startMixedLoad({ clients: Number(values.clients) })
try {
  console.log('requests   heap MB   buffers MB   resident MB   requests/s')
  for (let step = 0; step <= Number(values.steps); step++) {
    const startedMs = performance.now()
    if (step > 0) await load.run(perStep)
    const rate = step > 0 ? (perStep / (performance.now() - startedMs)) * 1000 : 0
    const { heapBytes, externalBytes, residentBytes } = await load.measure()
    const columns = [step * perStep, mega(heapBytes, 1), mega(externalBytes, 1), mega(residentBytes), rate.toFixed(0)]
    console.log(columns.map((column, index) => String(column).padStart([8, 10, 13, 14, 13][index]!)).join(''))
  }
} finally {
  await load.stop()
}

function mega(bytes: number, digits = 0): string {
  return (bytes / 1e6).toFixed(digits)
}
