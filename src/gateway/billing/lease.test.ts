import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { type Clock, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import { answered, callOf, organisationWith } from './testing/ledger-fixture.ts'

let databases: TestDatabases
let ledger: LedgerService

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterEach(() => ledger?.close())
afterAll(() => databases.drop())

async function openLedger(clock: Partial<Clock> = {}) {
  const database = databases.control
  ledger = await createLedger({ database, clock: { ...systemClock, ...clock }, log: silentLog, holdWaitMs: 1 })
}

/** 1 million tokens of input cost 1 dollar, of output 10: this call can cost 0.0101 dollars. */
const wholeCall = (organisation: ReturnType<typeof organisationWith>) =>
  callOf(organisation, { promptTokensBound: 100, outputCapTokens: 1_000, stream: false })

describe('money that is set aside for a later call', () => {
  test('is given to no other call, and to the call that it is for', async () => {
    await openLedger()
    const organisation = organisationWith('0.011')
    const room = await ledger.keepRoom(wholeCall(organisation))
    await expect(ledger.hold(wholeCall(organisation))).rejects.toMatchObject({ code: 'insufficient_quota' })
    expect(room.amountPicoUsd).toBeGreaterThan(0n)
    const hold = await ledger.hold({ ...wholeCall(organisation), room })
    expect(hold.outputCapTokens).toBe(1_000)
    expect(room.amountPicoUsd).toBe(0n)
    await hold.settle(answered(100, 1_000))
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('is left when the budget refuses the call', async () => {
    await openLedger()
    const organisation = organisationWith('0.011')
    const room = await ledger.keepRoom(wholeCall(organisation))
    const larger = callOf(organisation, { promptTokensBound: 1_000_000, outputCapTokens: 10, stream: false, room })
    await expect(ledger.hold(larger)).rejects.toMatchObject({ code: 'insufficient_quota' })
    await expect(ledger.keepRoom(larger)).rejects.toMatchObject({ code: 'insufficient_quota' })
    const hold = await ledger.hold({ ...wholeCall(organisation), room })
    await hold.settle(answered(1, 1))
  })

  test('is replaced as a part of a larger room', async () => {
    await openLedger()
    const organisation = organisationWith('0.011')
    const room = await ledger.keepRoom(wholeCall(organisation))
    const larger = await ledger.keepRoom({ ...wholeCall(organisation), promptTokensBound: 500, room })
    expect(room.amountPicoUsd).toBe(0n)
    expect(larger.amountPicoUsd).toBeGreaterThan(10_100_000_000n)
    larger.release()
  })

  test('is available again after its release, which may be repeated', async () => {
    await openLedger()
    const organisation = organisationWith('0.011')
    const room = await ledger.keepRoom(wholeCall(organisation))
    room.release()
    room.release()
    const hold = await ledger.hold(wholeCall(organisation))
    expect(hold.outputCapTokens).toBe(1_000)
    await hold.settle(answered(1, 1))
  })

  test('keeps its lease while no call is open, and is no hold in the database', async () => {
    let passedMs = 0
    await openLedger({ monotonicMs: () => systemClock.monotonicMs() + passedMs })
    const organisation = organisationWith('0.011')
    const room = await ledger.keepRoom(wholeCall(organisation))
    // A lease that is not used is given back after 10 s.
    passedMs = 60_000
    await ledger.maintain()
    await expect(ledger.hold(wholeCall(organisation))).rejects.toMatchObject({ code: 'insufficient_quota' })
    expect((await ledger.loadBudget(organisation)).heldPicoUsd).toBe(0n)
    const hold = await ledger.hold({ ...wholeCall(organisation), room })
    await hold.settle(answered(100, 1_000))
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('of the same caller is no reason for a call to wait', async () => {
    // A call that waits would never end.
    await openLedger({ monotonicMs: () => 0, sleep: () => new Promise(() => {}) })
    const organisation = organisationWith('0.011')
    const roomOfNext = await ledger.keepRoom(wholeCall(organisation))
    await expect(ledger.hold({ ...wholeCall(organisation), roomOfNext })).rejects.toMatchObject({
      code: 'insufficient_quota',
    })
    roomOfNext.release()
  })
})
