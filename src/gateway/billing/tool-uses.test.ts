import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { formatPicoUsd, parseAttoUsd, silentLog, systemClock, type ToolUses } from '../../platform/kernel/index.ts'
import { holdCost, pricingOf } from './reservation.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import type { PriceSchedule } from './prices.ts'
import { answered, callOf, organisationWith, perMillion, usageOf } from './testing/ledger-fixture.ts'

/** A search costs a cent, a container three. */
const schedule: PriceSchedule = {
  ...perMillion(4, 10),
  toolUses: { web_search: parseAttoUsd('0.01'), code_execution: parseAttoUsd('0.03'), web_fetch: 0n },
}
const bounds = [
  { kinds: ['web_search', 'web_fetch'], most: 5 },
  { kinds: ['code_execution'], most: 1 },
] as const

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

const call = (budgetUsd = '10') =>
  callOf(organisationWith(budgetUsd, { markupBasisPoints: 1_000 }), {
    candidates: [{ deploymentId: 'd', prices: [schedule] }],
    toolUses: bounds,
  })

async function bill(toolUses: ToolUses) {
  const hold = await ledger.hold(call())
  await hold.durable
  const usage = { ...usageOf(1_000, 100), toolUses }
  return hold.settle({ ...answered(1_000, 100), deploymentId: 'd', usage } as Parameters<typeof hold.settle>[0])
}

describe('uses of tools that the provider runs', () => {
  test('are billed at their prices, with markup, and in the receipt by kind', async () => {
    const receipt = await bill({ web_search: 2, web_fetch: 3, code_execution: 1 })
    // (1,000 tokens at 4 and 100 at 10 millionths of a dollar + 2 searches and a container) × 1.1
    expect(formatPicoUsd(receipt.billedPicoUsd)).toBe('0.0605')
    expect(receipt).toMatchObject({ costBasis: 'billed_units', writtenOffPicoUsd: 0n })
    expect(receipt.toolUses).toEqual([
      { kind: 'web_search', uses: 2, attoUsdPerUse: parseAttoUsd('0.01') },
      { kind: 'web_fetch', uses: 3, attoUsdPerUse: 0n },
      { kind: 'code_execution', uses: 1, attoUsdPerUse: parseAttoUsd('0.03') },
    ])
    expect(await ledger.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('that the provider did not count leave a receipt of tokens', async () => {
    const receipt = await bill({ web_search: 0 })
    expect(receipt).toMatchObject({ costBasis: 'tokens' })
    expect(receipt).not.toHaveProperty('toolUses')
  })

  test('are held at the dearest kind of each bound, and refused where the budget does not cover them', async () => {
    const withoutUses = pricingOf({ ...call(), toolUses: [] }, 1)
    const held = holdCost(pricingOf(call(), 1), 1_000, 0) - holdCost(withoutUses, 1_000, 0)
    expect(formatPicoUsd(held)).toBe('0.088')
    await expect(ledger.hold(call('0.08'))).rejects.toMatchObject({ code: 'insufficient_quota' })
  })

  test('without a price are not held', () => {
    const unpriced = callOf(organisationWith('1'), { toolUses: [{ kinds: ['mcp'], most: 1 }] })
    expect(() => pricingOf(unpriced, 1)).toThrow('mcp')
  })
})
