import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Agent, type Dispatcher, request } from 'undici'
import { startBenchPortico } from './gateway/portico.ts'
import { startRole } from './gateway/roles.ts'
import { processorMs } from './runner/processor-time.ts'
import { readResidentMemory, type ResidentMemory } from './service-process/resident-memory.ts'

/**
 * Many open streams: each chunk has a number, so that a lost or repeated one fails the bench. Printed for the bare Node proxy, the gateway
 * without a ledger and the whole service: how much longer the streams took than the upstream's pace, the longest wait between two
 * chunks of a stream, processor time of each chunk, and the largest resident memory by kind. Client and upstream are two further
 * processes on the same machine.
 *
 *   npm run bench:gateway-streams -- [--streams 512] [--chunks 100] [--every 20] [--open-within 0]
 *     [--targets proxy,no-ledger,local,database]
 */

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '512' },
    chunks: { type: 'string', default: '100' },
    /** Milliseconds between two chunks. */
    every: { type: 'string', default: '20' },
    /** Milliseconds in which the streams are opened. Thousands at once overflow the queue of new connections (511 by default of Node.js). */
    'open-within': { type: 'string', default: '0' },
    targets: { type: 'string', default: 'proxy,no-ledger,local' },
  },
})
const chunks = Number(values.chunks)
const everyMs = Number(values.every)
const openWithinMs = Number(values['open-within'])

/** Each reading takes the kernel some milliseconds. */
const sampleEveryMs = 500

interface Target {
  name: string
  url: string
  key: string
  pid: number
  stop(): unknown
}

interface StreamTimes {
  firstMs: number
  longestGapMs: number
  lastMs: number
}

const folder = mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
const upstream = await startRole('upstream')
try {
  for (const name of values.targets.split(',')) {
    const target = await startTarget(name)
    try {
      for (const streams of values.streams.split(',')) await measure(target, Number(streams))
    } finally {
      await target.stop()
    }
  }
} finally {
  upstream.child.kill()
  rmSync(folder, { recursive: true, force: true })
}

async function startTarget(name: string): Promise<Target> {
  if (name === 'proxy' || name === 'no-ledger') {
    const { url, child } = await startRole(name === 'proxy' ? 'proxy' : 'unmetered', { upstream: upstream.url })
    const address = name === 'proxy' ? '/v1/chat/completions' : '/v1/gateway/chat/completions'
    return { name, url: url + address, key: 'none', pid: child.pid!, stop: () => child.kill() }
  }
  const portico = await startBenchPortico(path.join(folder, name), upstream.url, name)
  const { url, apiKey: key, child, stop } = portico
  return { name, url: `${url}/v1/gateway/chat/completions`, key, pid: child.pid!, stop }
}

async function measure(target: Target, streams: number): Promise<void> {
  const agent = new Agent({ connections: streams, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
  // Compiled and connected before the measured streams.
  await Promise.all(Array.from({ length: 16 }, () => readStream(agent, target)))
  const before = processorMs(target.pid) ?? Number.NaN
  let largest = readResidentMemory(target.pid)
  const sampling = setInterval(() => {
    const reading = readResidentMemory(target.pid)
    if (reading.total > largest.total) largest = reading
  }, sampleEveryMs)
  const times = await Promise.all(
    Array.from({ length: streams }, async (_, index) => {
      await setTimeout((index / streams) * openWithinMs)
      return readStream(agent, target)
    }),
  )
  clearInterval(sampling)
  const usPerChunk = (((processorMs(target.pid) ?? Number.NaN) - before) * 1000) / (streams * chunks)
  await agent.close()
  const column = (part: keyof StreamTimes) => times.map((time) => time[part]).toSorted((a, b) => a - b)
  const at = (sorted: number[], share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  const [first, gap, last] = [column('firstMs'), column('longestGapMs'), column('lastMs')]
  console.log(
    `${target.name.padEnd(10)} ${String(streams).padStart(5)} streams of ${chunks} chunks, one every ${everyMs} ms: ` +
      `first text p50 ${at(first, 0.5).toFixed(0)} p99 ${at(first, 0.99).toFixed(0)} ms   ` +
      `whole p50 ${(at(last, 0.5) / (chunks * everyMs)).toFixed(2)} × the upstream's pace   ` +
      `longest gap p50 ${at(gap, 0.5).toFixed(0)} p99 ${at(gap, 0.99).toFixed(0)} ms   ` +
      `${usPerChunk.toFixed(0)} µs processor a chunk   ${megabytes(largest.total)} MB (${describeParts(largest)})`,
  )
}

/** Throws if a chunk is missing, doubled or in another order. */
async function readStream(agent: Dispatcher, { name, url, key }: Target): Promise<StreamTimes> {
  const prompt = `chunks:${chunks} every:${everyMs}`
  const body = JSON.stringify({
    model: 'bench-model',
    stream: true,
    max_completion_tokens: 4_096,
    messages: [{ role: 'user', content: prompt }],
  })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const started = performance.now()
  const response = await request(url, { method: 'POST', headers, body, dispatcher: agent })
  const times: StreamTimes = { firstMs: 0, longestGapMs: 0, lastMs: 0 }
  let expected = 0
  let text = ''
  let readMs = 0
  let isEnded = false
  for await (const bytes of response.body) {
    text += String(bytes)
    isEnded = text.endsWith('data: [DONE]\n\n')
    // Whole events: a read may end in one.
    const end = text.lastIndexOf('\n\n') + 1
    const numbers = [...text.slice(0, end).matchAll(/"content":" (\d+)"/g)].map((match) => Number(match[1]))
    if (numbers.length > 0) {
      const nowMs = performance.now() - started
      if (expected === 0) times.firstMs = nowMs
      else times.longestGapMs = Math.max(times.longestGapMs, nowMs - readMs)
      readMs = nowMs
    }
    for (const number of numbers)
      if (number !== expected++) throw new Error(`${name}: chunk ${expected - 1} is missing`)
    text = text.slice(end)
  }
  if (response.statusCode !== 200 || expected !== chunks || !isEnded)
    throw new Error(`${name}: a stream ended with ${expected} chunks: ${text.slice(0, 300)}`)
  times.lastMs = performance.now() - started
  return times
}

function describeParts(memory: ResidentMemory): string {
  return Object.entries(memory)
    .filter(([name]) => name !== 'total')
    .map(([name, bytes]) => `${name} ${megabytes(bytes)}`)
    .join(', ')
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
