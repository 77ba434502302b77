import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { percentile } from '../src/platform/kernel/index.ts'
import { createApiClient, expectStatus, organisationMakers } from '../test/harness/portico.ts'
import { startBenchPortico } from './gateway/portico.ts'
import { startRole } from './gateway/roles.ts'
import { figureWriter } from './runner/figures.ts'
import type { FloodKind, FloodTarget } from './neighbours/floods.ts'
import type { ProbedTarget, ProbeReport } from './neighbours/prober.ts'
import type { LoopReport } from './neighbours/turns.ts'

/**
 * What one organisation can do to the others: it sends each flood, and meanwhile another process sends `/livez`, over open connections and over a
 * new one each time, and completions of another organisation. The same flood and the same probes go to a bare Node server that passes
 * completions on, which shows what Node.js itself takes. Completions of the flood have a separate upstream. A window without a flood precedes
 * each one with it. Times are those of the main thread while a probe waited: other programs change them less than the clock.
 *
 *   npm run bench:neighbours -- [--seconds 8] [--floods streams:1000,slow-bodies:2000] [--rounds 2] [--sides portico,bare] [--json FILE]
 *
 * The figures of `--json` are what `npm run bench -- --check` compares with the recorded ratios.
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '1' },
    floods: {
      type: 'string',
      default:
        'streams:1000,streams:5000,slow-bodies:2000,half-headers:2000,large-bodies:8,tiny-parts:4,fields:16,wide-csv:1',
    },
    /** Keeps the processes between two windows apart. */
    pause: { type: 'string', default: '3' },
    sides: { type: 'string', default: 'portico,bare' },
    json: { type: 'string' },
  },
})
const write = figureWriter(values.json)

interface Side {
  name: string
  pid: number
  loopFile: string
  flooded: FloodTarget
  targets: ProbedTarget[]
}

interface Window {
  probes: ProbeReport[]
  /** Of the main thread: see `LoopReport`. */
  ticks: number[]
}

const none = 'none'
const completions = '/v1/gateway/chat/completions'
const completion = JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content: 'Say hello.' }] })
const folder = mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
let running: ChildProcess | undefined
process.on('exit', () => running?.kill('SIGKILL'))
const upstream = await startRole('upstream')
const floodUpstream = await startRole('upstream')
const bare = await startRole('proxy', {
  upstream: `${upstream.url},${floodUpstream.url}`,
  environment: measured('bare'),
})
const portico = await startBenchPortico(folder, upstream.url, 'local', measured('portico'), floodUpstream.url)
try {
  await run()
} finally {
  await portico.stop()
  upstream.child.kill()
  floodUpstream.child.kill()
  bare.child.kill()
  rmSync(folder, { recursive: true, force: true })
}

async function run() {
  const makers = organisationMakers(portico.url, portico.operator)
  const flooding = await makers.createOrganisation({ monthlyBudgetUsd: '100000' })
  const { id: spaceId } = await makers.createSpace(flooding)
  const sides = [
    side('portico', portico.url, portico.child, { completions, key: flooding.apiKey, spaceId }),
    side('bare', bare.url, bare.child, { completions: '/flood/completions', key: flooding.apiKey, spaceId }),
  ].filter(({ name }) => values.sides.split(',').includes(name))
  const floods = values.floods.split(',')
  const windows = new Map<string, Window[]>()
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const flood of floods) {
      for (const side of sides) {
        for (const kind of [none, flood]) {
          const of = `${side.name} ${kind}`
          const window = await measure(side, kind)
          windows.set(of, [...(windows.get(of) ?? []), window])
          record(side.name, { flood, kind, round }, window)
          await wait(Number(values.pause) * 1_000)
        }
      }
      console.error(`${flood}: done, load ${loadavg()[0]!.toFixed(1)}`)
    }
  }
  for (const { name } of sides) {
    for (const flood of [none, ...floods]) print(name, flood, windows)
  }
  expectStatus(await createApiClient(portico.url, portico.apiKey)('GET', '/v1/gateway/models'), 200)
}

/** What the other organisation waited for: the flood, next to the calm window before it. */
function record(
  side: string,
  { flood, kind, round }: { flood: string; kind: string; round: number },
  { probes }: Window,
) {
  const { busy } = probes.find(({ name }) => name === 'other')!
  write({
    case: flood,
    round,
    subject: kind === none ? `${side} without the flood` : side,
    reference: kind === none,
    quantity: 'processor ms of the main thread, p99 of the other organisation',
    value: percentile(sorted(busy), 0.99)!,
    better: 'lower',
  })
}

function measured(side: string): Record<string, string> {
  const turns = path.join(import.meta.dirname, 'neighbours/turns.ts')
  return { NODE_OPTIONS: `--import ${turns}`, BENCH_LOOP_FILE: loopFileOf(side) }
}

function loopFileOf(side: string): string {
  return path.join(folder, `loop-${side}.json`)
}

function side(name: string, url: string, { pid }: ChildProcess, flooding: Omit<FloodTarget, 'url'>): Side {
  const process = { pid: pid! }
  const targets = [
    { name: '/livez', url: `${url}/livez`, ...process },
    { name: 'new', url: `${url}/livez`, ...process, isFresh: true },
    { name: 'other', url: url + completions, ...process, key: portico.apiKey, body: completion },
  ]
  return { name, pid: pid!, loopFile: loopFileOf(name), targets, flooded: { url, ...flooding } }
}

/** One window. The flood begins in it, so that its beginning is measured. */
async function measure({ pid, loopFile, targets, flooded }: Side, flood: string): Promise<Window> {
  const prober = fork(path.join(import.meta.dirname, 'neighbours/prober.ts'), [JSON.stringify(targets)])
  await once(prober, 'message')
  process.kill(pid, 'SIGUSR2')
  const child = flood === none ? undefined : await startFlood(flood, flooded)
  await wait(Number(values.seconds) * 1_000)
  prober.send('stop')
  const [probes] = (await once(prober, 'message')) as [ProbeReport[]]
  child?.kill('SIGKILL')
  rmSync(loopFile, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(loopFile)) await wait(100)
  return { probes, ...(JSON.parse(readFileSync(loopFile, 'utf8')) as LoopReport) }
}

async function startFlood(flood: string, target: FloodTarget): Promise<ChildProcess> {
  const [kind, count] = flood.split(':') as [FloodKind, string]
  const file = path.join(import.meta.dirname, 'neighbours/floods.ts')
  const child = spawn(process.execPath, [file, kind, count, JSON.stringify(target)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running = child
  await once(child.stdout, 'data')
  return child
}

function print(side: string, flood: string, all: ReadonlyMap<string, Window[]>) {
  const windows = all.get(`${side} ${flood}`)!
  const calm = all.get(`${side} ${none}`)!
  const ticks = windows.flatMap((window) => window.ticks)
  const busyMs = ticks.reduce((sum, tick) => sum + tick, 0) / windows.length
  console.log(`\n${side}, ${flood}: median / p99 / longest, ms`)
  console.log(`  turns of the event loop ${show(ticks)}; ${busyMs.toFixed(0)} ms of the main thread in a window`)
  for (const [index, { name }] of windows[0]!.probes.entries()) {
    const of = (list: readonly Window[], field: 'busy' | 'wall') => list.flatMap(({ probes }) => probes[index]![field])
    const ratio = (field: 'busy' | 'wall') =>
      (percentile(sorted(of(windows, field)), 0.99)! / percentile(sorted(of(calm, field)), 0.99)!).toFixed(1)
    const failures = windows.map(({ probes }) => JSON.stringify(probes[index]!.failures)).join(' ')
    console.log(
      `  ${name.padEnd(7)} ${String(of(windows, 'wall').length).padStart(5)} probes  main thread ${show(of(windows, 'busy'))}, p99 × ${ratio('busy')}; by the clock ${show(of(windows, 'wall'))}, p99 × ${ratio('wall')}  ${failures}`,
    )
  }
}

function show(times: readonly number[]): string {
  const ordered = sorted(times)
  return [percentile(ordered, 0.5), percentile(ordered, 0.99), ordered.at(-1)]
    .map((value) => (value ?? 0).toFixed(1))
    .join(' / ')
}

function sorted(times: readonly number[]): number[] {
  return times.toSorted((left, right) => left - right)
}
