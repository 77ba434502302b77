import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, withoutPooler } from '../../../test/harness/database.ts'
import { usageReportQuerySchema, usageRequestsQuerySchema } from '../../contract/usage-reports.ts'
import { type OpenedDatabases, openDatabases } from '../../../test/harness/statements.ts'
import { silentLog, systemClock } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { HoldRequest } from './port.ts'
import { createLedger, type LedgerDeps, type LedgerService } from './ledger.ts'
import { firstOrganisation, removeEntries } from './retention.store.ts'
import { answered, callOf, insertOrganisation, movableClock, organisationWith } from './testing/ledger-fixture.ts'

const dayMs = 86_400_000
const today = Date.parse('2026-11-22T00:00:00Z')
const keepEntriesDays = 62
/** The first moment whose entries are kept. */
const keptFrom = today - keepEntriesDays * dayMs

let place: DatabasePlace
let databases: OpenedDatabases
let organisation: Organisation
const clock = movableClock(today)
const ledgers: LedgerService[] = []

beforeEach(async () => {
  place = await freshDatabasePlace()
  await openAll()
  organisation = organisationWith('1000')
  await insertOrganisation(databases.control, organisation)
})
afterEach(async () => {
  await closeAll()
  await place.remove()
})

async function openAll() {
  const { dataFolder, databaseUrl, databaseDirectUrl } = place
  databases = await openDatabases({ dataFolder, databaseUrl, databaseDirectUrl, clock: systemClock, log: silentLog })
}

async function closeAll() {
  for (const ledger of ledgers.splice(0)) await ledger.close()
  await databases.close()
}

async function openLedger(changes: Partial<LedgerDeps> = {}): Promise<LedgerService> {
  const ledger = await createLedger({ database: databases.control, clock, log: silentLog, ...changes })
  ledgers.push(ledger)
  return ledger
}

/** Calls that began at this time. Every tenth failed. */
async function settle(ledger: LedgerService, atMs: number, count: number, of = organisation): Promise<string[]> {
  clock.set(atMs)
  const calls = Array.from({ length: count }, (_, index) => callOf(of, { tags: { user: `user-${index % 3}` } }))
  const run = async (call: HoldRequest, index: number) => {
    const ending = index % 10 === 9 ? 'provider_failed' : 'completed'
    await (await ledger.hold(call)).settle(answered(90, 10, { ending }))
  }
  for (let first = 0; first < count; first += 500) await Promise.all(calls.slice(first, first + 500).map(run))
  clock.set(today + 1)
  // One run may end before it has counted all, after its time or where the timer's run has the lock.
  do await ledger.maintain()
  while ((await countRows('usage_queue')) > 0)
  return calls.map(({ requestId }) => requestId)
}

async function countRows(table: string): Promise<number> {
  const [row] = await databases.control.query<{ rows: bigint }>(`select count(*) as rows from ${table}`)
  return Number(row!.rows)
}

/** The report of the days of all calls here. */
async function loadTotals(ledger: LedgerService, query: Record<string, string> = {}) {
  const days = { from: '2026-06-01', to: '2026-11-22', ...query }
  return (await ledger.reports.load(organisation, organisation, usageReportQuerySchema.parse(days))).totals
}

describe('the removal of old entries', () => {
  test('removes receipts, single requests, tags and endings; every sum and the audit stay as they are', async () => {
    const keeping = await openLedger()
    const [old] = await settle(keeping, today - 100 * dayMs, 30)
    const [recent] = await settle(keeping, today - 10 * dayMs, 20)
    const before = await Promise.all([loadTotals(keeping), loadTotals(keeping, { tagKey: 'user', tagValue: 'user-1' })])
    expect(before.map(({ requests }) => requests)).toEqual([50, 17])
    expect(await countRows('usage_endings')).toBe(5)

    const removed: number[] = []
    const ledger = await openLedger({ keepEntriesDays, observer: { removed: (entries) => removed.push(entries) } })
    await ledger.maintain()
    await ledger.maintain()
    expect(removed).toEqual([30])
    expect(await ledger.loadReceipt(old!)).toBeUndefined()
    expect(await ledger.loadReceipt(recent!)).toMatchObject({ requestId: recent })
    expect(await countRows('usage_endings')).toBe(2)
    expect(await countRows('usage_request_tags')).toBe(20)
    const after = await Promise.all([loadTotals(ledger), loadTotals(ledger, { tagKey: 'user', tagValue: 'user-1' })])
    expect(after).toEqual(before)
    const audit = await ledger.audit()
    expect(audit.findings).toEqual([])
    expect(audit.totals).toMatchObject({ entries: 50, removedEntries: 30 })

    const list = (from: string, ending?: string) =>
      ledger.reports.loadRequests(
        organisation,
        usageRequestsQuerySchema.parse({ from, to: '2026-11-22', ...(ending !== undefined && { ending }) }),
      )
    const page = await list('2026-06-01')
    expect(page.items).toHaveLength(20)
    expect(page).toMatchObject({ nextCursor: null, removedTo: new Date(keptFrom).toISOString() })
    expect(page.searchedTo).toBe(page.removedTo)
    expect((await list('2026-06-01', 'failed')).items).toHaveLength(2)
    expect((await list('2026-11-01')).removedTo).toBeNull()
  })

  test('keeps every entry without the setting, and those of the first kept day with it', async () => {
    const keeping = await openLedger()
    await settle(keeping, keptFrom, 1)
    await settle(keeping, keptFrom - 1, 1)
    await keeping.maintain()
    expect(await countRows('ledger_entries')).toBe(2)
    const ledger = await openLedger({ keepEntriesDays })
    await ledger.maintain()
    const rows = await databases.control.query<{ at: Date }>('select started_at as at from ledger_entries')
    expect(rows.map(({ at }) => at.getTime())).toEqual([keptFrom])
    // On the next day, it goes too.
    clock.set(today + dayMs)
    await ledger.maintain()
    expect(await countRows('ledger_entries')).toBe(0)
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('leaves entries that are not counted yet, and removes them afterwards', async () => {
    const keeping = await openLedger()
    await settle(keeping, today - 100 * dayMs, 5)
    const { control } = databases
    await control.execute('insert into usage_queue (request_ids) select array_agg(request_id) from ledger_entries')
    const remove = () => removeEntries(control, new Date(keptFrom), firstOrganisation)
    expect(await remove()).toEqual({ removed: 0, next: undefined, locked: true })
    await control.execute('delete from usage_queue')
    await control.execute('update usage_backfill set finished_at = null')
    expect(await remove()).toMatchObject({ removed: 0 })
    await control.execute('update usage_backfill set finished_at = now()')
    expect(await remove()).toMatchObject({ removed: 5 })
  })

  test('reaches every organisation in rounds of a bounded size, by all instances together', async () => {
    const organisations = [organisation, organisationWith('1000'), organisationWith('1000')]
    const keeping = await openLedger()
    const limit = databases.control.engine === 'embedded' ? 200 : 2_000
    const each = Math.ceil(limit * 0.7)
    for (const [index, of] of organisations.entries()) {
      if (index > 0) await insertOrganisation(databases.control, of)
      await settle(keeping, today - (80 + index) * dayMs, each, of)
    }
    const removed: number[] = []
    const observer = { removed: (entries: number) => removed.push(entries) }
    const instances = await Promise.all([1, 2].map(() => openLedger({ keepEntriesDays, observer })))
    while ((await countRows('ledger_entries')) > 0) await Promise.all(instances.map((ledger) => ledger.maintain()))
    expect(removed.reduce((sum, entries) => sum + entries, 0)).toBe(3 * each)
    expect(Math.max(...removed)).toBe(limit)
    expect((await keeping.audit()).findings).toEqual([])
    // The counters and the removed sums agree, and the audit would find it if they did not.
    await databases.control.execute('update ledger_removed_sums set billed_pico_usd = billed_pico_usd + 1')
    const rules = new Set((await keeping.audit()).findings.map(({ rule }) => rule))
    expect([...rules]).toEqual(['entries add up to the counters', 'usage reports add up to the entries'])
  })

  test('a round that fails is repeated as a whole', async () => {
    await settle(await openLedger(), today - 100 * dayMs, 10)
    const ledger = await openLedger({ keepEntriesDays })
    const { control } = databases
    await control.execute('alter table ledger_removed_tags add constraint refuses check (requests < 0)')
    await expect(ledger.maintain()).rejects.toThrow(/refuses/)
    await control.execute('alter table ledger_removed_tags drop constraint refuses')
    expect(await countRows('ledger_entries')).toBe(10)
    expect((await ledger.audit()).findings).toEqual([])
    // A run ends after its time, or where the timer's run has the lock.
    while ((await countRows('ledger_entries')) > 0) await ledger.maintain()
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('a process that is killed in the middle leaves exact sums, and the next one continues', async () => {
    const keeping = await openLedger()
    // More than two rounds.
    const entries = databases.control.engine === 'embedded' ? 450 : 4_500
    await settle(keeping, today - 100 * dayMs, entries)
    const before = await loadTotals(keeping)
    await closeAll()
    await killWithinRemoval()
    await openAll()
    const restarted = await openLedger()
    const left = await countRows('ledger_entries')
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(entries)
    const audit = await restarted.audit()
    expect(audit.findings).toEqual([])
    expect(audit.totals).toMatchObject({ entries, removedEntries: entries - left })
    expect(await loadTotals(restarted)).toEqual(before)
    const ledger = await openLedger({ keepEntriesDays })
    while ((await countRows('ledger_entries')) > 0) await ledger.maintain()
    expect((await ledger.audit()).findings).toEqual([])
    expect(await loadTotals(ledger)).toEqual(before)
  }, 180_000)
})

/** Starts a process that removes, and kills it when it has finished one round. */
async function killWithinRemoval(): Promise<void> {
  const script = path.join(import.meta.dirname, '../../../test/harness/entry-removal-process.ts')
  const child = spawn(
    process.execPath,
    [script, place.dataFolder, withoutPooler(place).databaseUrl ?? '', new Date(keptFrom).toISOString()],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(child, 'exit')
  child.stdout.once('data', () => child.kill('SIGKILL'))
  expect(await ended).toEqual([null, 'SIGKILL'])
}
