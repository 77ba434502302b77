/**
 * What the ledger costs: calls per second, added latency and processor time without a ledger, with the ledger in the database and with
 * its local journal, in turns: `npm run bench:ledger [-- --seconds 3 --rounds 1 --crowds 1,16,64,256 --folder PATH --json FILE]`. Off is the
 * same loop around a ledger that only answers. Two plain stores do two durable writes a call and nothing else: a file with fdatasync, and a
 * table of the same database with a commit for each row. The rate of the journal is of calls that are durable; "behind" is the time until the database has all of them. Embedded
 * engine, or the server that PORTICO_TEST_DATABASE_URL names. Data are in the folder of the tests, which may be in memory; the journal
 * is in `--folder`, for the syncs of a real disk.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createLedger, type Hold, type HoldRequest, type LedgerService } from '../src/gateway/billing/index.ts'
import { answered, callOf, organisationWith } from '../src/gateway/billing/testing/ledger-fixture.ts'
import { silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { openTestDatabases } from '../test/harness/database.ts'
import { prepareTemplate, testServerUrl } from '../test/harness/database-template.ts'
import { openPlainFile, openPlainTable, type PlainStore } from './ledger/plain-stores.ts'
import { figureWriter, rotated } from './runner/figures.ts'

const organisationCount = 20
/** At least, so that a round on a busy machine is not a handful of calls. */
const callsOfEach = 20

const unaccounted = {
  durable: Promise.resolve(),
  outputCapTokens: null,
  capReduced: false,
  grant: () => true as const,
  settle: () => Promise.resolve(undefined as never),
} as unknown as Hold

interface Measured {
  callsPerSecond: number
  processorMs: number
  behindMs: number
  durableMs: number[]
  settleMs: number[]
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '1' },
    crowds: { type: 'string', default: '1,16,64,256' },
    folder: { type: 'string', default: os.tmpdir() },
    json: { type: 'string' },
  },
})
const write = figureWriter(values.json)
const removeTemplate = await prepareTemplate(testServerUrl())
const databases = { database: await openTestDatabases(), local: await openTestDatabases() }
const folder = fs.mkdtempSync(path.join(values.folder, 'portico-bench-ledger-'))
const common = { clock: systemClock, log: silentLog }
const journal = { mode: 'local' as const, folder: path.join(folder, 'journal') }
const ledgers = {
  database: await createLedger({ ...common, database: databases.database.control }),
  local: await createLedger({ ...common, database: databases.local.control, journal }),
}
const organisations = Array.from({ length: organisationCount }, () => organisationWith('1000000'))
const { engine, features } = databases.database.control

console.log(`engine ${engine} ${features.serverVersion}, ${values.seconds} s each`)
console.log(
  'calls at once | ledger | calls/s | processor ms per call | hold durable p50 / p99 ms | settle p50 / p99 ms | behind, s',
)
const plain = { file: openPlainFile(folder), table: await openPlainTable(databases.database.control) }
const subjects: { name: string; reference?: boolean; measure(crowd: number): Promise<Measured> }[] = [
  { name: 'off', measure: (crowd) => measure(crowd, () => Promise.resolve(unaccounted)) },
  { name: 'two fdatasyncs', reference: true, measure: (crowd) => measure(crowd, holdIn(plain.file)) },
  { name: 'two inserts', reference: true, measure: (crowd) => measure(crowd, holdIn(plain.table)) },
  {
    name: 'database',
    measure: (crowd) => measure(crowd, (request) => ledgers.database.hold(request), ledgers.database),
  },
  { name: 'local', measure: (crowd) => measure(crowd, (request) => ledgers.local.hold(request), ledgers.local) },
]
for (const crowd of values.crowds.split(',').map(Number)) {
  if (values.json !== undefined) for (const { measure } of subjects) await measure(crowd)
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const { name, reference, measure } of rotated(subjects, round)) {
      const measured = await measure(crowd)
      print(crowd, name, measured)
      if (name === 'off') continue
      const subject = reference ? name : `ledger: ${name}`
      const figure = { case: `${crowd} at once`, round, subject, reference }
      write({ ...figure, quantity: 'calls/s', value: measured.callsPerSecond, better: 'higher' })
      // An fdatasync takes no processor time that a ratio could be taken to.
      if (name === 'two fdatasyncs') continue
      write({ ...figure, quantity: 'processor ms', value: measured.processorMs, better: 'lower' })
    }
  }
}
for (const store of Object.values(plain)) await store.close()
for (const ledger of Object.values(ledgers)) {
  const { ok, totals } = await ledger.audit()
  console.log(`audit: ${ok ? 'everything adds up' : 'FINDINGS'}, ${totals.entries} entries`)
  if (!ok) process.exitCode = 1
  await ledger.close()
}
await databases.database.drop()
await databases.local.drop()
fs.rmSync(folder, { recursive: true, force: true })
await removeTemplate()

function print(crowd: number, name: string, measured: Measured): void {
  console.log(
    [
      String(crowd).padStart(13),
      name.padEnd(14),
      String(Math.round(measured.callsPerSecond)).padStart(7),
      measured.processorMs.toFixed(3).padStart(7),
      spread(measured.durableMs).padStart(25),
      spread(measured.settleMs).padStart(19),
      (measured.behindMs / 1000).toFixed(2).padStart(5),
    ].join(' | '),
  )
}

/** Two durable writes a call, as a hold and its settlement. */
function holdIn(store: PlainStore): () => Promise<Hold> {
  return async () => {
    const durable = store.write()
    return { ...unaccounted, durable, settle: () => store.write() } as unknown as Hold
  }
}

async function measure(
  crowd: number,
  hold: (request: HoldRequest) => Promise<Hold>,
  ledger?: LedgerService,
): Promise<Measured> {
  const minimumCalls = crowd * callsOfEach
  const durableMs: number[] = []
  const settleMs: number[] = []
  const processor = process.cpuUsage()
  const startMs = performance.now()
  const endMs = startMs + Number(values.seconds) * 1000
  await Promise.all(
    Array.from({ length: crowd }, async (_, index) => {
      const organisation = organisations[index % organisationCount]!
      while (performance.now() < endMs || settleMs.length < minimumCalls) {
        const beganMs = performance.now()
        const held = await hold(callOf(organisation, { outputCapTokens: 500 }))
        await held.durable
        durableMs.push(performance.now() - beganMs)
        const answeredMs = performance.now()
        await held.settle(answered(90, 40))
        settleMs.push(performance.now() - answeredMs)
        // The off loop would otherwise never let a timer run.
        if (held === unaccounted) await new Promise((resolve) => setImmediate(resolve))
      }
    }),
  )
  const doneMs = performance.now()
  // Waits for the projection.
  await ledger?.loadBudget(organisations[0]!)
  const { user, system } = process.cpuUsage(processor)
  return {
    callsPerSecond: settleMs.length / ((doneMs - startMs) / 1000),
    processorMs: (user + system) / 1000 / settleMs.length,
    behindMs: performance.now() - doneMs,
    durableMs,
    settleMs,
  }
}

function spread(samples: number[]): string {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!.toFixed(2)
  return `${at(0.5)} / ${at(0.99)}`
}
