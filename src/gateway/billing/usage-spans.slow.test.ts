import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { usageReportQuerySchema } from '../../contract/usage-reports.ts'
import { createSpaceId, silentLog } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import { answered, callOf, insertOrganisation, movableClock, organisationWith } from './testing/ledger-fixture.ts'
import { UsageCounting } from './usage-counting.ts'
import { coverDays, loadClosedTo, spanDays } from './usage-spans.store.ts'

const dayMs = 86_400_000
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

describe('the cover of a range', () => {
  test('has each day once, and no span that is open or reaches beyond the range', () => {
    const closedTo = '2026-11-02'
    for (let first = 0; first < 40; first += 1) {
      for (const length of [1, 13, 14, 15, 29, 60, 398]) {
        const fromMs = Date.parse('2025-10-01') + first * dayMs
        const range = Array.from({ length }, (_, index) => dayOf(fromMs + index * dayMs))
        const { spans, days } = coverDays(range, closedTo)
        const spanned = spans.flatMap((span) =>
          Array.from({ length: spanDays }, (_, index) => dayOf(Date.parse(span) + index * dayMs)),
        )
        expect([...spanned, ...days].toSorted()).toEqual(range)
        expect(spanned.every((day) => day < closedTo)).toBe(true)
        // At both ends a part of a span, and the days that are not closed.
        const open = range.filter((day) => day >= closedTo).length
        expect(days.length - open).toBeLessThan(2 * spanDays)
      }
    }
  })
})

describe('spans', () => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  const clock = movableClock(now)
  const spaces = [createSpaceId(), createSpaceId()]
  const tables = [
    'usage_latency_day_sums',
    'usage_latency_spans',
    'usage_model_spans',
    'usage_spans',
    'usage_tag_model_spans',
    'usage_tag_spans',
  ]
  const organisations: Organisation[] = ['Asia/Kathmandu', 'America/Lima'].map((timeZone) =>
    organisationWith('1000', { timeZone }),
  )
  let databases: TestDatabases
  let ledger: LedgerService
  let instances: UsageCounting[]

  beforeAll(async () => {
    databases = await openTestDatabases()
    const { control } = databases
    for (const organisation of organisations) await insertOrganisation(control, organisation)
    ledger = await createLedger({ database: control, clock, log: silentLog })
    instances = [1, 2].map(() => new UsageCounting({ database: control, clock, log: silentLog }))
    for (let call = 0; call < 150; call += 1) await settle(now - call * 0.4 * dayMs - 3_600_000, call)
    clock.set(now)
    // The ledger has closed spans already, and does it once a day.
    await closeAll([ledger.maintain])
    await ledger.maintain()
    for (const table of tables) await control.execute(`truncate ${table}`)
    await control.execute("update usage_span_tables set closed_to = usage_span_start('2026-08-20')")
  }, 120_000)
  afterAll(async () => {
    await ledger.close()
    await databases.drop()
  })

  /** A call of the past. */
  async function settle(atMs: number, kind: number) {
    clock.set(atMs)
    const surface = kind % 3 === 0 ? 'space_chat' : 'gateway'
    const hold = await ledger.hold(
      callOf(organisations[kind % 2]!, {
        surface,
        spaceId: surface === 'space_chat' ? spaces[kind % spaces.length]! : null,
        model: kind % 5 === 0 ? 'beta' : 'alpha',
        stream: true,
        tags: surface === 'gateway' ? { user: `user ${kind % 4}` } : undefined,
      }),
    )
    clock.set(atMs + (kind % 7) * 900)
    await hold.settle(
      answered(90, kind, { ending: kind % 10 === 0 ? 'provider_failed' : 'completed', firstTokenMs: kind }),
    )
  }

  async function reports(): Promise<unknown[]> {
    const queries = [
      {},
      { model: 'alpha' },
      { surface: 'space_chat' },
      { split: 'space' },
      { split: 'space', model: 'beta' },
      { spaceId: spaces[0]!, split: 'surface' },
      { split: 'user' },
      { split: 'user', model: 'alpha' },
      { tagKey: 'user', tagValue: 'user 1' },
    ]
    const from = '2026-09-08'
    return Promise.all(
      queries.flatMap((query) =>
        organisations.map(async (organisation) => {
          const parsed = usageReportQuerySchema.parse({ from, ...query })
          const { latency, ...report } = await ledger.reports.load(organisation, organisation, parsed)
          // Models with as many calls are in any order.
          const models = latency.models.toSorted((a, b) => (a.model < b.model ? -1 : 1))
          return { ...report, latency: { ...latency, models } }
        }),
      ),
    )
  }

  const findings = async () => (await ledger.audit()).findings

  /** Instances do their work at the same time until everything is closed. */
  async function closeAll(work = instances.map((instance) => () => instance.run())) {
    const closable = dayOf(now - 16 * dayMs)
    for (let round = 0; (await loadClosedTo(databases.control)) < closable; round += 1) {
      expect(round).toBeLessThan(1_000)
      await Promise.all(work.map((run) => run()))
    }
  }

  test('a report is the same before and after its spans are closed, and a closing that fails leaves nothing', async () => {
    const { control } = databases
    const initiallyClosedTo = await loadClosedTo(control)
    const before = await reports()
    // The table whose turn is first.
    await control.execute('alter table usage_latency_day_sums rename to usage_latency_day_sums_away')
    await expect(instances[0]!.run()).rejects.toThrow('usage_latency_day_sums')
    await control.execute('alter table usage_latency_day_sums_away rename to usage_latency_day_sums')
    expect(await loadClosedTo(control)).toBe(initiallyClosedTo)
    expect(await findings()).toEqual([])
    await closeAll()
    for (const table of tables) {
      expect(await control.query(`select 1 from ${table} limit 1`), table).toHaveLength(1)
    }
    expect(await reports()).toEqual(before)
    expect(await findings()).toEqual([])
  })

  test('a call that is counted after its span was closed counts in the span, also while the next span is being closed', async () => {
    const { control } = databases
    await closeAll()
    // As if only the first organisation of the next span were closed.
    const ids = organisations.map(({ id }) => id).toSorted()
    const requests = async () =>
      ((await reports()) as { totals: { requests: number } }[]).map(({ totals }) => totals.requests)
    const before = await requests()
    const closedTo = Date.parse(await loadClosedTo(control))
    for (const target of tables) {
      const { closed } = (
        await control.query<{ closed: boolean }>('select usage_close_span($1, $2, 1) as closed', [
          target,
          dayOf(closedTo + spanDays * dayMs),
        ])
      )[0]!
      expect(closed).toBe(true)
    }
    expect(await control.query('select distinct after_organisation::text as id from usage_span_tables')).toEqual([
      { id: ids[0] },
    ])
    for (const atMs of [closedTo - 30 * dayMs, closedTo - dayMs, closedTo + 2 * dayMs]) {
      for (const kind of [0, 1, 2, 3]) await settle(atMs, kind)
    }
    clock.set(now)
    const after = await requests()
    expect(after[0]! - before[0]!).toBe(6)
    expect(await findings()).toEqual([])
  })

  test('the audit finds a changed span', async () => {
    const { control } = databases
    await closeAll()
    const change = (sign: string) =>
      control.execute(`update usage_model_spans set billed_pico_usd = billed_pico_usd ${sign} 1
      where first_day = (select min(first_day) from usage_model_spans)`)
    await change('+')
    expect((await findings()).map(({ rule }) => rule)).toContain('usage sums of spans add up to their days')
    await change('-')
    expect(await findings()).toEqual([])
  })
})
