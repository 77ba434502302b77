import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'
import { version } from '../src/platform/kernel/index.ts'
import { pinToMeasuredCore, runWrk, startNginxUpstream } from './gateway/pinned-load.ts'
import { type Peer, recipes, startPeer } from './gateway/peers.ts'
import { startPortkey } from './gateway/portkey.ts'
import { startBenchPortico } from './gateway/portico.ts'
import { startRole } from './gateway/roles.ts'
import { describeThreads, readThreadTimes } from './gateway/thread-times.ts'
import { figureWriter, rotated } from './runner/figures.ts'
import { writePlot } from './runner/plot.ts'
import { processorMs, processorMsAtRest } from './runner/processor-time.ts'
import { median } from './runner/ratios.ts'

/**
 * What the gateway costs: requests per second, processor time, added latency and time to the first byte against an instant upstream, compared
 * with a bare Node proxy that only forwards bytes, in turns: with the ledger in the database, and with its local journal. Upstream, proxy
 * and both Porticos are separate processes; the load comes from this one. The time of one fdatasync of the same disk is measured
 * before. `--portkey` installs Portkey's gateway into a temporary folder and measures it as well; other gateways are measured where the path of
 * their program is given. `npm run bench:public` is the comparison of docs/understand/performance.md, and draws its picture.
 *
 *   npm run bench:gateway -- [--seconds 4] [--rounds 1] [--connections 16,1] [--kinds plain,streamed]
 *     [--journals none,database,local] [--portkey] [--litellm PROGRAM] [--bifrost PROGRAM] [--aigw PROGRAM]
 *     [--pinned] [--threads] [--warmup 20000] [--json FILE] [--picture FILE]
 *
 * `--journals none` measures the gateway without a ledger. `--pinned` gives the measured process one core for all its threads, and the
 * other core to wrk and an nginx upstream: rates that the load generator does not limit, of plain calls only. It needs wrk, nginx and
 * taskset, and an idle machine with two cores. `--threads` prints what the threads of each process take for a call (Linux).
 * `--warmup` is the number of calls before the first measured one; without it each case is warmed up for half of its time, 3 s at most, in which V8 has
 * not compiled everything of a slow subject.
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '16,1' },
    kinds: { type: 'string', default: 'plain,streamed' },
    journals: { type: 'string', default: 'database,local' },
    portkey: { type: 'boolean', default: false },
    litellm: { type: 'string' },
    bifrost: { type: 'string' },
    aigw: { type: 'string' },
    pinned: { type: 'boolean', default: false },
    threads: { type: 'boolean', default: false },
    warmup: { type: 'string' },
    json: { type: 'string' },
    picture: { type: 'string' },
  },
})
/** At least, so that a round on a busy machine is not a handful of requests. */
const requestsOfEach = 20
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const write = figureWriter(values.json)
const wanted = (journal: string) => values.journals.split(',').includes(journal)
const ledgers = ['database', 'local'].filter(wanted)

interface Target {
  name: string
  reference?: boolean
  url: string
  headers: Record<string, string>
  model?: string | undefined
  pid: number
}

interface Figures {
  requestsPerSecond: number
  /** Of the target's process, its background work included. */
  processorUs: number
  p50Ms: number
  p99Ms: number
  errors: number
}

const dataFolder = mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
printSyncTime(dataFolder)
const upstream = values.pinned ? await startNginxUpstream(path.join(dataFolder, 'nginx')) : await startUpstream()
const proxy = await startRole('proxy', { upstream: upstream.url })
const unmetered = wanted('none') ? await startRole('unmetered', { upstream: upstream.url }) : undefined
const peers = await startPeers()
const porticos = await Promise.all(
  ledgers.map(async (journal) => ({
    journal,
    ...(await startBenchPortico(path.join(dataFolder, journal), upstream.url, journal)),
  })),
)
try {
  const all = targets()
  if (values.pinned) for (const { name, pid } of all) if (name !== 'upstream alone') pinToMeasuredCore(pid)
  await run(all)
} finally {
  for (const portico of porticos) await portico.stop()
  for (const peer of peers) peer.stop()
  for (const role of [proxy, unmetered]) role?.child.kill()
  upstream.stop()
  rmSync(dataFolder, { recursive: true, force: true })
}

async function startUpstream() {
  const { url, child } = await startRole('upstream')
  return { url, pid: child.pid!, stop: () => child.kill() }
}

async function startPeers(): Promise<Peer[]> {
  const started = values.portkey ? [await startPortkey(path.join(dataFolder, 'portkey'), upstream.url)] : []
  for (const id of ['litellm', 'bifrost', 'aigw'] as const) {
    const program = values[id]
    if (program === undefined) continue
    started.push(await startPeer(recipes[id], { program, folder: path.join(dataFolder, id), upstream: upstream.url }))
  }
  return started.filter((peer) => peer !== undefined)
}

function targets(): Target[] {
  const chat = '/v1/chat/completions'
  const known = { reference: true, headers: { authorization: 'Bearer none' } }
  return [
    { name: 'upstream alone', url: upstream.url + chat, headers: known.headers, pid: upstream.pid },
    { ...known, name: 'bare Node proxy', url: proxy.url + chat, pid: proxy.child.pid! },
    ...peers.map(({ name, url, headers, model, pid }) => ({
      name,
      reference: true,
      url: url + chat,
      headers: { ...known.headers, ...headers },
      model,
      pid,
    })),
    ...(unmetered === undefined
      ? []
      : [
          {
            name: 'Portico (no ledger)',
            headers: { authorization: 'Bearer pk_bench' },
            url: `${unmetered.url}/v1/gateway/chat/completions`,
            pid: unmetered.child.pid!,
          },
        ]),
    ...porticos.map(({ journal, url, apiKey, child }) => ({
      name: `Portico (ledger: ${journal})`,
      url: `${url}/v1/gateway/chat/completions`,
      headers: { authorization: `Bearer ${apiKey}` },
      pid: child.pid!,
    })),
  ]
}

async function run(all: readonly Target[]): Promise<void> {
  const clientCounts = values.connections.split(',').map(Number)
  const rates = new Map<string, number[]>()
  for (const kind of values.kinds.split(',')) {
    const stream = kind === 'streamed'
    for (const clients of clientCounts) {
      const title = `${kind}, ${clients === 1 ? 'one at a time' : `${clients} at once`}`
      console.log(`\n${title}${stream ? ': time to the first text' : ''} (${rounds} rounds of ${seconds} s each)`)
      const measured = new Map<Target, Figures[]>(all.map((target) => [target, []]))
      for (const target of all) await warmUp(target, stream, clients)
      for (let round = 0; round < rounds; round++) {
        for (const target of rotated(all, round)) {
          const figures = await load(target, stream, clients, seconds, true)
          measured.get(target)!.push(figures)
          record(title, round, target, stream, figures)
        }
      }
      for (const [name, { requestsPerSecond }] of print(measured)) {
        if (kind === 'plain' && name !== 'upstream alone')
          rates.set(name, [...(rates.get(name) ?? []), requestsPerSecond])
      }
    }
  }
  if (values.picture !== undefined) drawRates(values.picture, clientCounts, rates)
}

function drawRates(file: string, sizes: readonly number[], rates: ReadonlyMap<string, readonly number[]>): void {
  const [{ model: processor } = { model: 'an unknown processor' }] = cpus()
  writePlot(file, {
    title: 'Completions per second, one core for each program, an upstream that answers at once',
    axis: 'calls at once',
    sizes,
    note: `Portico ${version}, Node.js ${process.version}, ${processor.trim()}, ${new Date().toISOString().slice(0, 10)}: npm run bench:public`,
    lines: [...rates].map(([name, values]) => ({ name, values })),
  })
}

async function warmUp(target: Target, stream: boolean, clients: number): Promise<void> {
  const wantedCalls = Number(values.warmup ?? 1)
  for (let done = 0; done < wantedCalls;) {
    const { requestsPerSecond } = await load(target, stream, clients, Math.min(3, seconds / 2))
    done += requestsPerSecond * Math.min(3, seconds / 2)
  }
}

function record(title: string, round: number, target: Target, stream: boolean, figures: Figures): void {
  if (figures.errors > 0 || target.name === 'upstream alone') return
  const figure = { case: title, round, subject: target.name, reference: target.reference }
  write({ ...figure, quantity: 'requests/s', value: figures.requestsPerSecond, better: 'higher' })
  write({ ...figure, quantity: 'processor us', value: figures.processorUs, better: 'lower' })
  const waited = stream ? 'ms to the first text' : 'ms'
  write({ ...figure, quantity: `${waited}, p50`, value: figures.p50Ms, better: 'lower' })
}

/** Prints the medians, and returns them by name. */
function print(measured: ReadonlyMap<Target, Figures[]>): Map<string, Figures> {
  const middle = (figures: readonly Figures[]): Figures => {
    const of = (key: keyof Figures) => median(figures.map((each) => each[key]))
    const errors = figures.reduce((sum, each) => sum + each.errors, 0)
    const [requestsPerSecond, processorUs, p50Ms, p99Ms] = [
      of('requestsPerSecond'),
      of('processorUs'),
      of('p50Ms'),
      of('p99Ms'),
    ]
    return { requestsPerSecond, processorUs, p50Ms, p99Ms, errors }
  }
  const rows = [...measured].map(([target, figures]) => ({ target, figures: middle(figures) }))
  const bare = rows.find(({ target }) => target.name === 'bare Node proxy')!.figures
  for (const { target, figures } of rows)
    console.log(describe(target.name, figures, target.name.startsWith('Portico') ? bare : undefined))
  return new Map(rows.map(({ target, figures }) => [target.name, figures]))
}

function describe(
  name: string,
  { requestsPerSecond, processorUs, p50Ms, p99Ms, errors }: Figures,
  bare: Figures | undefined,
): string {
  const line = `  ${name.padEnd(26)} ${requestsPerSecond.toFixed(0).padStart(7)} req/s   ${processorUs.toFixed(0).padStart(5)} us processor   p50 ${p50Ms.toFixed(2).padStart(7)} ms   p99 ${p99Ms.toFixed(2).padStart(7)} ms`
  const ratio = bare
    ? `   ${(requestsPerSecond / bare.requestsPerSecond).toFixed(2)} × the bare proxy's rate, +${(p50Ms - bare.p50Ms).toFixed(2)} ms p50, +${(p99Ms - bare.p99Ms).toFixed(2)} ms p99`
    : ''
  return line + ratio + (errors > 0 ? `   ${errors} ERRORS` : '')
}

async function load(
  target: Target,
  stream: boolean,
  clients: number,
  seconds: number,
  isMeasured = false,
): Promise<Figures> {
  const body = JSON.stringify({
    model: target.model ?? 'bench-model',
    stream,
    max_completion_tokens: 64,
    messages: [{ role: 'user', content: 'Say hello to the bench, please.' }],
  })
  const headers = { 'content-type': 'application/json', ...target.headers }
  const processorBefore = processorMs(target.pid) ?? Number.NaN
  const threadsBefore = values.threads && isMeasured ? readThreadTimes(target.pid) : undefined
  const { requests, elapsed, p50Ms, p99Ms, errors } = values.pinned
    ? await loadWithWrk(target.url, headers, body, clients, seconds)
    : await loadFromHere(target.url, headers, body, stream, clients, seconds)
  const processorAfter = (await processorMsAtRest(target.pid)) ?? Number.NaN
  if (threadsBefore) {
    const lines = describeThreads(threadsBefore, readThreadTimes(target.pid), requests)
    console.log([`    ${target.name}: ${requests} calls`, ...lines].join('\n      '))
  }
  return {
    requestsPerSecond: requests / elapsed,
    processorUs: ((processorAfter - processorBefore) * 1000) / requests,
    p50Ms,
    p99Ms,
    errors,
  }
}

interface Load {
  requests: number
  /** Seconds. */
  elapsed: number
  p50Ms: number
  p99Ms: number
  errors: number
}

async function loadWithWrk(
  url: string,
  headers: Record<string, string>,
  body: string,
  connections: number,
  seconds: number,
): Promise<Load> {
  const duration = Math.max(1, Math.round(seconds))
  const figures = await runWrk(dataFolder, url, { headers, body, connections, seconds: duration })
  return { ...figures, elapsed: figures.seconds }
}

async function loadFromHere(
  url: string,
  headers: Record<string, string>,
  body: string,
  stream: boolean,
  clients: number,
  seconds: number,
): Promise<Load> {
  const agent = new Agent({ connections: clients })
  const latencies: number[] = []
  let errors = 0
  const end = performance.now() + seconds * 1000
  const client = async () => {
    while (performance.now() < end || latencies.length < clients * requestsOfEach) {
      const start = performance.now()
      const response = await request(url, { method: 'POST', headers, body, dispatcher: agent })
      let first: number | undefined
      let text = ''
      for await (const chunk of response.body) {
        text += String(chunk)
        if (first === undefined && text.includes('hello')) first = performance.now()
      }
      if (response.statusCode !== 200 || first === undefined || (stream && !text.includes('[DONE]'))) errors++
      latencies.push((stream ? (first ?? performance.now()) : performance.now()) - start)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: clients }, client))
  const elapsed = (performance.now() - started) / 1000
  await agent.close()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return { requests: latencies.length, elapsed, p50Ms: at(0.5), p99Ms: at(0.99), errors }
}

/** What the disk of the data folder adds to a durable write of one caller. */
function printSyncTime(folder: string) {
  const descriptor = openSync(path.join(folder, 'sync'), 'w')
  const bytes = Buffer.alloc(1_000_000)
  writeSync(descriptor, bytes, 0, bytes.length, 0)
  const times = Array.from({ length: 200 }, (_, index) => {
    writeSync(descriptor, bytes, 0, 700, index * 700)
    const start = performance.now()
    fdatasyncSync(descriptor)
    return performance.now() - start
  }).sort((a, b) => a - b)
  closeSync(descriptor)
  console.log(`one fdatasync of 700 bytes: p50 ${times[100]!.toFixed(2)} ms, p99 ${times[197]!.toFixed(2)} ms`)
}
