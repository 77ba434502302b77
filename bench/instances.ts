/**
 * How calls scale with instances on one PostgreSQL, by processor time: `npm run bench:instances [-- --instances 1,3 --calls 1500 --rounds 8
 * --concurrency 16]`, on the server of PORTICO_TEST_DATABASE_URL. Time on the clock cannot show it on a machine with fewer cores than
 * instances. For each number, so many processes serve one organisation through a new database, each with the same number of calls at once. A core
 * that a process has alone answers as many calls a second as fit into its processor time, without what the process takes at rest. The numbers
 * take turns. Fails if three instances scale by less than 2.7.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'
import { silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { runOnServer, urlOfDatabase } from '../test/harness/database-template.ts'
import { openDatabases } from '../test/harness/statements.ts'
import { startBenchPortico } from './gateway/portico.ts'
import { startRole } from './gateway/roles.ts'
import { readCpu } from './gateway-cpu/read-cpu.ts'
import { rotated } from './runner/figures.ts'
import { createConnectionTimes } from './runner/processor-time.ts'
import { median } from './runner/ratios.ts'

const { values } = parseArgs({
  options: {
    instances: { type: 'string', default: '1,3' },
    calls: { type: 'string', default: '1500' },
    rounds: { type: 'string', default: '8' },
    concurrency: { type: 'string', default: '16' },
  },
})
const [calls, rounds, concurrency] = [values.calls, values.rounds, values.concurrency].map(Number) as [
  number,
  number,
  number,
]
const numbers = values.instances.split(',').map(Number)
const server = process.env['PORTICO_TEST_DATABASE_URL']
if (!server) throw new Error('PORTICO_TEST_DATABASE_URL names no server')
/** Of three instances, next to one. */
const leastScale = 2.7
const restMs = 4_000
const warmUpCalls = 3_000
const body = JSON.stringify({
  model: 'bench-model',
  max_completion_tokens: 64,
  messages: [{ role: 'user', content: 'Say hello to the bench, please.' }],
})

interface Usage {
  /** Of all instances together. */
  instancesMs: number
  databaseMs: number
  seconds: number
}

/** Of one call. */
interface Cost {
  instanceMs: number
  databaseMs: number
  /** Of one instance, in a second without calls. */
  restMs: number
}

const upstream = await startRole('upstream')
const groups = []
for (const number of numbers) groups.push(await startGroup(number, upstream.url))
const measured = new Map(groups.map((group) => [group, [] as Cost[]]))
for (const group of groups) await load(group, warmUpCalls)
for (let round = 0; round < rounds; round++) {
  for (const group of rotated(groups, round)) measured.get(group)!.push(await measure(group))
}
const costs = groups.map((group) => mediansOf(measured.get(group)!))
for (const group of groups) await group.stop()
upstream.child.kill()

console.log(
  `load ${os.loadavg()[0]!.toFixed(1)}, ${rounds} rounds of ${calls} calls of each instance, ${concurrency} at once`,
)
console.log(
  'instances | instance ms a call | database ms a call | ms at rest a second | calls/s of so many cores | scale',
)
let isScaling = true
for (const [at, number] of numbers.entries()) {
  const { instanceMs, databaseMs, restMs: atRest } = costs[at]!
  const rate = rateOf(number, costs[at]!)
  const scale = rate / rateOf(numbers[0]!, costs[0]!)
  if (number === 3 && numbers[0] === 1 && scale < leastScale) isScaling = false
  console.log(
    [
      String(number).padStart(9),
      instanceMs.toFixed(3).padStart(18),
      databaseMs.toFixed(3).padStart(18),
      atRest.toFixed(1).padStart(19),
      rate.toFixed(0).padStart(24),
      scale.toFixed(2).padStart(5),
    ].join(' | '),
  )
}
if (!isScaling) console.log(`BELOW THE BOUND: ${leastScale}`)
process.exitCode = isScaling ? 0 : 1

function rateOf(number: number, { instanceMs, restMs: atRest }: Cost): number {
  return (number * (1000 - atRest)) / instanceMs
}

function mediansOf(all: readonly Cost[]): Cost {
  const middle = (name: keyof Cost) => median(all.map((cost) => cost[name]))
  return { instanceMs: middle('instanceMs'), databaseMs: middle('databaseMs'), restMs: middle('restMs') }
}

/** So many instances on a new database, and an organisation that all of them serve. */
async function startGroup(number: number, upstreamUrl: string) {
  const name = `bench_instances_${process.pid}_${number}`
  await runOnServer(server!, `create database ${name}`)
  const databaseUrl = urlOfDatabase(server!, name)
  const dataFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bench-'))
  const environment = {
    DATABASE_URL: databaseUrl,
    NODE_OPTIONS: `--import ${pathToFileURL(path.join(import.meta.dirname, 'gateway-cpu/cpu-probe.ts')).href}`,
  }
  const services: Awaited<ReturnType<typeof startBenchPortico>>[] = []
  // One after the other: the first makes the secret key in the folder.
  for (let at = 0; at < number; at++)
    services.push(await startBenchPortico(dataFolder, upstreamUrl, 'database', environment))
  const databases = await openDatabases({ dataFolder, databaseUrl, clock: systemClock, log: silentLog })
  const connections = createConnectionTimes(databases.control)
  return {
    services,
    connections,
    async read(): Promise<Omit<Usage, 'seconds'>> {
      const databaseMs = await connections.read()
      const readings = await Promise.all(services.map(({ child }) => readCpu(child)))
      return { instancesMs: readings.reduce((sum, { process: us }) => sum + us / 1000, 0), databaseMs }
    },
    async stop() {
      for (const service of services) await service.stop()
      await databases.close()
      await runOnServer(server!, `drop database ${name} with (force)`)
      fs.rmSync(dataFolder, { recursive: true })
    },
  }
}

type Group = Awaited<ReturnType<typeof startGroup>>

async function measure(group: Group): Promise<Cost> {
  const number = group.services.length
  const atRest = await usageOf(group, () => wait(restMs))
  const busy = await usageOf(group, () => load(group, calls))
  const restShare = busy.seconds / atRest.seconds
  return {
    instanceMs: (busy.instancesMs - atRest.instancesMs * restShare) / (number * calls),
    databaseMs: (busy.databaseMs - atRest.databaseMs * restShare) / (number * calls),
    restMs: atRest.instancesMs / atRest.seconds / number,
  }
}

async function usageOf(group: Group, work: () => Promise<void>): Promise<Usage> {
  const before = await group.read()
  const startedMs = performance.now()
  await group.connections.during(work)
  const seconds = (performance.now() - startedMs) / 1000
  const after = await group.read()
  return {
    instancesMs: after.instancesMs - before.instancesMs,
    databaseMs: after.databaseMs - before.databaseMs,
    seconds,
  }
}

/** So many calls of each instance, with the key of one organisation. */
async function load({ services }: Group, callsOfEach: number): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${services[0]!.apiKey}` }
  await Promise.all(
    services.map(async ({ url }) => {
      const agent = new Agent({ connections: concurrency, pipelining: 1 })
      let left = callsOfEach
      const client = async () => {
        while (left-- > 0) {
          const response = await request(`${url}/v1/gateway/chat/completions`, {
            method: 'POST',
            headers,
            body,
            dispatcher: agent,
          })
          const text = await response.body.text()
          if (response.statusCode !== 200) throw new Error(text.slice(0, 300))
        }
      }
      await Promise.all(Array.from({ length: concurrency }, client))
      await agent.close()
    }),
  )
}
