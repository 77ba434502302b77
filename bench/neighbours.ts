import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createApiClient, expectStatus, organisationMakers } from '../test/harness/portico.ts'
import { startBenchPortico } from './gateway/portico.ts'
import { startRole } from './gateway/roles.ts'
import type { FloodKind, FloodTarget } from './neighbours/floods.ts'
import type { ProbedTarget, ProbeReport, Times } from './neighbours/prober.ts'

/**
 * What one organisation can do to the others: it sends each flood, and meanwhile another process sends `/livez`, over one connection and over a
 * new one each time, and completions of another organisation. Then the same flood and the same probes go to a bare Node server, which shows
 * what Node.js itself takes. Times are those of the main thread while a probe waited: other programs change them less than the clock.
 *
 *   npm run bench:neighbours -- [--seconds 8] [--floods streams:1000,slow-bodies:2000]
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    floods: {
      type: 'string',
      default:
        'streams:1000,streams:5000,slow-bodies:2000,half-headers:2000,large-bodies:8,tiny-parts:4,fields:16,wide-csv:1',
    },
    /** Keeps the processes between two windows apart. */
    pause: { type: 'string', default: '3' },
  },
})

type Reports = ReadonlyMap<string, ProbeReport>

interface Side {
  name: string
  flooded: FloodTarget
  targets: ProbedTarget[]
}

const completion = JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content: 'Say hello.' }] })
const folder = mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
let running: ChildProcess | undefined
process.on('exit', () => running?.kill('SIGKILL'))
const upstream = await startRole('upstream')
const bare = await startRole('server')
const portico = await startBenchPortico(folder, upstream.url, 'local')
try {
  await run()
} finally {
  await portico.stop()
  upstream.child.kill()
  bare.child.kill()
  rmSync(folder, { recursive: true, force: true })
}

async function run() {
  const makers = organisationMakers(portico.url, portico.operator)
  const flooding = await makers.createOrganisation({ monthlyBudgetUsd: '100000' })
  const { id: spaceId } = await makers.createSpace(flooding)
  const sides = [
    side('portico', portico.url, portico.child, { key: flooding.apiKey, spaceId }),
    side('bare', bare.url, bare.child, { key: flooding.apiKey, spaceId }),
  ]
  const calm = new Map<string, Reports>()
  for (const { name, targets } of sides) {
    calm.set(name, await probe(targets, async () => {}))
    print('no flood', name, calm)
  }
  for (const flood of values.floods.split(',')) {
    const [kind, count] = flood.split(':') as [FloodKind, string]
    for (const { name, targets, flooded } of sides) {
      print(flood, name, calm, await probe(targets, () => startFlood(kind, count, flooded)))
      await wait(Number(values.pause) * 1_000)
    }
  }
  expectStatus(await createApiClient(portico.url, portico.apiKey)('GET', '/v1/gateway/models'), 200)
}

function side(name: string, url: string, { pid }: ChildProcess, flooding: { key: string; spaceId: string }): Side {
  const process = { pid: pid! }
  const targets = [
    { name: '/livez', url: `${url}/livez`, ...process },
    { name: 'new', url: `${url}/livez`, ...process, isFresh: true },
    { name: 'other', url: `${url}/v1/gateway/chat/completions`, ...process, key: portico.apiKey, body: completion },
  ]
  return { name, targets, flooded: { url, ...flooding } }
}

/** One window. The flood begins in it, so that its beginning is measured. */
async function probe(targets: readonly ProbedTarget[], start: () => Promise<ChildProcess | void>): Promise<Reports> {
  const prober = fork(path.join(import.meta.dirname, 'neighbours/prober.ts'), [JSON.stringify(targets)])
  await once(prober, 'message')
  const flood = await start()
  await wait(Number(values.seconds) * 1_000)
  prober.send('stop')
  const [reports] = (await once(prober, 'message')) as [ProbeReport[]]
  flood?.kill('SIGKILL')
  return new Map(reports.map((report) => [report.name, report]))
}

async function startFlood(kind: string, count: string, target: FloodTarget): Promise<ChildProcess> {
  const file = path.join(import.meta.dirname, 'neighbours/floods.ts')
  const child = spawn(process.execPath, [file, kind, count, JSON.stringify(target)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running = child
  await once(child.stdout, 'data')
  return child
}

function print(flood: string, side: string, calm: ReadonlyMap<string, Reports>, reports = calm.get(side)!) {
  console.log(
    `\n${flood.padEnd(16)} ${side.padEnd(8)} main thread, ms: median / p99 / longest (p99 × no flood); the same by the clock`,
  )
  for (const [name, { probes, wall, busy, failures }] of reports) {
    const own = calm.get(side)!.get(name)!
    console.log(
      `  ${name.padEnd(7)} ${String(probes).padStart(5)} probes  ${show(busy, own.busy)}   ${show(wall, own.wall)}   ${describe(failures)}`,
    )
  }
}

function show({ median, p99, longest }: Times, calm: Times): string {
  const figures = [median, p99, longest].map((value) => value.toFixed(1).padStart(6)).join(' /')
  return `${figures} (${(p99 / calm.p99).toFixed(1).padStart(4)} ×)`
}

function describe(failures: Record<string, number>): string {
  return Object.entries(failures)
    .map(([status, count]) => `${status}: ${count}`)
    .join(' ')
}
