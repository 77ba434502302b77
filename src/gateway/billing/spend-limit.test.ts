import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { parsePicoUsd, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import type { SpendLimit } from './port.ts'
import { answered, callOf, organisationWith } from './testing/ledger-fixture.ts'

let databases: TestDatabases
let ledger: LedgerService

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterEach(() => ledger?.close())
afterAll(() => databases.drop())

async function openLedger() {
  ledger = await createLedger({ database: databases.control, clock: systemClock, log: silentLog, holdWaitMs: 1 })
}

/** A limit that grants up to an amount. */
function limitOf(amountUsd: string) {
  let left = parsePicoUsd(amountUsd)
  const state = { free: 0n, reserved: 0n, billed: 0n }
  const limit: SpendLimit = {
    get freePicoUsd() {
      return state.free
    },
    async obtain(amount) {
      const missing = amount - state.free
      const granted = missing > left ? left : missing
      left -= granted
      state.free += granted
    },
    reserve(amount) {
      state.free -= amount
      state.reserved += amount
    },
    release(reserved, billed) {
      state.reserved -= reserved
      state.free += reserved - billed
      state.billed += billed
    },
  }
  return { limit, state }
}

describe('a call with a limit inside of the budget', () => {
  test('has an output cap that the limit covers, also as a stream, which then needs no growth', async () => {
    await openLedger()
    const { limit, state } = limitOf('0.0101')
    const hold = await ledger.hold(callOf(organisationWith('100'), { stream: true, spending: limit }))
    expect(hold).toMatchObject({ outputCapTokens: 1_000, capReduced: true })
    expect(hold.grant(1_000)).toBe(true)
    await hold.settle(answered(80, 1_000))
    expect(state).toEqual({ free: parsePicoUsd('0.00002'), reserved: 0n, billed: parsePicoUsd('0.01008') })
  })

  test('is refused where the limit does not cover the smallest answer, although the budget does', async () => {
    await openLedger()
    const { limit, state } = limitOf('0.001')
    const call = callOf(organisationWith('100'), { spending: limit })
    await expect(ledger.hold(call)).rejects.toMatchObject({ code: 'insufficient_quota' })
    await expect(ledger.keepRoom(call)).rejects.toMatchObject({ code: 'insufficient_quota' })
    expect(state).toMatchObject({ reserved: 0n, billed: 0n })
  })

  test('is billed no more than the limit where the provider ignores its cap; the rest is written off', async () => {
    await openLedger()
    const { limit, state } = limitOf('0.0101')
    const organisation = organisationWith('100')
    const hold = await ledger.hold(callOf(organisation, { spending: limit }))
    const receipt = await hold.settle(answered(80, 5_000))
    expect(receipt.billedPicoUsd).toBe(parsePicoUsd('0.0101'))
    expect(receipt.writtenOffPicoUsd).toBe(parsePicoUsd('0.03998'))
    expect(state).toEqual({ free: 0n, reserved: 0n, billed: parsePicoUsd('0.0101') })
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('uses up what was set aside for it in the limit, and a room returns it', async () => {
    await openLedger()
    const { limit, state } = limitOf('0.0101')
    const call = (changes = {}) =>
      callOf(organisationWith('100'), { outputCapTokens: 1_000, spending: limit, ...changes })
    const unused = await ledger.keepRoom(call())
    expect(state.reserved).toBe(parsePicoUsd('0.0101'))
    unused.release()
    unused.release()
    expect(state).toMatchObject({ reserved: 0n, free: parsePicoUsd('0.0101') })
    const organisation = organisationWith('100')
    const room = await ledger.keepRoom(call({ organisation }))
    await expect(ledger.hold(call({ organisation }))).rejects.toMatchObject({ code: 'insufficient_quota' })
    const hold = await ledger.hold(call({ organisation, room }))
    expect(hold.outputCapTokens).toBe(1_000)
    await hold.settle({ kind: 'unanswered', reason: 'upstream_error' })
    expect(state).toEqual({ free: parsePicoUsd('0.0101'), reserved: 0n, billed: 0n })
  })
})
