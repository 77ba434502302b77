import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { AppError, createOrganisationId, createRequestId, createSpaceId } from '../../platform/kernel/index.ts'
import { createAllowance, dayAt, describeSpendingError, nextDayAt } from './site-spending.ts'
import { createSpendingStore, type DayState } from './site-spending.store.ts'

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

const day = '2026-11-24'

/** A site that is open in generation 1. */
async function makeSite(capPicoUsd: bigint) {
  const { control } = databases
  const [organisationId, spaceId] = [createOrganisationId(), createSpaceId()]
  await control.execute(
    `insert into organisations (id, name, plan, subscription_status, subscription_starts_at, gateway_enabled, gateway_opt_in,
       monthly_budget_pico_usd, markup_basis_points, time_zone, period_anchor_day, disabled_models, created_at, updated_at)
     values ($1, 'Acme', 'enterprise', 'active', now(), true, true, 0, 0, 'UTC', 1, '{}', now(), now())`,
    [organisationId],
  )
  await control.execute(
    `insert into spaces (id, organisation_id, name, instructions, model, settings, published, endpoint_id, created_at, updated_at)
     values ($1, $2, 'Space', '', 'm', '{}', true, $1, now(), now())`,
    [spaceId, organisationId],
  )
  await control.execute(
    `insert into sites (space_id, organisation_id, name, public_id, enabled, paused, settings, daily_cap_pico_usd, generation, updated_at)
     values ($1, $2, $3, $1, true, false, '{}', $4, 1, now())`,
    [spaceId, organisationId, `site-${spaceId}`, capPicoUsd],
  )
  return { store: createSpendingStore(control), place: { spaceId, day } }
}

describe('the day of a site in the database', () => {
  test('grants many answers at once no more than the cap, and whole again what they have not spent', async () => {
    const { store, place } = await makeSite(1_000n)
    const ids = Array.from({ length: 30 }, () => createRequestId())
    await store.countMessage(place, 1)
    const granted = await Promise.all(
      ids.map((requestId) => store.grant(place, { generation: 1, requestId, amountPicoUsd: 70n })),
    )
    expect(granted.reduce((sum, one) => sum + one!.grantedPicoUsd, 0n)).toBe(1_000n)
    await Promise.all(ids.map((requestId) => store.closeAnswer(place.spaceId, requestId, 0n)))
    expect(await store.loadDay(place)).toMatchObject({ heldPicoUsd: 0n, spentPicoUsd: 0n, messages: 1 })
  })

  test('counts what an answer has spent once, however often that is written', async () => {
    const { store, place } = await makeSite(1_000n)
    const requestId = createRequestId()
    await store.countMessage(place, 1)
    for (const amountPicoUsd of [100n, 50n]) await store.grant(place, { generation: 1, requestId, amountPicoUsd })
    for (let time = 0; time < 3; time++) await store.closeAnswer(place.spaceId, requestId, 130n)
    expect(await store.loadDay(place)).toMatchObject({ heldPicoUsd: 0n, spentPicoUsd: 130n })
    const [rest] = [await store.grant(place, { generation: 1, requestId: createRequestId(), amountPicoUsd: 10_000n })]
    expect(rest).toMatchObject({ grantedPicoUsd: 870n, capPicoUsd: 1_000n })
  })

  test('grants nothing to another generation, and nothing once the site is paused or its Space is unpublished', async () => {
    const { store, place } = await makeSite(1_000n)
    const grant = (generation = 1) =>
      store.grant(place, { generation, requestId: createRequestId(), amountPicoUsd: 1n })
    expect(await store.countMessage(place, 2)).toBeUndefined()
    await store.countMessage(place, 1)
    expect(await grant(2)).toBeUndefined()
    expect(await grant()).toMatchObject({ grantedPicoUsd: 1n })
    const { control } = databases
    await control.execute('update sites set paused = true where space_id = $1', [place.spaceId])
    expect(await grant()).toBeUndefined()
    await control.execute('update sites set paused = false where space_id = $1', [place.spaceId])
    await control.execute('update spaces set published = false where id = $1', [place.spaceId])
    expect(await grant()).toBeUndefined()
    expect(await store.countMessage(place, 1)).toBeUndefined()
  })

  test('grants no more after its cap was lowered below what is spent', async () => {
    const { store, place } = await makeSite(1_000n)
    const requestId = createRequestId()
    await store.countMessage(place, 1)
    await store.grant(place, { generation: 1, requestId, amountPicoUsd: 600n })
    await databases.control.execute('update sites set daily_cap_pico_usd = 500 where space_id = $1', [place.spaceId])
    const more = await store.grant(place, { generation: 1, requestId: createRequestId(), amountPicoUsd: 1n })
    expect(more).toMatchObject({ grantedPicoUsd: 0n, heldPicoUsd: 600n })
  })
})

describe('what an answer may cost', () => {
  const granting = (state: Partial<DayState & { grantedPicoUsd: bigint }> = {}) => {
    const asked: bigint[] = []
    const ended: bigint[] = []
    const allowance = createAllowance({
      async grant(amount) {
        asked.push(amount)
        return { heldPicoUsd: 0n, spentPicoUsd: 0n, capPicoUsd: 1_000n, grantedPicoUsd: amount, ...state }
      },
      secondsLeft: () => 60,
      onEnd: (spent) => void ended.push(spent),
    })
    return { allowance, asked, ended }
  }

  test('is asked for once by calls at the same time, and closed when the last hold is settled', async () => {
    const { allowance, asked, ended } = granting()
    await Promise.all([allowance.obtain(50n), allowance.obtain(50n), allowance.obtain(60n)])
    expect(asked).toEqual([50n, 10n])
    allowance.reserve(50n)
    allowance.end()
    await Promise.resolve()
    expect([allowance.freePicoUsd, ended]).toEqual([0n, []])
    await allowance.obtain(100n)
    expect(asked).toHaveLength(2)
    allowance.release(50n, 20n)
    expect(ended).toEqual([20n])
  })

  test('is closed without a hold, but not where nothing was asked for', async () => {
    const unasked = granting()
    unasked.allowance.end()
    const asked = granting()
    await asked.allowance.obtain(1n)
    asked.allowance.end()
    await expect.poll(() => asked.ended).toEqual([0n])
    expect(unasked.ended).toEqual([])
  })

  test('is busy where only answers that run hold the rest, and reached for today where it is spent', async () => {
    const quota = new AppError('insufficient_quota', 'No.')
    const held = granting({ grantedPicoUsd: 10n, heldPicoUsd: 900n, spentPicoUsd: 100n })
    await held.allowance.obtain(500n)
    expect(describeSpendingError(quota, held.allowance)).toMatchObject({ code: 'rate_limit_exceeded' })
    const spent = granting({ grantedPicoUsd: 10n, heldPicoUsd: 10n, spentPicoUsd: 900n })
    await spent.allowance.obtain(500n)
    expect(describeSpendingError(quota, spent.allowance)).toMatchObject({
      code: 'insufficient_quota',
      retryAfterSeconds: 60,
    })
    expect(describeSpendingError(new AppError('overloaded', 'Wait.'), spent.allowance)).toBeUndefined()
  })
})

test.each([
  ['the whole cap is too small', { grantedPicoUsd: 1_000n }, 1_001n],
  ['the budget of the organisation is spent', {}, 10n],
])('no time of another try is promised where %s', async (_, state, amount) => {
  const allowance = createAllowance({
    grant: async (asked) => ({
      heldPicoUsd: 0n,
      spentPicoUsd: 0n,
      capPicoUsd: 1_000n,
      grantedPicoUsd: asked,
      ...state,
    }),
    secondsLeft: () => 60,
    onEnd() {},
  })
  await allowance.obtain(amount)
  const described = describeSpendingError(new AppError('insufficient_quota', 'No.'), allowance)!
  expect([described.code, described.retryAfterSeconds]).toEqual(['insufficient_quota', undefined])
})

test('a day begins at midnight in the time zone of the organisation', () => {
  const atMs = Date.parse('2026-11-24T23:30:00Z')
  expect(new Date(nextDayAt(atMs, 'Europe/Berlin')).toISOString()).toBe('2026-11-25T23:00:00.000Z')
  expect(new Date(nextDayAt(atMs, 'UTC')).toISOString()).toBe('2026-11-25T00:00:00.000Z')
  expect([dayAt(atMs, 'UTC'), dayAt(atMs, 'Europe/Berlin'), dayAt(atMs, 'America/Lima')]).toEqual([
    '2026-11-24',
    '2026-11-25',
    '2026-11-24',
  ])
})
