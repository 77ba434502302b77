import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { silentLog } from '../../../platform/kernel/index.ts'
import { createLedger, type LedgerService } from '../ledger.ts'
import { JournalStage, later } from '../testing/journal-stage.ts'
import { answered, callOf, organisationWith, skippingClock } from '../testing/ledger-fixture.ts'
import { writeDeadlineMs } from '../write-queue.ts'
import { journalFiles } from './journal-format.ts'

/** Frames of the journal that are on the disk late, as after a SIGSTOP of the process. */

/** Longer than a client waits for a write. */
const overdueMs = writeDeadlineMs + 1_000
let stage: JournalStage
let ledger: LedgerService
let clock: ReturnType<typeof skippingClock>
/** Ends the wait of the next frame; undefined: frames do not wait. */
let gate: { reached: PromiseWithResolvers<void>; open: PromiseWithResolvers<void> } | undefined

beforeAll(async () => {
  stage = await JournalStage.open()
})
afterAll(() => stage.drop())
beforeEach(async () => {
  await stage.beginTest()
  clock = skippingClock()
  const files = {
    ...journalFiles,
    async append(...given: Parameters<typeof journalFiles.append>) {
      await journalFiles.append(...given)
      const waiting = gate
      gate = undefined
      waiting?.reached.resolve()
      await waiting?.open.promise
    },
  }
  const journal = { mode: 'local' as const, folder: stage.folder, files, ...later }
  ledger = await createLedger({ database: stage.control, clock, log: silentLog, journal })
})
afterEach(async () => {
  await ledger.close()
  await stage.endTest()
})

function delayFrame() {
  gate = { reached: Promise.withResolvers(), open: Promise.withResolvers() }
  return gate
}

const stateOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )

test('a call whose hold and bill are in one late frame is answered, and billed once', async () => {
  const { reached, open } = delayFrame()
  const hold = await ledger.hold(callOf(organisationWith('1')))
  const settling = hold.settle(answered(100, 40))
  await reached.promise
  clock.pass(overdueMs)
  await turn()
  open.resolve()
  expect(await stateOf(hold.durable)).toBe('done')
  const { ending, billedPicoUsd } = await settling
  expect(ending).toBe('completed')
  expect((await ledger.loadReceipt(hold.requestId))?.billedPicoUsd).toBe(billedPicoUsd)
  expect((await ledger.audit()).findings).toEqual([])
})

test('a call that is refused while its hold is in a late frame is not billed, although its answer was here', async () => {
  const { reached, open } = delayFrame()
  const organisation = organisationWith('1')
  const hold = await ledger.hold(callOf(organisation))
  hold.makeDurable().catch(() => {})
  await reached.promise
  const settling = hold.settle(answered(100, 40))
  clock.pass(overdueMs)
  expect(await stateOf(hold.durable)).toBe('overloaded')
  open.resolve()
  expect(await settling).toMatchObject({ ending: 'unanswered', billedPicoUsd: 0n, failure: 'overloaded' })
  expect(await ledger.loadReceipt(hold.requestId)).toMatchObject({ ending: 'unanswered', billedPicoUsd: 0n })
  expect(await ledger.loadBudget(organisation)).toMatchObject({ settledPicoUsd: 0n, heldPicoUsd: 0n })
  // As it is in the tables, and not in memory.
  await ledger.flush()
  expect(await ledger.loadReceipt(hold.requestId)).toMatchObject({ ending: 'unanswered', billedPicoUsd: 0n })
  expect((await ledger.audit()).findings).toEqual([])
})
