/**
 * What the pages of usage reports cost with many calls: `npm run bench:usage-reports [-- --entries 10000000] [--rounds 20] [--data FOLDER] [--json FILE]`.
 * One organisation has half of the entries over 400 days, 999 others have the rest (usage-data.ts). Embedded engine, or the server that
 * PORTICO_TEST_DATABASE_URL names. The figures of `--json` compare two reports with the same sums by plain SQL over the entries. 10 million entries need about 11 GB of disk. `--data` keeps the data for further runs, on a server in a
 * database with the name of the folder: delete both.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createLedger } from '../src/gateway/billing/index.ts'
import { silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { runOnServer, testServerUrl, urlOfDatabase } from '../test/harness/database-template.ts'
import { countRowsRead } from './rows-read.ts'
import { figureWriter } from './runner/figures.ts'
import { runPaired } from './runner/paired.ts'
import { fillUsage, usageOrganisation } from './usage-data.ts'
import { type UsagePage, usagePages } from './usage-pages.ts'
import { openDatabases } from '../test/harness/statements.ts'

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '20' },
    data: { type: 'string' },
    json: { type: 'string' },
  },
})
const entries = Number(values.entries)
const rounds = Number(values.rounds)
const comparedRounds = Math.min(rounds, 3)
const write = figureWriter(values.json)
/** The bound of each page's data. */
const boundMs = 300
const timeoutMs = 60 * 60_000

const place = await openPlace()
const { control } = place.databases
console.log(
  `${control.engine} ${control.features.serverVersion}, ${entries} entries, load ${os.loadavg()[0]!.toFixed(1)}`,
)
const big = usageOrganisation(0)
await fillUsage(control, { entries, organisations: 1_000 })
const slowest = await measure()
await place.remove()
console.log(
  slowest <= boundMs
    ? `every p95 is below ${boundMs} ms`
    : `ABOVE THE BOUND of ${boundMs} ms: ${slowest.toFixed(0)} ms`,
)
process.exitCode = slowest <= boundMs ? 0 : 1

async function openPlace() {
  const kept = values.data
  const dataFolder = kept === undefined ? fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bench-')) : path.resolve(kept)
  const url = testServerUrl()
  const name = `portico_bench_${kept === undefined ? randomBytes(4).toString('hex') : path.basename(dataFolder)}`
  if (url !== undefined) await createDatabase(url, name)
  const databaseUrl = url === undefined ? undefined : urlOfDatabase(url, name)
  const databases = await openDatabases({ dataFolder, databaseUrl, clock: systemClock, log: silentLog })
  return {
    databases,
    async remove() {
      await databases.close()
      if (kept !== undefined) return
      if (url !== undefined) await runOnServer(url, `drop database ${name} with (force)`)
      fs.rmSync(dataFolder, { recursive: true })
    },
  }
}

async function createDatabase(url: string, name: string): Promise<void> {
  await runOnServer(url, `create database ${name}`).catch((error: unknown) => {
    const exists = values.data !== undefined && (error as { code?: string }).code === '42P04'
    if (!exists) throw error
  })
}

async function measure(): Promise<number> {
  const reads = countRowsRead(control)
  const ledger = await createLedger({ database: reads.database, clock: systemClock, log: silentLog })
  const pages = usagePages(reads.database, ledger)
  let slowest = 0
  console.log(
    `load ${os.loadavg()[0]!.toFixed(1)}; ${rounds} rounds\n${'page'.padEnd(56)} | p50 ms | p95 ms | CPU ms of this process | rows read`,
  )
  for (const [name, load] of pages) {
    const rowsRead = await reads.during(load)
    await load()
    const times: number[] = []
    const cpu = process.cpuUsage()
    for (let round = 0; round < rounds; round += 1) {
      const startMs = performance.now()
      await load()
      times.push(performance.now() - startMs)
    }
    const used = process.cpuUsage(cpu)
    const cpuMs = (used.user + used.system) / 1000 / rounds
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))]!
    slowest = Math.max(slowest, at(0.95))
    console.log(
      `${name.padEnd(56)} | ${at(0.5).toFixed(0).padStart(6)} | ${at(0.95).toFixed(0).padStart(6)} | ${cpuMs.toFixed(0).padStart(22)} | ${rowsRead.toFixed(0).padStart(9)}`,
    )
  }
  if (values.json !== undefined) await compare(pages)
  await ledger.close()
  return slowest
}

/** What a report would be without the sums. */
async function compare(pages: readonly UsagePage[]): Promise<void> {
  for (const [name, since] of [
    ['report: 30 days by Space', 30],
    ['report: 398 days by model', 398],
  ] as const) {
    const call = pages.find(([page]) => page === name)![1]
    const sums = () =>
      control.query(
        `select (started_at at time zone 'Europe/Berlin')::date, ${name.endsWith('model') ? 'model' : 'space_id'}, count(*),
           sum(prompt_tokens), sum(completion_tokens), sum(billed_pico_usd)
         from ledger_entries where organisation_id = $1 and started_at > now() - $2::int8 * interval '1 day' group by 1, 2`,
        [big, BigInt(since)],
        { timeoutMs },
      )
    const subjects = [
      { name: 'Portico', call },
      { name: 'plain SQL over the entries', reference: true, call: sums },
    ]
    await runPaired({ case: name, rounds: comparedRounds, repetitions: 1, subjects, write })
  }
}
