import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createRandom } from '../../../test/harness/random.ts'
import { testSeed } from '../../../test/harness/seed.ts'
import { installationUsageQuerySchema, installationUsageSchema } from '../../contract/installation-usage.ts'
import { formatPicoUsd, parsePicoUsd, silentLog } from '../../platform/kernel/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import { answered, callOf, insertOrganisation, movableClock, organisationWith } from './testing/ledger-fixture.ts'

/** Reports of the whole installation against the entries of the ledger, which the test reads with its own SQL. */

const now = Date.parse('2026-11-21T12:00:00Z')
const clock = movableClock(now)
const organisations = ['Asia/Kathmandu', 'America/Los_Angeles', 'UTC'].map((timeZone) =>
  organisationWith('100', { timeZone }),
)
let databases: TestDatabases
let ledgers: LedgerService[]

const random = createRandom(testSeed)
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!

beforeAll(async () => {
  databases = await openTestDatabases()
  const database = { ...databases.control, engine: 'postgres' as const }
  for (const organisation of organisations) await insertOrganisation(databases.control, organisation)
  const create = () => createLedger({ database, clock, log: silentLog })
  ledgers = [await create(), await create()]
  for (let call = 0; call < 200; call += 1) await makeCall()
  clock.set(now)
}, 120_000)
afterAll(async () => {
  for (const ledger of ledgers) await ledger.close()
  await databases.drop()
})

async function makeCall() {
  clock.set(now - Math.floor(random() * 20 * 86_400_000))
  const call = callOf(pick(organisations), { model: pick(['alpha', 'beta', 'gamma']), stream: true })
  const hold = await pick(ledgers).hold(call)
  clock.set(clock.now() + Math.floor(random() * 8_000))
  if (random() < 0.1) await hold.settle({ kind: 'unanswered', reason: pick(['upstream_timeout', 'client_closed']) })
  else {
    const [providerId, hosting] = pick([['azure', 'eu'] as const, ['openai', 'us'] as const, ['openai', 'eu'] as const])
    const ending = pick(['completed', 'completed', 'client_closed', 'provider_failed'] as const)
    const firstTokenMs = Math.floor(random() * 900)
    await hold.settle(answered(90, Math.floor(random() * 100), { ending, providerId, hosting, firstTokenMs }))
  }
}

const load = async (query: Record<string, string> = {}) => {
  const report = await ledgers[0]!.installation.load(installationUsageQuerySchema.parse(query))
  return installationUsageSchema.parse(report)
}

/** The sums of the ledger itself, grouped by an expression. */
const entriesBy = (expression: string, where = 'true') =>
  databases.control.query<{ value: string; requests: bigint; billed: string }>(
    `select ${expression} as value, count(*) as requests, sum(billed_pico_usd)::text as billed
     from ledger_entries e join organisations o on o.id = e.organisation_id where ${where} group by 1 order by 1`,
  )

const plain = (rows: readonly { value: string; requests: bigint; billed: string }[]) =>
  rows.map(({ value, requests, billed }) => [value, Number(requests), formatPicoUsd(BigInt(billed))])
const byValue = (rows: readonly { id: string | null; requests: number; billedUsd: string }[]) =>
  rows
    .map(({ id, requests, billedUsd }) => [id ?? '', requests, billedUsd] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

describe(`reports of the installation (seed ${testSeed})`, () => {
  test.each([
    ['organisation', 'organisation_id::text'],
    ['provider', `coalesce(provider_id, '')`],
    ['model', 'model'],
    ['hosting', `coalesce(hosting, '')`],
  ])('add up to the ledger by %s, over all organisations and instances', async (split, expression) => {
    const report = await load({ split })
    expect(byValue(report.table.rows)).toEqual(plain(await entriesBy(expression)))
    expect(report.table.other).toBeNull()
    expect(report.complete).toBe(true)
  })

  test('add up by day in the zone of each organisation, and so do the parts of each day', async () => {
    const report = await load({ split: 'model' })
    const days = report.series.days.filter(({ requests }) => requests > 0)
    const expected = await entriesBy(`to_char(started_at at time zone o.time_zone, 'YYYY-MM-DD')`)
    expect(days.map(({ day, requests, billedUsd }) => [day, requests, billedUsd])).toEqual(plain(expected))
    for (const { billedUsd, parts } of days) {
      const sum = parts.reduce((total, part) => total + parsePicoUsd(part.billedUsd), 0n)
      expect(formatPicoUsd(sum)).toBe(billedUsd)
    }
  })

  test('add up under every filter, and count failed calls', async () => {
    const { id } = organisations[0]!
    const where = `organisation_id = '${id}' and provider_id = 'openai' and model = 'alpha' and hosting = 'eu'`
    const report = await load({ organisationId: id, provider: 'openai', model: 'alpha', hosting: 'eu' })
    const [all] = await entriesBy(`'all'`, where)
    const [failed] = await entriesBy(`'all'`, `${where} and ending = 'provider_failed'`)
    expect(report.totals).toMatchObject({
      requests: Number(all?.requests ?? 0),
      failed: Number(failed?.requests ?? 0),
      billedUsd: formatPicoUsd(BigInt(all?.billed ?? 0)),
    })
    expect(report.latency).toBeNull()
  })

  test('have the durations of completed calls, of everything and of one organisation', async () => {
    const { id } = organisations[0]!
    const completed = async (where: string) =>
      Number((await entriesBy(`'all'`, `ending = 'completed' and ${where}`))[0]!.requests)
    const all = await load({ split: 'provider' })
    expect(all.latency!.all.requests).toBe(await completed('true'))
    expect(all.table.rows.find((row) => row.id === 'openai')!.totalMs).not.toBeNull()
    const own = await load({ organisationId: id, split: 'model' })
    expect(own.latency!.all.requests).toBe(await completed(`organisation_id = '${id}'`))
  })

  test('forecast the month from its days', async () => {
    const { month } = await load()
    const [spent] = await entriesBy(
      `'all'`,
      `(started_at at time zone o.time_zone)::date between date '2026-11-01' and date '2026-11-30'`,
    )
    expect(month).toMatchObject({ startsOn: '2026-11-01', endsOn: '2026-11-30' })
    expect(month.spentUsd).toBe(formatPicoUsd(BigInt(spent!.billed)))
    expect(parsePicoUsd(month.forecast!.expectedUsd)).toBeGreaterThan(parsePicoUsd(month.spentUsd))
  })

  test('reject a range of more than 92 days, and one that is reversed', async () => {
    await expect(load({ from: '2026-06-01', to: '2026-11-21' })).rejects.toThrow('at most 92 days')
    await expect(load({ from: '2026-11-21', to: '2026-11-20' })).rejects.toThrow('must not lie after')
  })

  test('export each row once, with names', async () => {
    const { name, lines } = ledgers[0]!.installation.loadCsv({}, (id) =>
      id === organisations[2]!.id ? '=Acme' : undefined,
    )
    const rows = (await Array.fromAsync(lines)).join('').trimEnd().split('\r\n')
    expect(name).toBe('installation-usage-2026-10-23-2026-11-21')
    expect(rows[0]).toBe(
      'day,organisationId,organisation,provider,model,hosting,requests,failed,promptTokens,completionTokens,billedUsd',
    )
    const total = rows.slice(1).reduce((sum, row) => sum + Number(row.split(',')[6]), 0)
    expect(total).toBe(200)
    expect(rows.some((row) => row.includes(`'=Acme`))).toBe(true)
  })
})

test('entries from before the upgrade are added once, next to those that are counted meanwhile', async () => {
  const before = await load({ split: 'provider' })
  await databases.control.execute('alter table ledger_entries disable trigger user')
  await databases.control.execute('update ledger_entries set installation_queued = false')
  await databases.control.execute('alter table ledger_entries enable trigger user')
  for (const table of ['days', 'provider_days', 'organisation_days', 'provider_latency', 'organisation_latency']) {
    await databases.control.execute(`delete from installation_${table}`)
  }
  await databases.control.execute(`update installation_backfill set after_request_id = '', finished_at = null`)
  const restarted = await createLedger({
    database: { ...databases.control, engine: 'postgres' as const },
    clock,
    log: silentLog,
  })
  await restarted.maintain()
  await restarted.maintain()
  const after = await restarted.installation.load(installationUsageQuerySchema.parse({ split: 'provider' }))
  await restarted.close()
  expect(after.complete).toBe(true)
  expect(after.table).toEqual(before.table)
  expect(after.latency).toEqual(before.latency)
})
