import { describe, expect, test } from 'vitest'
import type { OrganisationId } from '../../platform/kernel/index.ts'
import { assertGatewayAccess, assertSubscription } from './gate.ts'
import { changeOrganisation, makeOrganisation, parseMarkup, parseMonthlyBudget } from './organisation-change.ts'

const nowMs = Date.parse('2026-11-21T12:00:00Z')
const dayMs = 86_400_000
const organisation = makeOrganisation('o' as OrganisationId, { name: 'Acme' }, nowMs)

describe('the gateway gate', () => {
  test.each([
    ['the plan', { plan: 'team' }, /enterprise plan/],
    ['the enablement', { plan: 'enterprise' }, /operator has not enabled/],
    ['the opt-in', { plan: 'enterprise', gatewayEnabled: true }, /opted in/],
  ] as const)('names %s when it is what is missing', (_what, fields, message) => {
    const call = () => assertGatewayAccess({ ...organisation, ...fields })
    expect(call).toThrow(message)
    expect(call).toThrow(expect.objectContaining({ code: 'gateway_not_enabled' }))
  })

  test('accepts an organisation with all three', () => {
    assertGatewayAccess({ ...organisation, plan: 'enterprise', gatewayEnabled: true, gatewayOptIn: true })
  })
})

describe('the subscription', () => {
  const withSubscription = (subscription: Parameters<typeof changeOrganisation>[1]['subscription']) =>
    changeOrganisation(organisation, { subscription }, nowMs)
  const refused = (subscription: ReturnType<typeof withSubscription>, atMs: number) =>
    expect(() => assertSubscription(subscription, atMs)).toThrow(
      expect.objectContaining({ code: 'subscription_required' }),
    )

  test('is active from its first millisecond until just before its end', () => {
    const limited = withSubscription({ endsAt: nowMs + dayMs })
    refused(limited, nowMs - 1)
    assertSubscription(limited, nowMs)
    assertSubscription(limited, nowMs + dayMs - 1)
    refused(limited, nowMs + dayMs)
  })

  test('ends at once when it is cancelled without a date', () => {
    refused(withSubscription({ status: 'cancelled' }), nowMs)
    refused(
      changeOrganisation(withSubscription({ endsAt: nowMs + dayMs }), { subscription: { status: 'cancelled' } }, nowMs),
      nowMs,
    )
    refused(withSubscription({ status: 'cancelled', startsAt: nowMs + dayMs }), nowMs + 2 * dayMs)
  })

  test('runs until its end date when it is cancelled with a date', () => {
    const cancelled = withSubscription({ status: 'cancelled', endsAt: nowMs + dayMs })
    assertSubscription(cancelled, nowMs + dayMs - 1)
    refused(cancelled, nowMs + dayMs)
  })

  test('has no end when it is made active again', () => {
    const again = changeOrganisation(
      withSubscription({ status: 'cancelled' }),
      { subscription: { status: 'active' } },
      nowMs,
    )
    assertSubscription(again, nowMs + 1000 * dayMs)
  })

  test('cannot end before it begins', () => {
    expect(() => withSubscription({ endsAt: nowMs - 1 })).toThrow(
      expect.objectContaining({ param: 'subscription.endsAt' }),
    )
  })
})

describe('the rules for an organisation', () => {
  test('a new organisation has no access until the operator enables it', () => {
    expect(organisation).toMatchObject({
      plan: 'free',
      gatewayEnabled: false,
      gatewayOptIn: false,
      monthlyBudgetPicoUsd: 0n,
    })
  })

  test.each([
    ['name', { name: ' ' }],
    ['timeZone', { timeZone: 'Mars/Olympus' }],
    ['timeZone', { timeZone: '+02:00' }],
    ['periodAnchorDay', { periodAnchorDay: 29 }],
    ['periodAnchorDay', { periodAnchorDay: 1.5 }],
    ['monthlyBudgetUsd', { monthlyBudgetPicoUsd: -1n }],
    ['monthlyBudgetUsd', { monthlyBudgetPicoUsd: 4_000_001n * 10n ** 12n }],
    ['markupPercent', { markupBasisPoints: 100_001 }],
    ['disabledModels', { disabledModels: Array.from({ length: 1_001 }, (_, index) => `model-${index}`) }],
  ] as const)('%s out of its limits is refused by name', (param, change) => {
    expect(() => changeOrganisation(organisation, change, nowMs)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    )
  })

  test('a change keeps the fields that it does not contain', () => {
    const changed = changeOrganisation(organisation, { markupBasisPoints: 1250, name: undefined as never }, nowMs)
    expect(changed).toEqual({ ...organisation, markupBasisPoints: 1250 })
  })

  test('money and markup are parsed exactly, and rejected instead of rounded', () => {
    expect(parseMonthlyBudget('0.000000000001')).toBe(1n)
    expect(parseMonthlyBudget(50)).toBe(50n * 10n ** 12n)
    expect(() => parseMonthlyBudget('0.0000000000001')).toThrow(expect.objectContaining({ param: 'monthlyBudgetUsd' }))
    expect(() => parseMonthlyBudget('fifty')).toThrow(expect.objectContaining({ param: 'monthlyBudgetUsd' }))
    expect([
      parseMarkup('12.5'),
      parseMarkup(0),
      parseMarkup('3.07'),
      parseMarkup('100'),
      parseMarkup('1.500'),
    ]).toEqual([1250, 0, 307, 10_000, 150])
    for (const wrong of ['12.555', '-1', '', '1e3', 'ten']) expect(() => parseMarkup(wrong)).toThrow(/markupPercent/)
  })
})
