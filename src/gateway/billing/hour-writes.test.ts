import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { formatPicoUsd, silentLog, systemClock, type TokenCounts } from '../../platform/kernel/index.ts'
import { holdCost, pricingOf } from './reservation.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import { hourWritePrice, type PriceSchedule } from './prices.ts'
import { answered, callOf, organisationWith, perMillion, usageOf } from './testing/ledger-fixture.ts'

const plain = perMillion(4, 10)
/** A write of five minutes costs 1.25 times the input, as all of Anthropic's prices have it. */
const schedule: PriceSchedule = { ...plain, base: { ...plain.base, cacheWrite: (plain.base.input * 5n) / 4n } }

const usage: TokenCounts = {
  ...usageOf(1_000, 0),
  cachedTokens: 100,
  cacheWriteTokens: 600,
  cacheWriteHourTokens: 200,
}
const raw = { cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 200 } }

let databases: TestDatabases
let ledger: LedgerService
beforeAll(async () => {
  databases = await openTestDatabases()
  ledger = await createLedger({ database: databases.control, clock: systemClock, log: silentLog })
})
afterAll(async () => {
  await ledger.close()
  await databases.drop()
})

const callAt = (prices: PriceSchedule) =>
  callOf(organisationWith('10'), { candidates: [{ deploymentId: 'd', prices: [prices] }], writesHourCache: true })

async function bill(prices: PriceSchedule) {
  const hold = await ledger.hold(callAt(prices))
  await hold.durable
  const outcome = { ...answered(1_000, 0), deploymentId: 'd' }
  return hold.settle({
    ...outcome,
    usage: { ...usage, stated: { raw, costAttoUsd: null, billedUnits: null } },
  } as Parameters<typeof hold.settle>[0])
}

describe('writes to a cache that are kept for an hour', () => {
  test('cost twice the input, those of five minutes their own price', async () => {
    const receipt = await bill(schedule)
    // 300 plain and 100 cached tokens at 4, 400 of five minutes at 5, 200 of an hour at 8 millionths of a dollar
    expect(formatPicoUsd(receipt.billedPicoUsd)).toBe('0.0052')
    expect(receipt).toMatchObject({ costBasis: 'billed_units', rawUsage: raw, usage: { cacheWriteTokens: 600 } })
    expect(await ledger.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('cost what the list states for an hour, held and billed', async () => {
    const stated = { ...schedule, base: { ...schedule.base, cacheWriteHour: (schedule.base.input * 7n) / 4n } }
    const receipt = await bill(stated)
    // As above, but 200 of an hour at 7 millionths of a dollar
    expect(formatPicoUsd(receipt.billedPicoUsd)).toBe('0.005')
    expect(holdCost(pricingOf(callAt(stated), 1), 1_000, 0)).toBe(7_000_000_000n)
  })

  test('cost the input where the deployment has no price of writes', async () => {
    const receipt = await bill(plain)
    expect(formatPicoUsd(receipt.billedPicoUsd)).toBe('0.004')
    expect(receipt.costBasis).toBe('tokens')
  })

  test('are covered by the hold of a call that marks them', () => {
    const dearest = { ...usageOf(1_000, 0), cacheWriteTokens: 1_000, cacheWriteHourTokens: 1_000 }
    const held = holdCost(pricingOf(callAt(schedule), 1), 1_000, 0)
    expect(held * 1_000_000n).toBe(BigInt(dearest.cacheWriteHourTokens) * hourWritePrice(schedule.base))
  })
})
