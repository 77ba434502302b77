import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Comparison, compareLedger, untilWrittenDown } from '../harness/ledger-crash/compare-ledger.ts'
import { startLoad } from '../harness/ledger-crash/crash-load.ts'
import { blindSpots, overrunOf, spendAll } from '../harness/ledger-crash/final-checks.ts'
import { readLedgerTables } from '../harness/ledger-crash/ledger-tables.ts'
import { type PlannedProvider, startPlannedProvider } from '../harness/ledger-crash/planned-provider.ts'
import { type CallRecord, sendRecorded } from '../harness/ledger-crash/recorded-call.ts'
import { openVictim, warmCompileCache } from '../harness/ledger-crash/victim.ts'
import { testServerUrl } from '../harness/database.ts'
import { seededRandom } from '../harness/recorded-wire.ts'
import { testSeed } from '../harness/seed.ts'

/** The ledger under kill -9: the real process, killed under load, compared with the records of its clients. */

const kills = Number(process.env['PORTICO_TEST_KILLS'] ?? 24)
/** Where writes become durable: in both ways, or as the whole run. A server has no journal. */
const chosen = testServerUrl() === undefined ? process.env['PORTICO_TEST_LEDGER_JOURNAL'] : 'database'
const modes = chosen === undefined ? ['database', 'local'] : [chosen, chosen]
/** Independent services in parallel, because a restart mostly waits for one core: one for each mode. */
const lanes = modes.length
const writingTo = (mode: string) => ({ PORTICO_LEDGER_JOURNAL: mode })
const parallelCalls = 16
const longestBurstMs = 1_500
const smallBudgetUsd = 0.006
const seed = testSeed

let provider: PlannedProvider
let number = 0
const nextNumber = () => ++number

beforeAll(async () => {
  provider = await startPlannedProvider()
  await warmCompileCache(provider)
})
afterAll(() => provider?.upstream.close())

it(`bills every answer exactly once, leaks no hold and overruns no budget in ${kills} kills under load (seed ${seed})`, async () => {
  const startedMs = performance.now()
  const share = (lane: number) => Math.floor(kills / lanes) + (lane < kills % lanes ? 1 : 0)
  const runs = await Promise.all(
    Array.from({ length: lanes }, (_, lane) => runLane(share(lane), seededRandom(seed * lanes + lane), modes[lane]!)),
  )
  const faults = runs.flatMap((run) => run.faults)
  const figures: Record<string, number> = {}
  for (const run of runs) {
    for (const [name, count] of Object.entries(run.figures)) figures[name] = (figures[name] ?? 0) + count
  }
  report(`seed ${seed}, ${kills} kills, ${Math.round((performance.now() - startedMs) / 1000)} s`, figures)
  expect(faults, `seed ${seed}`).toEqual([])
  // The run must have exercised what it claims to prove.
  for (const kind of ['streams seen to the end', 'whole answers seen', 'streams that the client left']) {
    expect(figures[kind], kind).toBeGreaterThan(0)
  }
  expect(figures['streams killed after some text']).toBeGreaterThan(kills / 10)
  expect(figures['of these certain to be written down']).toBeGreaterThan(0)
  expect(figures['calls refused with 402']).toBeGreaterThan(0)
}, 600_000)

async function runLane(laneKills: number, random: () => number, mode: string): Promise<Comparison> {
  await using victim = await openVictim(provider, { environment: writingTo(mode) })
  const rich = [await victim.createOrganisation('1000'), await victim.createOrganisation('1000')]
  const poor = [await victim.createOrganisation('0'), await victim.createOrganisation('0')]
  const organisations = [...rich, ...poor]
  const records: CallRecord[] = []
  const faults: string[] = []
  for (let kill = 1; kill <= laneKills; kill++) {
    // Always a little to spend, and never much: an overrun would happen near the limit of the budget.
    for (const { id } of poor) await victim.setBudget(id, (smallBudgetUsd * kill).toFixed(3))
    const load = startLoad({
      provider,
      // Calls that wait for a small budget must not occupy all workers.
      organisations: [...rich, ...rich, ...poor],
      random,
      records,
      parallel: parallelCalls,
      nextNumber,
      url: () => victim.url(),
    })
    // The moment is counted in calls, not in time: a process on a busy machine must not be killed before its first call.
    await Promise.race([load.over(Math.floor(random() * 100)), wait(longestBurstMs)])
    // Some bursts last until the progress of long streams must have been written; the others end at a random moment.
    if (kill % 8 === 0) await untilWrittenDown(victim.url()!, records)
    else await wait(random() * 200)
    await victim.kill()
    await load.stop()
    await victim.start()
    for (const { id } of poor) faults.push(...(await overrunOf(victim, id)))
  }
  await victim.settleAll(organisations)
  faults.push(...(await victim.auditFindings()))
  for (const organisation of poor)
    faults.push(...(await spendAll({ victim, provider, nextNumber, records }, organisation)))
  await victim.stop()
  await victim.stop()
  const tables = await readLedgerTables(victim.place)
  const comparison = compareLedger(records, tables, provider.sent)
  faults.push(...comparison.faults, ...blindSpots(records, tables, provider))
  return { faults: faults.map((fault) => `${mode}: ${fault}`), figures: comparison.figures }
}

it.each([...new Set(modes)])(
  '200 parallel calls without a cap spend most of a budget of $0.01 and never more (%s)',
  async (mode) => {
    await using victim = await openVictim(provider, { environment: writingTo(mode) })
    const mixes = { 'whole answers': [false], streams: [true], both: [true, false] }
    const records: CallRecord[] = []
    for (const [mix, kinds] of Object.entries(mixes)) {
      const organisation = await victim.createOrganisation('0.01')
      const random = seededRandom(seed)
      const calls = Array.from({ length: 200 }, (_, index) =>
        sendRecorded(
          victim.url()!,
          organisation,
          provider.planned({
            number: nextNumber(),
            stream: kinds[index % kinds.length]!,
            words: 5 + Math.floor(random() * 40),
            headersAfterMs: Math.floor(random() * 100),
            pauseMs: 1,
            promptTokens: 10,
            sendsUsage: true,
            capTokens: null,
            hangUpAfterWords: null,
          }),
        ),
      )
      const startedMs = performance.now()
      const burst = await Promise.all(calls)
      records.push(...burst)
      const { spentUsd, heldUsd } = await victim.budget(organisation.id)
      const count = (wanted: (record: CallRecord) => boolean) => burst.filter(wanted).length
      report(`tiny budget, ${mode}, ${mix}`, {
        'spent of $0.01, percent': Number(spentUsd) * 10_000,
        answered: count((record) => record.usage !== null),
        'ended in the middle': count((record) => record.status === 200 && record.usage === null),
        refused: count((record) => record.status === 402),
        seconds: Math.round((performance.now() - startedMs) / 100) / 10,
      })
      expect(count((record) => record.status !== 200 && record.status !== 402)).toBe(0)
      expect(Number(heldUsd)).toBe(0)
      expect(Number(spentUsd)).toBeLessThanOrEqual(0.01)
      expect(Number(spentUsd)).toBeGreaterThan(0.007)
    }
    expect(await victim.auditFindings()).toEqual([])
    await victim.stop()
    expect(compareLedger(records, await readLedgerTables(victim.place), provider.sent).faults).toEqual([])
  },
  120_000,
)

describe.each([...new Set(modes)])('SIGTERM in the middle of streams (%s)', (mode) => {
  it('lets them finish within the grace period, bills them exactly and exits with 0', async () => {
    const graceMs = 60_000
    const { records, exitCode, seconds, tables } = await stopInTheMiddle({ mode, words: 80, graceMs })
    report('graceful stop', { seconds })
    expect(exitCode).toBe(0)
    expect(records.map(({ sawEnd, errorCode }) => ({ sawEnd, errorCode }))).toEqual(
      records.map(() => ({ sawEnd: true, errorCode: null })),
    )
    expect(tables.entries.map(({ ending }) => ending)).toEqual(records.map(() => 'completed'))
    expect(compareLedger(records, tables, provider.sent).faults).toEqual([])
    // Much less than the grace period: idle connections do not delay the stop.
    expect(seconds * 1_000).toBeLessThan(graceMs / 2)
  }, 90_000)

  it('ends those that outlast the grace period with an error object and bills the text already sent as `shutdown`', async () => {
    const words = 2_000
    const { records, exitCode, seconds, tables } = await stopInTheMiddle({ mode, words, graceMs: 300 })
    report('stop with a short grace', { seconds })
    expect(exitCode).toBe(0)
    expect(records.map(({ errorCode }) => errorCode)).toEqual(records.map(() => 'shutting_down'))
    expect(tables.entries.map(({ ending }) => ending)).toEqual(records.map(() => 'shutdown'))
    expect(compareLedger(records, tables, provider.sent).faults).toEqual([])
    // Much less than the streams would have taken.
    expect(seconds * 1_000).toBeLessThan((words * pauseMs) / 2)
  }, 90_000)
})

/** Between two words of a stream. */
const pauseMs = 20

/** Streams of this many words, and whole answers that take as long; SIGTERM when every stream has sent some text. */
async function stopInTheMiddle({ mode, words, graceMs }: { mode: string; words: number; graceMs: number }) {
  await using victim = await openVictim(provider, {
    environment: { ...writingTo(mode), PORTICO_SHUTDOWN_GRACE_MS: String(graceMs) },
  })
  const organisation = await victim.createOrganisation('100')
  const begun: Promise<void>[] = []
  const calls = Array.from({ length: 12 }, (_, index) => {
    const stream = index % 4 !== 0
    const { promise, resolve } = Promise.withResolvers<void>()
    if (stream) begun.push(promise)
    return sendRecorded(
      victim.url()!,
      organisation,
      provider.planned({
        number: nextNumber(),
        stream,
        words,
        headersAfterMs: stream ? 0 : words * pauseMs,
        pauseMs,
        promptTokens: 10,
        sendsUsage: true,
        capTokens: null,
        hangUpAfterWords: null,
      }),
      ({ wordsAtMs }) => wordsAtMs.length > 0 && resolve(),
    )
  })
  await Promise.all(begun)
  const startedMs = performance.now()
  const exitCode = await victim.stop()
  const seconds = (performance.now() - startedMs) / 1000
  return { records: await Promise.all(calls), exitCode, seconds, tables: await readLedgerTables(victim.place) }
}

function report(what: string, figures: Record<string, number>) {
  // The figures are a result of these runs.
  // oxlint-disable-next-line no-console
  console.log(`ledger-crash: ${what}`, figures)
}
