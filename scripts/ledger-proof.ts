/**
 * Proves the ledger: `npm run proof:ledger [-- --seed N --steps N --journal]`. First it compares the ledger with a simple model that predicts every decision,
 * then it simulates organisations, instances, crashes and clock jumps over the real SQL and compares the record of each call
 * with the database. `--journal`: with the local journal, and one process at a time. The seed decides what is tried; the interleaving of statements depends on the machine. Embedded engine,
 * or the server that PORTICO_TEST_DATABASE_URL names.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { formatPicoUsd, systemClock } from '../src/platform/kernel/index.ts'
import { makeTestFolder, openTestDatabases } from '../test/harness/database.ts'
import { prepareTemplate, testServerUrl } from '../test/harness/database-template.ts'
import { runModel } from './ledger-proof/model.ts'
import { createChance } from './ledger-proof/random.ts'
import { simulate } from './ledger-proof/simulation.ts'
import { verify } from './ledger-proof/verify.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '3000' },
    journal: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const steps = Number(values.steps)
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(steps) || steps < 1) {
  console.error('--seed and --steps take whole numbers')
  process.exit(2)
}

const countingAttempts = 50
const countAgainMs = 100

const removeTemplate = await prepareTemplate(testServerUrl())
const databases = await openTestDatabases()
const { control } = databases
const folder = makeTestFolder()
const journalFolder = values.journal ? path.join(folder, 'journal') : undefined
let failures = 0
console.log(
  `seed ${seed}, ${steps} steps, ${control.engine} ${control.features.serverVersion}${values.journal ? ', local journal' : ''}`,
)

// Only an embedded database has a journal; its SQL runs on a server too.
const withJournal = values.journal ? { ...control, engine: 'embedded' as const } : control
const modelStartMs = performance.now()
const { decisions } = await runModel(withJournal, createChance(seed), Math.ceil(steps / 3), journalFolder)
console.log(`model: ${decisions} decisions, every one as predicted, ${seconds(modelStartMs)} s`)

const startMs = performance.now()
const { calls, counts, lastInstance, late } = await simulate(control, createChance(seed + 1), steps, journalFolder)
// The last running instance settles the calls of the instance that was killed last.
await control.execute(
  "update ledger_instances set heartbeat_at = heartbeat_at - interval '1 hour' where instance_id <> $1",
  [lastInstance.ledger.instanceId()],
)
const uncounted = await countSettlements()
const audit = await lastInstance.ledger.audit()
await lastInstance.ledger.close()
await Promise.all(late)
const verdict = await verify(control, calls)

console.log(
  `simulation: ${counts.calls} calls, ${verdict.durableCalls} durable, ${verdict.refused} refused, ${verdict.settledAsAsked} settled as asked, ` +
    `${verdict.settledByPolicy} settled by policy, ${seconds(startMs)} s`,
)
console.log(
  `chaos: ${counts.kills} kills, ${counts.silences} silences, ${counts.lateBatches} late batches, ${counts.failedStarts} failed starts, ${counts.clockJumps} clock jumps, ${counts.budgetChanges} changed budgets, ` +
    `${verdict.periods} periods`,
)
console.log(
  `money: ${formatPicoUsd(verdict.billedPicoUsd)} dollars billed, ${formatPicoUsd(verdict.writtenOffPicoUsd)} written off`,
)
must('unbilled answers', verdict.unbilledAnswers)
must('double bills', verdict.doubleBills)
must('bills that differ from the record of their call', verdict.wrongBills)
must('calls within their bounds that their hold did not cover', verdict.unboundedCalls)
must('leaked holds', verdict.leakedHolds)
must('periods billed above their budget', verdict.overrunPeriods)
must('settlements missing in usage reports', uncounted)
must('audit findings', audit.findings.length)
for (const finding of audit.findings.slice(0, 10)) console.log(`  ${JSON.stringify(finding)}`)
if (verdict.highestOverrunPicoUsd > 0n)
  console.log(`  highest overrun ${formatPicoUsd(verdict.highestOverrunPicoUsd)} dollars`)
for (const overrun of verdict.overruns) console.log(`  ${overrun}`)

await databases.drop()
fs.rmSync(folder, { recursive: true, force: true })
await removeTemplate()
console.log(
  failures === 0
    ? 'proved'
    : `NOT PROVED: ${failures} kinds of failure; repeat with --seed ${seed} --steps ${steps}${values.journal ? ' --journal' : ''}`,
)
process.exit(failures === 0 ? 0 : 1)

/** Batches that are left. While the timer of the instance counts, `maintain` leaves the counting to it. */
async function countSettlements(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    await lastInstance.ledger.maintain()
    const [queue] = await control.query<{ batches: bigint }>('select count(*) as batches from usage_queue')
    if (queue!.batches === 0n || attempt === countingAttempts) return Number(queue!.batches)
    await systemClock.sleep(countAgainMs)
  }
}

function must(what: string, count: number): void {
  console.log(`${what}: ${count}`)
  if (count > 0) failures += 1
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1000).toFixed(1)
}
