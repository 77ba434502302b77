import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createRandom } from '../../../test/harness/random.ts'
import { usageReportQuerySchema, usageRequestsQuerySchema, usageTagLimits } from '../../contract/usage-reports.ts'
import { createSpaceId, formatPicoUsd, parsePicoUsd, silentLog } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import { bucketsPerDoubling } from './usage-tables.ts'
import { answered, callOf, insertOrganisation, movableClock, organisationWith } from './testing/ledger-fixture.ts'
import { testSeed } from '../../../test/harness/seed.ts'

/** Reports against the entries of the ledger, which the test reads with its own SQL. */

const seed = testSeed
const now = Date.parse('2026-11-21T12:00:00Z')
const clock = movableClock(now)
const spaces = [createSpaceId(), createSpaceId()]
let databases: TestDatabases
let ledgers: LedgerService[]
// 45 minutes off the full hour.
const organisation: Organisation = organisationWith('100', { timeZone: 'Asia/Kathmandu' })
const stranger = organisationWith('100')

const random = createRandom(seed)
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!

beforeAll(async () => {
  databases = await openTestDatabases()
  // Several instances on one database, on the embedded engine as well.
  const database = { ...databases.control, engine: 'postgres' as const }
  for (const { id, timeZone } of [organisation, stranger]) {
    await insertOrganisation(databases.control, { ...organisation, id, timeZone })
  }
  const create = () => createLedger({ database, clock, log: silentLog })
  ledgers = [await create(), await create()]
  for (let call = 0; call < 300; call += 1) await makeCall()
  clock.set(now)
}, 120_000)
afterAll(async () => {
  for (const ledger of ledgers) await ledger.close()
  await databases.drop()
})

async function makeCall() {
  clock.set(now - Math.floor(random() * 20 * 86_400_000))
  const surface = pick(['gateway', 'gateway', 'space_chat'] as const)
  const call = callOf(pick([organisation, organisation, organisation, stranger]), {
    surface,
    spaceId: surface === 'space_chat' ? pick(spaces) : null,
    model: pick(['alpha', 'beta', 'gamma']),
    stream: true,
    tags:
      surface === 'gateway' && random() < 0.7
        ? { user: pick(['ada', 'bob', 'Zoë']), 'metadata.team': pick(['red', 'blue']) }
        : undefined,
  })
  const hold = await pick(ledgers).hold(call)
  clock.set(clock.now() + Math.floor(random() * 8_000))
  if (random() < 0.1) await hold.settle({ kind: 'unanswered', reason: pick(['upstream_timeout', 'client_closed']) })
  else {
    const ending = pick(['completed', 'completed', 'completed', 'client_closed', 'provider_failed'] as const)
    await hold.settle(answered(90, Math.floor(random() * 100), { ending, firstTokenMs: Math.floor(random() * 900) }))
  }
}

const reportOf = (query: Record<string, string> = {}, subject = organisation) =>
  ledgers[0]!.reports.load(subject, subject, usageReportQuerySchema.parse({ from: '2026-10-20', ...query }))

/** The sums of the ledger itself, grouped by an expression. */
function entriesBy(expression: string, where = 'true') {
  return databases.control.query<{ value: string | null; requests: bigint; billed: string }>(
    `select ${expression} as value, count(*) as requests, sum(billed_pico_usd)::text as billed
     from ledger_entries where organisation_id = $1 and ${where} group by 1 order by 1`,
    [organisation.id],
  )
}

const plain = (rows: readonly { value: string | null; requests: bigint; billed: string }[]) =>
  rows.map(({ value, requests, billed }) => [value, Number(requests), formatPicoUsd(BigInt(billed))])
const byValue = (rows: readonly { id: string | null; requests: number; billedUsd: string }[]) =>
  rows
    .map(({ id, requests, billedUsd }) => [id, requests, billedUsd] as const)
    .toSorted(([a], [b]) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : 1))

describe(`reports of random calls (seed ${seed})`, () => {
  test.each([
    ['model', 'model'],
    ['surface', 'surface'],
    ['space', 'space_id::text'],
  ])('add up to the ledger by %s', async (split, expression) => {
    const report = await reportOf({ split })
    expect(byValue(report.table.rows)).toEqual(plain(await entriesBy(expression)))
    expect(report.table.other).toBeNull()
  })

  test('add up by day in the zone of the organisation, and so do the parts of each day', async () => {
    const report = await reportOf({ split: 'model' })
    const days = report.series.days.filter(({ requests }) => requests > 0)
    const expected = await entriesBy(`to_char(started_at at time zone 'Asia/Kathmandu', 'YYYY-MM-DD')`)
    expect(days.map(({ day, requests, billedUsd }) => [day, requests, billedUsd])).toEqual(plain(expected))
    for (const { billedUsd, parts } of days) {
      const sum = parts.reduce((total, part) => total + parsePicoUsd(part.billedUsd), 0n)
      expect(formatPicoUsd(sum)).toBe(billedUsd)
    }
  })

  test('add up by tag, with the calls without one', async () => {
    const report = await reportOf({ split: 'user' })
    const [all] = await entriesBy('null')
    expect(report.totals).toMatchObject({
      requests: Number(all!.requests),
      billedUsd: formatPicoUsd(BigInt(all!.billed)),
    })
    const sum = report.table.rows.reduce((total, row) => total + parsePicoUsd(row.billedUsd), 0n)
    expect(formatPicoUsd(sum)).toBe(report.totals.billedUsd)
    expect(report.table.rows.map(({ id }) => id).toSorted()).toEqual(['Zoë', 'ada', 'bob', null].toSorted())
    // Each tagged request is in the list of its tag.
    for (const { id, requests } of report.table.rows.filter((row) => row.id !== null)) {
      const { items } = await requestsOf({ tagKey: 'user', tagValue: id!, limit: '100' })
      expect(items).toHaveLength(requests)
      expect(items.every(({ tags }) => tags.some(({ key, value }) => key === 'user' && value === id))).toBe(true)
    }
    const team = await reportOf({ split: 'model', tagKey: 'metadata.team', tagValue: 'red' })
    expect(team.totals.requests).toBe(
      (await requestsOf({ tagKey: 'metadata.team', tagValue: 'red', limit: '100' })).items.length,
    )
  })

  test('filters by model, surface and Space select the same calls as the ledger', async () => {
    const report = await reportOf({ model: 'alpha', surface: 'space_chat', spaceId: spaces[0]! })
    const [all] = await entriesBy('null', `model = 'alpha' and space_id = '${spaces[0]!}'`)
    expect(report.totals.requests).toBe(Number(all?.requests ?? 0n))
  })

  test('failures count by code, and calls whose client left do not fail', async () => {
    const report = await reportOf()
    const expected = await entriesBy(
      'coalesce(failure, ending)',
      `(ending = 'provider_failed' or failure = 'upstream_timeout')`,
    )
    const codes = report.errors.codes.map(({ code, requests }) => [code, requests])
    expect(codes.toSorted()).toEqual(expected.map(({ value, requests }) => [value, Number(requests)]))
    expect(report.totals.failed).toBe(expected.reduce((sum, { requests }) => sum + Number(requests), 0))
  })

  test('percentiles are those of the exact ranks, within the width of a bucket', async () => {
    const { latency } = await reportOf({ surface: 'gateway' })
    const rows = await databases.control.query<{ model: string; durations: number[] }>(
      `select model, array_agg(extract(epoch from settled_at - started_at)::float8 * 1000 order by settled_at - started_at) as durations
       from ledger_entries where organisation_id = $1 and surface = 'gateway' and ending = 'completed' group by 1`,
      [organisation.id],
    )
    expect(rows.length).toBeGreaterThan(0)
    const bucketWidth = 2 ** (1 / bucketsPerDoubling)
    for (const { model, durations } of rows) {
      const { p50, p95 } = latency.models.find((row) => row.model === model)!.totalMs!
      for (const [found, share] of [
        [p50, 0.5],
        [p95, 0.95],
      ] as const) {
        // A rank that falls between two calls may be either of them. Milliseconds are rounded.
        const last = durations.length - 1
        const lowest = durations[Math.max(0, Math.floor(share * durations.length) - 1)]!
        const highest = durations[Math.min(last, Math.ceil(share * durations.length))]!
        expect(found, model).toBeGreaterThanOrEqual(Math.floor(lowest / bucketWidth))
        expect(found, model).toBeLessThanOrEqual(Math.ceil(highest * bucketWidth))
      }
    }
  })

  test('one organisation never sees the calls of another', async () => {
    const own = await reportOf()
    const other = await reportOf({}, stranger)
    const [{ total }] = (await databases.control.query<{ total: bigint }>(
      'select count(*) as total from ledger_entries',
    )) as [{ total: bigint }]
    expect(own.totals.requests + other.totals.requests).toBe(Number(total))
    const { items } = await requestsOf({ limit: '100' })
    const ids = await entriesBy('request_id')
    expect(items.every(({ requestId }) => ids.some(({ value }) => value === requestId))).toBe(true)
  })

  test('the audit finds nothing, and finds a changed sum', async () => {
    expect((await ledgers[0]!.audit()).findings).toEqual([])
    await databases.control.execute(
      `update usage_days set billed_pico_usd = billed_pico_usd + 1 where organisation_id = $1 and model = 'alpha'
         and day = (select max(day) from usage_days where organisation_id = $1 and model = 'alpha')`,
      [organisation.id],
    )
    const { findings } = await ledgers[0]!.audit()
    expect(findings.map(({ rule }) => rule)).toContain('usage reports add up to the entries')
    await databases.control.execute(
      `update usage_days set billed_pico_usd = billed_pico_usd - 1 where organisation_id = $1 and model = 'alpha'
         and day = (select max(day) from usage_days where organisation_id = $1 and model = 'alpha')`,
      [organisation.id],
    )
  })
})

const requestsOf = (query: Record<string, string>) =>
  ledgers[1]!.reports.loadRequests(organisation, usageRequestsQuerySchema.parse({ from: '2026-10-20', ...query }))

describe('the list of requests', () => {
  test('pages through everything once, newest first, with and without filters', async () => {
    for (const [query, where] of [
      [{}, 'true'],
      [{ model: 'beta' }, `model = 'beta'`],
      [{ ending: 'failed' }, `(ending = 'provider_failed' or failure = 'upstream_timeout')`],
      [{ ending: 'client_closed' }, `ending = 'client_closed'`],
      [{ ending: 'completed', surface: 'gateway' }, `ending = 'completed' and surface = 'gateway'`],
      [{ spaceId: 'none' }, 'space_id is null'],
    ] as [Record<string, string>, string][]) {
      const found: string[] = []
      const times: string[] = []
      let cursor: string | null = null
      do {
        const page: Awaited<ReturnType<typeof requestsOf>> = await requestsOf({
          ...query,
          limit: '17',
          ...(cursor !== null && { cursor }),
        })
        found.push(...page.items.map(({ requestId }) => requestId))
        times.push(...page.items.map(({ startedAt }) => startedAt))
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(found.toSorted()).toEqual((await entriesBy('request_id', where)).map(({ value }) => value))
      expect(times).toEqual(times.toSorted().toReversed())
    }
  })

  test('a cursor that is none is refused', async () => {
    await expect(requestsOf({ cursor: 'next' })).rejects.toMatchObject({ param: 'cursor' })
  })
})

describe('limits of tags', () => {
  test('values above the limit of a day count together, and keys above theirs not at all', async () => {
    const crowded = organisationWith('100', { timeZone: 'UTC' })
    await insertOrganisation(databases.control, crowded)
    // As many values as fit, without that many calls.
    await databases.control.execute(
      `insert into usage_tag_day_values (organisation_id, key, day, different_values) values ($1, 'user', '2026-11-21', $2)`,
      [crowded.id, usageTagLimits.valuesPerKeyAndDay - 1],
    )
    const call = async (tags: Record<string, string>) => {
      clock.set(clock.now() + 1)
      const hold = await ledgers[0]!.hold(callOf(crowded, { tags }))
      await hold.settle(answered(90, 10))
    }
    for (const user of ['first', 'second', 'third', 'first']) await call({ user })
    const report = await reportOf({ split: 'user', from: '2026-11-20' }, crowded)
    expect(report.table.rows.map(({ id, requests }) => [id, requests])).toEqual([['first', 2]])
    expect(report.table.other).toMatchObject({ requests: 2 })
    for (let key = 0; key < usageTagLimits.keysPerOrganisation + 3; key += 1) await call({ [`metadata.k${key}`]: 'x' })
    const { options } = await reportOf({}, crowded)
    expect(options.tagKeys).toHaveLength(usageTagLimits.keysPerOrganisation)
    expect((await ledgers[0]!.audit()).findings).toEqual([])
  })

  test('recorded tags are deleted when an organisation stops recording them', async () => {
    const shy = organisationWith('100')
    await insertOrganisation(databases.control, shy)
    const hold = await ledgers[0]!.hold(callOf(shy, { tags: { user: 'ada' } }))
    await hold.settle(answered(90, 10))
    expect((await reportOf({ split: 'user' }, shy)).table.rows[0]).toMatchObject({ id: 'ada' })
    await databases.control.execute('update organisations set usage_tags = false where id = $1', [shy.id])
    const { tidy } = await import('./usage-counting.store.ts')
    await tidy(databases.control)
    expect((await reportOf({ split: 'user' }, shy)).table.rows).toMatchObject([{ id: null, requests: 1 }])
    expect(await databases.control.query('select 1 from usage_tags where organisation_id = $1', [shy.id])).toEqual([])
  })
})
