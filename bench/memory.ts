import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { startMixedLoad } from '../test/harness/mixed-load.ts'
import { figureWriter } from './runner/figures.ts'
import { printHostilePeak } from './service-process/hostile-files.ts'
import { printParts } from './service-process/print-parts.ts'

/**
 * Whether the service keeps memory of finished requests: its heap, buffers and resident memory after forced collections, at
 * intervals of a mixed load (completions, streams, streams that the client leaves, chat, lists of 100 documents with 15 KB of
 * metadata, errors). The service is a separate process with the embedded database.
 *
 *   npm run bench:memory [-- --requests 100000] [--steps 10] [--clients 8] [--json FILE]
 *
 * With `--parts` (on Linux) instead: what each part takes at rest, after a few large requests, and a minute later.
 * With `--hostile` (on Linux) instead: the peak of all processes while hostile and large files are read.
 * The figures of `--json` compare its resident memory with that of a process that only has a server of node:http.
 */

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    steps: { type: 'string', default: '10' },
    clients: { type: 'string', default: '8' },
    json: { type: 'string' },
    parts: { type: 'boolean', default: false },
    hostile: { type: 'boolean', default: false },
  },
})
if (values.parts || values.hostile) {
  await (values.parts ? printParts() : printHostilePeak())
  process.exit()
}
const perStep = Math.ceil(Number(values.requests) / Number(values.steps))
const load = await startMixedLoad({ clients: Number(values.clients) })
try {
  console.log('requests   heap MB   buffers MB   resident MB   requests/s')
  for (let step = 0; step <= Number(values.steps); step++) {
    const startedMs = performance.now()
    if (step > 0) await load.run(perStep)
    const rate = step > 0 ? (perStep / (performance.now() - startedMs)) * 1000 : 0
    const { heapBytes, externalBytes, residentBytes } = await load.measure()
    recordMemory(step * perStep, residentBytes)
    const columns = [step * perStep, mega(heapBytes, 1), mega(externalBytes, 1), mega(residentBytes), rate.toFixed(0)]
    console.log(columns.map((column, index) => String(column).padStart([8, 10, 13, 14, 13][index]!)).join(''))
  }
} finally {
  await load.stop()
}

function recordMemory(requests: number, residentBytes: number): void {
  const figure = { case: `after ${requests} requests`, round: 0, quantity: 'resident MB', better: 'lower' as const }
  const write = figureWriter(values.json)
  write({ ...figure, subject: 'Portico', value: residentBytes / 1e6 })
  write({ ...figure, subject: 'a server of node:http', reference: true, value: bareBytes() / 1e6 })
}

function bareBytes(): number {
  const program =
    "require('node:http').createServer().listen(0, () => { console.log(process.memoryUsage.rss()); process.exit() })"
  return Number(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }))
}

function mega(bytes: number, digits = 0): string {
  return (bytes / 1e6).toFixed(digits)
}
