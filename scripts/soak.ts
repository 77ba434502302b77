/**
 * Whether a service that runs for long grows: `npm run soak -- --minutes 20 [--rate 40] [--warm-up 45000] [--clients 8] [--every 15]
 * [--documents 100]`. A mixed load (completions, streams, streams that the client leaves, chats, lists, uploads that are processed and deleted, errors):
 * first `warm-up` requests without a pause, because the engine enlarges its heaps in steps until it has seen enough garbage, in each
 * thread, and compiles a function again only when it has run long enough: after 30,000 requests that still added 0.07 MiB a minute. Then `rate` requests per second, and every `every` seconds the memory after forced collections. It prints the change per minute of the resident memory, the heap, the
 * heaps of other threads, the buffers and the open handles (the line that fits best), and the size of the databases per request. It ends with 1 when the resident memory grows by more than 0.1 MiB a
 * minute. Below ten minutes it prints the same and judges nothing: noise is larger than the bound. Embedded engine, or the server that
 * PORTICO_TEST_DATABASE_URL names.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { prepareTemplate, testServerUrl } from '../test/harness/database-template.ts'
import { readResidentMemory, type ResidentMemory } from '../bench/service-process/resident-memory.ts'
import type { MemoryReport } from '../test/harness/measured-portico-process.ts'
import { startMixedLoad } from '../test/harness/mixed-load.ts'
import { slopeOf } from './soak/slope.ts'

const maximumGrowth = 0.1
const judgedFromMinutes = 10
const mebibyte = 1024 * 1024

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    rate: { type: 'string', default: '40' },
    clients: { type: 'string', default: '8' },
    every: { type: 'string', default: '15' },
    'warm-up': { type: 'string', default: '45000' },
    documents: { type: 'string', default: '100' },
  },
})
const minutes = positive('minutes')
const rate = positive('rate')
const everySeconds = Math.min(positive('every'), minutes * 10)

const removeTemplate = await prepareTemplate(testServerUrl())
const load = await startMixedLoad({
  clients: positive('clients'),
  uploads: true,
  documents: positive('documents'),
})
const samples: (MemoryReport & { minutes: number; requests: number; kinds: Partial<ResidentMemory> })[] = []
try {
  await load.run(positive('warm-up'))
  const startMs = performance.now()
  const minutesNow = () => (performance.now() - startMs) / 60_000
  let requests = 0
  console.log('minutes   requests     memory MiB   heap MiB   threads MiB   buffers MiB   handles   databases MiB')
  while (minutesNow() < minutes) {
    const intervalEndMs = performance.now() + everySeconds * 1000
    // A second at a time, so that the load is even. A slow machine sends fewer requests.
    while (performance.now() < intervalEndMs) {
      const second = wait(1000)
      await load.run(rate)
      requests += rate
      await second
    }
    const report = await load.measure()
    const kinds = process.platform === 'linux' ? readResidentMemory(load.pid) : {}
    const sample = { ...report, kinds, minutes: minutesNow(), requests }
    samples.push(sample)
    printRow(sample)
  }
} finally {
  await load.stop()
  await removeTemplate()
}

const growthOf = (pick: (sample: (typeof samples)[number]) => number) =>
  slopeOf(samples.map((sample) => ({ minutes: sample.minutes, value: pick(sample) })))
const growth = growthOf(({ residentBytes }) => residentBytes / mebibyte)
const [first, last] = [samples[0]!, samples.at(-1)!]
console.log(`resident memory: ${signed(growth)} MiB a minute`)
for (const kind of Object.keys(first.kinds) as (keyof ResidentMemory)[])
  if (kind !== 'total')
    console.log(`  ${kind}: ${signed(growthOf(({ kinds }) => (kinds[kind] ?? 0) / mebibyte))} MiB a minute`)
console.log(`heap: ${signed(growthOf(({ heapBytes }) => heapBytes / mebibyte))} MiB a minute`)
console.log(`heaps of threads: ${signed(growthOf(({ threadHeapBytes }) => threadHeapBytes / mebibyte))} MiB a minute`)
console.log(`buffers: ${signed(growthOf(({ externalBytes }) => externalBytes / mebibyte))} MiB a minute`)
console.log(`open handles: ${signed(growthOf(({ openHandles }) => openHandles))} a minute`)
const perRequest = (last.databaseBytes - first.databaseBytes) / Math.max(1, last.requests - first.requests)
console.log(`databases: ${Math.round(perRequest)} bytes a request`)
if (minutes < judgedFromMinutes) {
  console.log(`not judged: that needs ${judgedFromMinutes} minutes`)
} else if (growth > maximumGrowth) {
  console.log(`FAILED: the resident memory grows by more than ${maximumGrowth} MiB a minute`)
  process.exitCode = 1
} else console.log(`passed: at most ${maximumGrowth} MiB a minute`)

function printRow(sample: (typeof samples)[number]) {
  const mega = (bytes: number) => (bytes / mebibyte).toFixed(1)
  const columns = [
    sample.minutes.toFixed(1),
    sample.requests,
    mega(sample.residentBytes),
    mega(sample.heapBytes),
    mega(sample.threadHeapBytes),
    mega(sample.externalBytes),
    sample.openHandles,
    mega(sample.databaseBytes),
  ]
  console.log(columns.map((column, index) => String(column).padStart([7, 11, 15, 11, 14, 14, 10, 16][index]!)).join(''))
}

function positive(name: keyof typeof values): number {
  const number = Number(values[name])
  if (number > 0) return number
  console.error(`--${name} is a number above 0, not ${values[name]}`)
  process.exit(2)
}

function signed(number: number): string {
  return `${number < 0 ? '' : '+'}${number.toFixed(3)}`
}
