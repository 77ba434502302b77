import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { type LogFields, type StatedUsage, silentLog } from '../../platform/kernel/index.ts'
import { createCostCheck } from './cost-check.ts'
import type { Receipt } from './port.ts'
import { statedCost } from './prices.ts'
import { perMillion, usageOf } from './testing/ledger-fixture.ts'

const usd = (dollars: number) => BigInt(Math.round(dollars * 1e18))

describe('a stated cost', () => {
  // 90 × 1 + 40 × 10 millionths of a dollar.
  const computedAttoUsd = usd(0.000_49)
  const basisOf = (costAttoUsd: bigint, fields: Partial<StatedUsage> = {}) =>
    statedCost(usageOf(90, 40), { raw: null, costAttoUsd, billedUnits: null, ...fields }, perMillion(1, 10))

  test('is billed and compared with tokens times prices', () => {
    expect(basisOf(usd(0.0006))).toEqual({
      statedAttoUsd: usd(0.0006),
      costBasis: 'stated',
      compared: { statedAttoUsd: usd(0.0006), computedAttoUsd },
    })
  })

  test.each([
    ['a zero', 0],
    ['cents', 0.049],
    ['credits', 49],
  ])('in an undocumented unit is compared but not billed: %s', (_unit, dollars) => {
    const costAttoUsd = usd(dollars)
    expect(basisOf(costAttoUsd)).toEqual({
      statedAttoUsd: null,
      costBasis: 'tokens',
      compared: { statedAttoUsd: costAttoUsd, computedAttoUsd },
    })
    expect(basisOf(costAttoUsd, { costIsDocumented: true })).toMatchObject({
      statedAttoUsd: costAttoUsd,
      costBasis: 'stated',
    })
  })
})

describe('the comparison of stated costs', () => {
  function openCheck() {
    const lines: LogFields[] = []
    const clock = createFakeClock()
    const log = { ...silentLog, warn: (fields: LogFields) => void lines.push(fields) }
    const { check } = createCostCheck({ clock, log })
    const receipt = { model: 'm', providerId: 'p', costBasis: 'stated' } as Receipt
    const compare = (stated: number, computed: number, deploymentId = 'd') =>
      check({ ...receipt, deploymentId }, { statedAttoUsd: usd(stated), computedAttoUsd: usd(computed) })
    return { lines, clock, compare }
  }

  test.each([
    [1, 1, 'equal'],
    [1, 1.009, 'equal'],
    [1, 0.985, 'above'],
    [0.985, 1, 'below'],
    [0.000_070_2, 0.000_007_7, 'above'],
    [0, 0.5, 'below'],
    [0.000_000_01, 0, 'equal'],
  ] as const)('of %d with %d is %s', (stated, computed, verdict) => {
    const { compare, lines } = openCheck()
    expect(compare(stated, computed)).toBe(verdict)
    expect(lines).toHaveLength(verdict === 'equal' ? 0 : 1)
  })

  test('logs a deployment’s differences once an hour, with the sums of their calls', async () => {
    const { compare, lines, clock } = openCheck()
    compare(1, 2)
    compare(1, 2)
    compare(1, 1)
    compare(2, 3)
    compare(1, 2, 'other')
    expect(lines.map(({ deployment }) => deployment)).toEqual(['d', 'other'])
    await clock.advance(60 * 60_000)
    compare(1, 1)
    expect(lines).toHaveLength(2)
    compare(1, 2)
    expect(lines[2]).toMatchObject({ deployment: 'd', calls: 3, statedUsd: 4, computedUsd: 7 })
  })
})
