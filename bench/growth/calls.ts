import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { Agent, request } from 'undici'
import { percentile } from '../../src/platform/kernel/index.ts'
import { startBenchPortico } from '../gateway/portico.ts'
import { readCpu } from '../gateway-cpu/read-cpu.ts'
import { rotated } from '../runner/figures.ts'
import { createConnectionTimes } from '../runner/processor-time.ts'
import { median } from '../runner/ratios.ts'
import { usageOrganisation } from '../usage-data.ts'
import type { GrowthPlace } from './place.ts'
import { type OpenedDatabases } from '../../test/harness/statements.ts'

const connections = 16
const dayMs = 86_400_000
const timeoutMs = 600_000
/** Longer than the removal of a day with 10,000 organisations takes. */
const removalMs = 12_000
const body = JSON.stringify({
  model: 'bench-model',
  max_completion_tokens: 64,
  messages: [{ role: 'user', content: 'Say hello to the bench, please.' }],
})

export interface CallCost {
  /** Of the service and, on a server of this machine, of its connections. Medians over the rounds. */
  processorMs: number
  p50Ms: number
  p95Ms: number
}

export interface CallAmount {
  calls: number
  rounds: number
}

interface Target {
  place: GrowthPlace
  service: Awaited<ReturnType<typeof startBenchPortico>>
  /** API key of the organisation that has half of the entries. */
  key: string
  /** Only on a server: the embedded one belongs to the service. */
  databases: OpenedDatabases | undefined
  connections: ReturnType<typeof createConnectionTimes> | undefined
}

/** The sizes take turns, so that other programs disturb all of them alike. */
export async function measureCalls(
  places: readonly GrowthPlace[],
  upstream: string,
  { calls, rounds }: CallAmount,
): Promise<CallCost[]> {
  const targets: Target[] = []
  for (const place of places) targets.push(await startTarget(place, upstream))
  for (const target of targets) await load(target, 10 * calls)
  const measured = new Map(targets.map((target) => [target, [] as CallCost[]]))
  for (let round = 0; round < rounds; round += 1) {
    for (const target of rotated(targets, round)) measured.get(target)!.push(await measure(target, calls))
  }
  for (const target of targets) await stopTarget(target)
  return targets.map((target) => medians(measured.get(target)!))
}

export interface RemovalCost extends CallCost {
  removed: number
  remaining: number
}

/** Calls while a service removes the entries of the first days, one size after the other. */
export async function measureRemoval(
  places: readonly GrowthPlace[],
  upstream: string,
  { calls, rounds }: CallAmount,
): Promise<RemovalCost[]> {
  const costs: RemovalCost[] = []
  for (const place of places) {
    const { keepDays, before, entries } = await findOldestDay(place)
    const target = await startTarget(place, upstream, { PORTICO_LEDGER_KEEP_ENTRIES_DAYS: String(keepDays) })
    const measured: CallCost[] = []
    const endMs = performance.now() + removalMs
    while (measured.length < rounds || performance.now() < endMs) measured.push(await measure(target, calls))
    await stopTarget(target)
    const remaining = await countBefore(place, before)
    costs.push({ ...medians(measured), removed: entries - remaining, remaining })
  }
  return costs
}

/** The setting that removes the first whole day of the data, and how many entries that are. */
async function findOldestDay(place: GrowthPlace) {
  const { control, close } = await place.open()
  const [row] = await control.query<{ at: Date }>('select min(started_at) as at from ledger_entries', [], { timeoutMs })
  await close()
  const firstKeptDay = Math.floor(row!.at.getTime() / dayMs) + 2
  const before = new Date(firstKeptDay * dayMs)
  const keepDays = Math.floor(Date.now() / dayMs) - firstKeptDay
  return { keepDays, before, entries: await countBefore(place, before) }
}

async function countBefore(place: GrowthPlace, before: Date): Promise<number> {
  const { control, close } = await place.open()
  const [row] = await control.query<{ entries: bigint }>(
    'select count(*) as entries from ledger_entries where started_at < $1',
    [before],
    { timeoutMs },
  )
  await close()
  return Number(row!.entries)
}

async function startTarget(
  place: GrowthPlace,
  upstream: string,
  environment: Record<string, string> = {},
): Promise<Target> {
  const service = await startBenchPortico(place.dataFolder, upstream, 'database', {
    ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
    NODE_OPTIONS: `--import ${pathToFileURL(path.join(import.meta.dirname, '../gateway-cpu/cpu-probe.ts')).href}`,
    ...environment,
  })
  const answer = await service.operator('POST', `/api/organisations/${usageOrganisation(0)}/api-key`)
  const databases = place.databaseUrl === undefined ? undefined : await place.open()
  const connections = databases && createConnectionTimes(databases.control)
  return { place, service, key: (answer.body as { key: string }).key, databases, connections }
}

async function stopTarget({ service, databases }: Target): Promise<void> {
  await service.stop()
  await databases?.close()
}

async function measure(target: Target, calls: number): Promise<CallCost> {
  const before = await readProcessorMs(target)
  const work = () => load(target, calls)
  const times = await (target.connections?.during(work) ?? work())
  const after = await readProcessorMs(target)
  const { length } = times
  return { processorMs: (after - before) / length, p50Ms: percentile(times, 0.5)!, p95Ms: percentile(times, 0.95)! }
}

/** Durations of the calls in ms, ascending. */
async function load({ service, key }: Target, calls: number): Promise<number[]> {
  const agent = new Agent({ connections, pipelining: 1 })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const times: number[] = []
  let left = calls
  const client = async () => {
    while (left-- > 0) {
      const startMs = performance.now()
      const url = `${service.url}/v1/gateway/chat/completions`
      const response = await request(url, { method: 'POST', headers, body, dispatcher: agent })
      const text = await response.body.text()
      if (response.statusCode !== 200) throw new Error(text.slice(0, 300))
      times.push(performance.now() - startMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  await agent.close()
  return times.sort((a, b) => a - b)
}

async function readProcessorMs({ service, connections }: Target): Promise<number> {
  const connectionsMs = (await connections?.read()) ?? 0
  const { process: serviceUs } = await readCpu(service.child)
  return serviceUs / 1000 + connectionsMs
}

function medians(costs: readonly CallCost[]): CallCost {
  const middle = (of: (cost: CallCost) => number) => median(costs.map(of))
  return {
    processorMs: middle((cost) => cost.processorMs),
    p50Ms: middle((cost) => cost.p50Ms),
    p95Ms: middle((cost) => cost.p95Ms),
  }
}
