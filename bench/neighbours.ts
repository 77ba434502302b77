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
import type { FloodKind } from './neighbours/floods.ts'
import type { ProbedTarget, ProbeReport, Times } from './neighbours/prober.ts'

/**
 * What one organisation can do to the others: it sends each flood, and meanwhile another process sends `/livez`, over one connection and over a new
 * one each time, and completions of another organisation. A bare Node proxy that nobody floods answers the same completions in the same windows: it shows what the machine does at that
 * moment. Printed are the other organisation's completions in relation to its own without a flood, and both in relation to the bare proxy.
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

const completion = JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content: 'Say hello.' }] })
const folder = mkdtempSync(path.join(tmpdir(), 'portico-bench-'))
const upstream = await startRole('upstream')
const bare = await startRole('proxy', { upstream: upstream.url })
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
  const pid = portico.child.pid!
  const targets: ProbedTarget[] = [
    { name: '/livez', url: `${portico.url}/livez`, pid },
    { name: 'new', url: `${portico.url}/livez`, pid, isFresh: true },
    { name: 'other', url: `${portico.url}/v1/gateway/chat/completions`, pid, key: portico.apiKey, body: completion },
    { name: 'bare', url: `${bare.url}/v1/chat/completions`, pid: bare.child.pid!, body: completion },
  ]
  const target = { url: portico.url, key: flooding.apiKey, spaceId }
  const calm = await probe(targets, async () => {})
  print('none', calm, calm)
  for (const flood of values.floods.split(',')) {
    const [kind, count] = flood.split(':') as [FloodKind, string]
    const reports = await probe(targets, () => startFlood(kind, count!, target))
    print(flood, reports, calm)
    await wait(Number(values.pause) * 1_000)
  }
  expectStatus(await createApiClient(portico.url, portico.apiKey)('GET', '/v1/gateway/models'), 200)
}

/** One window. The flood begins in it, so that its beginning is measured. */
async function probe(targets: readonly ProbedTarget[], start: () => Promise<ChildProcess | void>) {
  const prober = fork(path.join(import.meta.dirname, 'neighbours/prober.ts'), [JSON.stringify(targets)])
  await once(prober, 'message')
  const flood = await start()
  await wait(Number(values.seconds) * 1_000)
  prober.send('stop')
  const [reports] = (await once(prober, 'message')) as [ProbeReport[]]
  flood?.kill('SIGKILL')
  return new Map(reports.map((report) => [report.name, report]))
}

async function startFlood(kind: string, count: string, target: object): Promise<ChildProcess> {
  const file = path.join(import.meta.dirname, 'neighbours/floods.ts')
  const child = spawn(process.execPath, [file, kind, count, JSON.stringify(target)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.on('exit', () => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

function print(flood: string, reports: ReadonlyMap<string, ProbeReport>, calm: ReadonlyMap<string, ProbeReport>) {
  console.log(
    `\n${flood.padEnd(30)} median / p99 / longest: ms by the clock (p99 × without flood, longest × bare), ms of the main thread`,
  )
  const bareReport = reports.get('bare')!
  for (const [name, { probes, wall, busy, failures }] of reports) {
    const own = (wall.p99 / calm.get(name)!.wall.p99).toFixed(1)
    const toBare = (wall.longest / bareReport.wall.longest).toFixed(1)
    console.log(
      `  ${name.padEnd(7)} ${String(probes).padStart(5)} probes  ${show(wall)} (${own} ×, ${toBare} ×)   ${show(busy)}   ${describe(failures)}`,
    )
  }
}

function show({ median, p99, longest }: Times): string {
  return [median, p99, longest].map((value) => value.toFixed(1).padStart(7)).join(' /')
}

function describe(failures: Record<string, number>): string {
  return Object.entries(failures)
    .map(([status, count]) => `${status}: ${count}`)
    .join(' ')
}
