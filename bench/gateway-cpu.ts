import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'
import type { CpuReading } from './gateway-cpu/cpu-probe.ts'
import { printHotModules } from './gateway-cpu/hot-modules.ts'
import { readCpu } from './gateway-cpu/read-cpu.ts'
import { startBenchPortico } from './gateway/portico.ts'
import { startRole } from './gateway/roles.ts'
import { rotated } from './runner/figures.ts'
import { median } from './runner/ratios.ts'

/**
 * Processor time of one call, in microseconds, as a ratio to a bare Node proxy: of the main thread and of the whole process. It
 * depends less on other programs than rates do. The targets take turns; the median of all rounds and the least are printed. "no-ledger" is
 * version 1 of the gateway with a ledger that records nothing, "version-2" the same process with the routes of version 2, "telemetry" is "local" that exports metrics and the traces of a tenth of the calls,
 * "traced" of all; "idle" is the time for each call in which the main thread had nothing to do.
 *
 *   npm run bench:gateway-cpu -- --calls 500 --rounds 9 --connections 16 --targets no-ledger,version-2,local,database
 *
 * With `--profile FOLDER`, each round is profiled (the figures of that run are higher), and the last is kept, and the functions' own times
 * are printed by module. With `--folder FOLDER`, the data is kept for the next run, whose start is then faster.
 * With `--before FOLDER`, "before" is the gateway of another copy of the project without a ledger.
 */

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '9' },
    /** Times `--calls`, before the first round: until V8 has compiled what runs. */
    warmup: { type: 'string', default: '10' },
    connections: { type: 'string', default: '16' },
    targets: { type: 'string', default: 'no-ledger,version-2,local,database' },
    work: { type: 'string', default: 'plain,streamed,chunks,100KB,10MB,tools-image' },
    profile: { type: 'string' },
    folder: { type: 'string' },
    before: { type: 'string' },
  },
})

interface Target {
  name: string
  url: string
  key: string
  child: ChildProcess
  stop(): Promise<unknown>
}

interface Work {
  name: string
  body: string
  /** Calls of one round; fewer than `--calls` where one call is long. */
  calls: number
  connections: number
  /** Targets that accept it; all if absent. */
  targets?: readonly string[]
  /** What a whole answer ends with, and the number of its chunks of text. */
  end: string
  chunks?: number
}

const calls = Number(values.calls)
const connections = Number(values.connections)
const pacedChunks = 100
const benchTools = 20
const imageBytes = 1_000_000

await run()

async function run() {
  const folder = values.folder ?? mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
  const upstream = await startRole('upstream')
  const targets = await startTargets(folder, upstream.url)
  try {
    for (const work of chosenWorks()) {
      const { targets: accepting = targets.map(({ name }) => name) } = work
      await compare(
        work,
        targets.filter(({ name }) => accepting.includes(name)),
      )
    }
  } finally {
    for (const target of targets) await target.stop()
    upstream.child.kill()
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function startTargets(folder: string, upstream: string): Promise<Target[]> {
  const environment = (name: string) => ({
    NODE_OPTIONS: `--import ${pathToFileURL(path.join(import.meta.dirname, 'gateway-cpu/cpu-probe.ts')).href}`,
    ...(values.profile !== undefined && { BENCH_PROFILE: path.resolve(values.profile, `${name}.cpuprofile`) }),
  })
  const role = async (name: 'proxy' | 'unmetered', title: string, address: string, project?: string) => {
    const { url, child } = await startRole(name, { upstream, environment: environment(title), project })
    return { name: title, url: url + address, key: 'none', child, stop: async () => child.kill() }
  }
  const wanted = values.targets.split(',')
  const targets: Target[] = [await role('proxy', 'bare', '/v1/chat/completions')]
  if (wanted.includes('no-ledger')) targets.push(await role('unmetered', 'no-ledger', '/v1/gateway/chat/completions'))
  if (wanted.includes('version-2')) targets.push(await role('unmetered', 'version-2', '/v2/gateway/chat/completions'))
  if (values.before !== undefined)
    targets.push(await role('unmetered', 'before', '/v1/gateway/chat/completions', values.before))
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: await startCollector() }
  const services: [name: string, journal: string, variables: Record<string, string>][] = [
    ['local', 'local', {}],
    ['database', 'database', {}],
    ['telemetry', 'local', collector],
    ['traced', 'local', { ...collector, PORTICO_TRACES_SAMPLE_RATIO: '1' }],
  ]
  for (const [name, journal, variables] of services) {
    if (!wanted.includes(name)) continue
    const all = { ...environment(name), ...variables }
    const { url, apiKey: key, child, stop } = await startBenchPortico(path.join(folder, name), upstream, journal, all)
    targets.push({ name, url: `${url}/v1/gateway/chat/completions`, key, child, stop })
  }
  return targets
}

/** Accepts every export. Ends with this process. */
async function startCollector(): Promise<string> {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()))
  server.unref().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function chosenWorks(): Work[] {
  const body = (content: string, stream = false) =>
    JSON.stringify({ model: 'bench-model', stream, max_completion_tokens: 64, messages: messagesOf(content) })
  const short = 'Say hello to the bench, please.'
  const works: Work[] = [
    { name: 'plain', body: body(short), calls, connections, end: '}' },
    { name: 'streamed', body: body(short, true), calls, connections, end: '[DONE]\n\n' },
    {
      name: 'chunks',
      body: body(`chunks:${pacedChunks} every:5`, true),
      calls: Math.ceil(calls / 10),
      connections: connections * 4,
      end: '[DONE]\n\n',
      chunks: pacedChunks,
    },
    {
      name: '100KB',
      body: body('Some words of a prompt. '.repeat(4_300)),
      calls: Math.ceil(calls / 10),
      connections,
      end: '}',
    },
    { name: '10MB', body: body('Some words of a prompt. '.repeat(430_000)), calls: 12, connections: 2, end: '}' },
    {
      name: 'tools-image',
      body: bodyWithToolsAndImage(),
      calls: Math.ceil(calls / 10),
      connections,
      end: '}',
      targets: ['bare', 'version-2'],
    },
  ]
  const wanted = values.work.split(',')
  return works.filter(({ name }) => wanted.includes(name))
}

/** A question with an image, and 20 functions with four arguments each. */
function bodyWithToolsAndImage(): string {
  const argument = (name: string) => ({
    type: 'string',
    description: `The ${name} of the order, as the customer wrote it.`,
  })
  const tools = Array.from({ length: benchTools }, (_, index) => ({
    type: 'function',
    function: {
      name: `change_order_${index}`,
      description: 'Changes one field of an order and returns the order as it is afterwards.',
      parameters: {
        type: 'object',
        properties: Object.fromEntries(
          ['number', 'customer', 'article', 'reason'].map((name) => [name, argument(name)]),
        ),
        required: ['number', 'reason'],
        additionalProperties: false,
      },
    },
  }))
  const image = Buffer.concat([pngHead(1024, 1024), randomBytes(imageBytes)]).toString('base64')
  const content = [
    { type: 'text', text: 'What is in this picture?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
  ]
  const messages = [{ role: 'user', content }]
  return JSON.stringify({ model: 'bench-model', max_completion_tokens: 64, messages, tools })
}

/** The signature and the first chunk, which has the size. */
function pngHead(width: number, height: number): Buffer {
  const head = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\0\x08\x02\0\0\0\0\0\0\0', 'latin1')
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  return head
}

/** A message has at most 200,000 characters. */
function messagesOf(content: string) {
  const messages = []
  for (let start = 0; start < content.length; start += 200_000)
    messages.push({ role: 'user', content: content.slice(start, start + 200_000) })
  return messages
}

async function compare(work: Work, targets: readonly Target[]) {
  const readings = new Map(targets.map(({ name }) => [name, [] as CpuReading[]]))
  for (const target of targets) await load(target, { ...work, calls: work.calls * Number(values.warmup) })
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const target of rotated(targets, round)) {
      const before = await readCpu(target.child)
      await load(target, work)
      const after = await readCpu(target.child)
      const perCall = (part: keyof CpuReading) => (after[part] - before[part]) / work.calls
      readings.get(target.name)!.push({ thread: perCall('thread'), process: perCall('process'), idle: perCall('idle') })
    }
  }
  console.log(
    `\n${work.name} (${work.connections} connections, ${work.calls} calls a round), µs of processor time per call`,
  )
  const bare = readings.get('bare')!
  for (const { name } of targets) {
    const own = readings.get(name)!
    const columns = (['thread', 'process'] as const).map((part) => {
      const figures = own.map((reading) => reading[part])
      const ofBare = bare.map((reading) => reading[part])
      const least = Math.min(...figures)
      const ratios = `${(median(figures) / median(ofBare)).toFixed(2)} × (${(least / Math.min(...ofBare)).toFixed(2)} ×)`
      return `${part}: ${median(figures).toFixed(0)} (least ${least.toFixed(0)})`.padEnd(30) + ratios.padEnd(18)
    })
    const idle = median(own.map((reading) => reading.idle)).toFixed(0)
    console.log(`  ${name.padEnd(10)} ${columns.join('  ')}  idle: ${idle}`)
  }
  if (values.profile === undefined) return
  for (const { name } of targets) {
    console.log(`\n${work.name}, ${name}: own time by module`)
    printHotModules(path.resolve(values.profile, `${name}.cpuprofile`), work.calls)
  }
}

async function load(target: Target, work: Work): Promise<void> {
  const agent = new Agent({ connections: work.connections, pipelining: 1, bodyTimeout: 60_000 })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${target.key}` }
  let left = work.calls
  const client = async () => {
    while (left-- > 0) {
      const response = await request(target.url, { method: 'POST', headers, body: work.body, dispatcher: agent })
      const text = await response.body.text()
      if (response.statusCode !== 200 || !text.endsWith(work.end))
        throw new Error(`${target.name}: ${text.slice(0, 300)}`)
      if (work.chunks === undefined) continue
      const numbers = [...text.matchAll(/"content":" (\d+)"/g)].map((match) => Number(match[1]))
      if (numbers.length !== work.chunks || numbers.some((number, index) => number !== index))
        throw new Error(`${target.name}: a chunk was lost`)
    }
  }
  await Promise.all(Array.from({ length: work.connections }, client))
  await agent.close()
}
