import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestDatabase } from '../../../../test/harness/statements.ts'
import { systemClock } from '../../../platform/kernel/index.ts'
import { callOf, organisationWith } from '../testing/ledger-fixture.ts'
import { JournalStage, settledCall } from '../testing/journal-stage.ts'

/** A ledger with a journal whose database does not answer in time. */

describe('without a database', () => {
  let stage: JournalStage

  beforeAll(async () => {
    stage = await JournalStage.open()
  })
  afterAll(() => stage.drop())
  beforeEach(() => stage.beginTest())
  afterEach(() => stage.endTest())

  /** A ledger with a lease of an organisation that was silent for a minute. Then its database fails every statement, first a heartbeat. */
  async function openFailing() {
    const organisation = organisationWith('10')
    let fails = false
    const ask = <T>(work: () => Promise<T>) => (fails ? Promise.reject(new Error('no answer within 3000 ms')) : work())
    const failing: TestDatabase = {
      ...stage.control,
      for: () => failing,
      query: (...given) => ask(() => stage.control.query(...given)) as never,
      execute: (...given) => ask(() => stage.control.execute(...given)),
      transaction: (...given) => ask(() => stage.control.transaction(...given)),
    }
    let passedMs = 0
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs }
    const ledger = await stage.openLedger({ projectionDelayMs: 0 }, failing, clock)
    await settledCall(ledger, organisation)
    await ledger.flush()
    passedMs = 60_000
    await ledger.maintain()
    fails = true
    await expect(ledger.maintain()).rejects.toThrow('no answer')
    return {
      ledger,
      organisation,
      repair() {
        fails = false
      },
    }
  }

  test('continues from its leases and its journal, because no other process can take them', async () => {
    const { ledger, organisation, repair } = await openFailing()
    const entries = await stage.countEntries()
    const receipts = []
    for (let call = 0; call < 20; call += 1) receipts.push(await settledCall(ledger, organisation))
    expect(ledger.reasonToRefuse()).toBeUndefined()
    expect(receipts.map(({ ending }) => ending)).toEqual(receipts.map(() => 'completed'))
    expect(await stage.countEntries()).toBe(entries)
    repair()
    await ledger.flush()
    expect(await stage.countEntries()).toBe(entries + 20n)
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('names the cause to a call that needs the database', async () => {
    const { ledger, repair } = await openFailing()
    const caller = organisationWith('10')
    await expect(ledger.hold(callOf(caller))).rejects.toMatchObject({
      code: 'overloaded',
      message: expect.stringContaining('its database does not answer'),
      internal: expect.stringContaining('database does not answer'),
    })
    repair()
    await ledger.maintain()
    expect((await settledCall(ledger, caller)).ending).toBe('completed')
  })
})
