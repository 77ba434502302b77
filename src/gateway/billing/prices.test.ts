import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatPicoUsd, parseAttoUsd } from '../../platform/kernel/index.ts'
import { callOf, organisationWith, usageOf } from './testing/ledger-fixture.ts'
import { affordableOutput, holdCost, planHold, pricingOf } from './reservation.ts'
import {
  clampUsage,
  costLines,
  costOf,
  type PriceSchedule,
  scheduleInForce,
  type TokenPrices,
  unroundedCost,
} from './prices.ts'

const price = fc.bigInt({ min: 0n, max: 10n ** 15n })
const prices: fc.Arbitrary<TokenPrices> = fc.record(
  { input: price, output: price, cacheRead: price, cacheWrite: price, reasoning: price },
  { requiredKeys: ['input', 'output'] },
)
const schedule: fc.Arbitrary<PriceSchedule> = fc.record({
  source: fc.constant('test'),
  validFrom: fc.constant(0),
  base: prices,
  contextSteps: fc
    .uniqueArray(fc.record({ abovePromptTokens: fc.integer({ min: 1, max: 400_000 }), prices }), {
      maxLength: 3,
      selector: (step) => step.abovePromptTokens,
    })
    .map((steps) => steps.sort((a, b) => a.abovePromptTokens - b.abovePromptTokens)),
})
const tokens = fc.integer({ min: 0, max: 500_000 })
const markup = fc.integer({ min: 0, max: 30_000 })
const usage = fc.record({
  promptTokens: tokens,
  completionTokens: tokens,
  cachedTokens: tokens,
  cacheWriteTokens: tokens,
  reasoningTokens: tokens,
})

describe('cost', () => {
  const steps: PriceSchedule = {
    source: 'test',
    validFrom: 0,
    base: { input: parseAttoUsd('0.000003'), output: parseAttoUsd('0.000015'), cacheRead: parseAttoUsd('3E-7') },
    contextSteps: [
      { abovePromptTokens: 200_000, prices: { input: parseAttoUsd('0.000006'), output: parseAttoUsd('0.0000225') } },
    ],
  }

  test('the context step replaces the whole base, from the first token above it on', () => {
    expect(formatPicoUsd(costOf(usageOf(200_000, 10), steps, 0).totalPicoUsd)).toBe('0.60015')
    expect(formatPicoUsd(costOf(usageOf(200_001, 10), steps, 0).totalPicoUsd)).toBe('1.200231')
  })

  test('a missing cache price is the input price of the step that applies', () => {
    const cached = { ...usageOf(300_000, 0), cachedTokens: 300_000 }
    expect(formatPicoUsd(costOf(cached, steps, 0).totalPicoUsd)).toBe('1.8')
    expect(formatPicoUsd(costOf({ ...cached, promptTokens: 100, cachedTokens: 100 }, steps, 0).totalPicoUsd)).toBe(
      '0.00003',
    )
  })

  test('reasoning tokens cost their own price where there is one, else the output price, and are counted once', () => {
    const reasoned = { ...usageOf(0, 100), reasoningTokens: 60 }
    const own = { ...steps, base: { ...steps.base, reasoning: parseAttoUsd('0.00002') } }
    expect(formatPicoUsd(costOf(reasoned, steps, 0).totalPicoUsd)).toBe('0.0015')
    expect(formatPicoUsd(costOf(reasoned, own, 0).totalPicoUsd)).toBe('0.0018')
  })

  test('rounds once, up, after the markup', () => {
    const tiny: PriceSchedule = { source: 'test', validFrom: 0, base: { input: 1n, output: 0n }, contextSteps: [] }
    expect(costOf(usageOf(1, 0), tiny, 0).totalPicoUsd).toBe(1n)
    expect(costOf(usageOf(1_000_000, 0), tiny, 0).totalPicoUsd).toBe(1n)
    expect(costOf(usageOf(1_000_000, 0), tiny, 1).totalPicoUsd).toBe(2n)
  })

  test('property: agrees with a sum over single tokens in fractions', () => {
    fc.assert(
      fc.property(usage, schedule, markup, (usage, schedule, markup) => {
        const counted = clampUsage(usage)
        const cost = costOf(usage, schedule, markup)
        const step = schedule.contextSteps.findLast((step) => counted.promptTokens > step.abovePromptTokens)
        const table = step?.prices ?? schedule.base
        const classes: [number, bigint][] = [
          [counted.cachedTokens, table.cacheRead ?? table.input],
          [counted.cacheWriteTokens, table.cacheWrite ?? table.input],
          [counted.promptTokens - counted.cachedTokens - counted.cacheWriteTokens, table.input],
          [counted.reasoningTokens, table.reasoning ?? table.output],
          [counted.completionTokens - counted.reasoningTokens, table.output],
        ]
        const numerator =
          classes.reduce((sum, [count, unit]) => sum + BigInt(count) * unit, 0n) * BigInt(10_000 + markup)
        expect(cost.totalPicoUsd * 10_000_000_000n).toBeGreaterThanOrEqual(numerator)
        expect((cost.totalPicoUsd - 1n) * 10_000_000_000n).toBeLessThan(numerator === 0n ? 1n : numerator)
      }),
    )
  })

  test('property: the lines of a receipt add up to the cost, and count every token once', () => {
    fc.assert(
      fc.property(usage, schedule, markup, (given, scheduled, basisPoints) => {
        const { unitPrices, baseAttoUsd, totalPicoUsd } = costOf(given, scheduled, basisPoints)
        const lines = costLines(given, unitPrices)
        expect(lines.reduce((sum, line) => sum + line.costAttoUsd, 0n)).toBe(baseAttoUsd)
        const counted = clampUsage(given)
        expect(lines.reduce((sum, line) => sum + line.tokens, 0)).toBe(counted.promptTokens + counted.completionTokens)
        // Units of 1e-22 dollars, rounded up to 1e-12.
        expect((unroundedCost(baseAttoUsd, basisPoints) + 10n ** 10n - 1n) / 10n ** 10n).toBe(totalPicoUsd)
      }),
    )
  })

  test('garbled usage never costs less than nothing nor counts a token twice', () => {
    expect(
      clampUsage({
        promptTokens: 10,
        completionTokens: -5,
        cachedTokens: 64,
        cacheWriteTokens: 9,
        reasoningTokens: NaN,
      }),
    ).toEqual({
      promptTokens: 10,
      completionTokens: 0,
      cachedTokens: 10,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    })
  })

  test('the price in force is the newest that has begun', () => {
    const at = (validFrom: number, source: string): PriceSchedule => ({ ...steps, validFrom, source })
    const list = [at(300, 'new'), at(200, 'now'), at(100, 'old')]
    expect(scheduleInForce(list, 299).source).toBe('now')
    expect(scheduleInForce(list, 300).source).toBe('new')
    expect(scheduleInForce(list, 5).source).toBe('old')
  })
})

describe('hold size', () => {
  const call = fc.record({ schedule, markup, bound: fc.integer({ min: 1, max: 300_000 }), output: tokens })

  test('property: a hold covers whatever usage stays inside its bounds, at any of the deployments', () => {
    fc.assert(
      fc.property(call, schedule, usage, ({ schedule, markup, bound, output }, other, usage) => {
        const request = callOf(organisationWith('1', { markupBasisPoints: markup }), {
          candidates: [schedule, other].map((prices, index) => ({ deploymentId: String(index), prices: [prices] })),
          promptTokensBound: bound,
        })
        const inside = {
          ...usage,
          promptTokens: usage.promptTokens % (bound + 1),
          completionTokens: usage.completionTokens % (output + 1),
        }
        const held = holdCost(pricingOf(request, 1), bound, output)
        for (const prices of [schedule, other]) {
          expect(costOf(inside, prices, markup).totalPicoUsd).toBeLessThanOrEqual(held)
        }
      }),
    )
  })

  test('property: the affordable output fits, and one token more does not', () => {
    fc.assert(
      fc.property(call, fc.bigInt({ min: 0n, max: 10n ** 13n }), ({ schedule, markup, bound }, amount) => {
        const request = callOf(organisationWith('1', { markupBasisPoints: markup }), {
          candidates: [{ deploymentId: 'a', prices: [schedule] }],
          promptTokensBound: bound,
        })
        const pricing = pricingOf(request, 1)
        const most = 1_000_000
        const fits = affordableOutput(pricing, bound, amount, most)
        if (fits >= 0) expect(holdCost(pricing, bound, fits)).toBeLessThanOrEqual(amount)
        if (fits < most) expect(holdCost(pricing, bound, fits + 1)).toBeGreaterThan(amount)
      }),
    )
  })

  test('a stream starts small against a small budget and with its worst case against a large one', () => {
    const request = callOf(organisationWith('1'), { stream: true })
    const pricing = pricingOf(request, 1)
    expect(planHold(request, pricing, 10n ** 11n, 0).desiredTokens).toBe(1024)
    expect(planHold(request, pricing, 10n ** 14n, 0).desiredTokens).toBe(16_384)
  })

  test("a client's cap on a whole answer is held in full, an absent one shrinks with the number of open calls", () => {
    const organisation = organisationWith('1')
    const capped = callOf(organisation, { outputCapTokens: 12_000 })
    const open = callOf(organisation)
    const left = 2n * 10n ** 11n
    expect(planHold(capped, pricingOf(capped, 1), left, 9).desiredTokens).toBe(12_000)
    expect(planHold(open, pricingOf(open, 1), left, 0).desiredTokens).toBe(9_990)
    expect(planHold(open, pricingOf(open, 1), left, 30).desiredTokens).toBe(4_096)
  })
})
