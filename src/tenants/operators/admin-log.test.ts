import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import type { Database } from '../../platform/database/index.ts'
import { silentLog, systemClock } from '../../platform/kernel/index.ts'
import type { AdminLogEntry } from './admin-log.ts'
import { createAdminLog, entriesPerRound, removeOldEntries } from './admin-log.store.ts'
import { openAdminLogRetention } from './admin-log-retention.ts'
import { renderAdminLog } from './admin-log.routes.ts'

const nowMs = Date.parse('2026-11-22T12:00:00Z')
const dayMs = 86_400_000
const clock = { ...systemClock, now: () => nowMs, every: () => () => {} }
const actor = { name: 'root@example.org', requestId: 'req_export' }

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())
beforeEach(() => databases.control.execute('DELETE FROM admin_log'))

/** Entries with the names 1 to `count`, in groups of seven of the same time, from `at` on. */
const insert = (count: number, at: number) =>
  databases.control.execute(
    `INSERT INTO admin_log (id, at, actor, action, subject_type, subject_id, before, after)
     SELECT gen_random_uuid(), $2::timestamptz + make_interval(secs => n / 7), 'a@example.org', 'space.created', 'space', 'none', NULL,
       jsonb_build_object('name', n::text) FROM generate_series(1, $1::int4) n`,
    [count, new Date(at)],
  )

const read = async (pages: AsyncIterable<AdminLogEntry[]>) => {
  const entries: AdminLogEntry[] = []
  for await (const page of pages) entries.push(...page)
  return entries
}
const count = async () =>
  Number((await databases.control.query<{ n: bigint }>('SELECT count(*) AS n FROM admin_log'))[0]!.n)

describe('an export of the admin log', () => {
  const log = () => createAdminLog({ database: databases.control, clock })

  test('has every entry once, oldest first, up to its beginning', async () => {
    await insert(250, nowMs - dayMs)
    const pages = await log().export(actor, 'jsonl', {})
    await insert(3, nowMs)
    const entries = await read(pages)
    expect(entries).toHaveLength(250)
    expect(new Set(entries.map(({ id }) => id)).size).toBe(250)
    const times = entries.map(({ at }) => at.getTime())
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    const [own] = (await log().loadPage({ action: 'admin_log.exported', limit: 10 })).entries
    expect(own).toMatchObject({ actor: actor.name, subjectId: 'all', after: { format: 'jsonl' } })
  })

  test('reads a page only when the one before was taken, and none after its end', async () => {
    await insert(350, nowMs - dayMs)
    let statements = 0
    const database: Database = new Proxy(databases.control, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name === 'for') return () => database
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          if (String(given[0]).includes('FROM admin_log')) statements++
          return Reflect.apply(value, target, given) as unknown
        }
      },
    })
    const pages = await createAdminLog({ database, clock }).export(actor, 'csv', {})
    const lines = renderAdminLog(pages, 'csv')
    await lines.next()
    await lines.next()
    expect(statements).toBe(1)
    await lines.return(undefined)
    expect((await lines.next()).done).toBe(true)
    expect(statements).toBe(1)
  })

  test('has CSV cells that no spreadsheet runs', async () => {
    await databases.control.execute(
      `INSERT INTO admin_log (id, at, actor, action, subject_type, subject_id, before, after)
       VALUES (gen_random_uuid(), $1, '=cmd()', 'space.created', 'space', '@none', NULL, $2::jsonb)`,
      [new Date(nowMs - dayMs), JSON.stringify({ name: '=HYPERLINK("x")' })],
    )
    let csv = ''
    for await (const part of renderAdminLog(await log().export(actor, 'csv', {}), 'csv')) csv += part
    const [header, line] = csv.split('\r\n')
    expect(header).toMatch(/^id,at,actor,/)
    expect(line).toContain(",'=cmd(),")
    expect(line).toContain(",'@none,")
    expect(line).toMatch(/,"'=HYPERLINK\(""x""\)",/)
    expect(line).toMatch(/,"\{""name"":""=HYPERLINK\(\\""x\\""\)""\}"$/)
  })
})

describe('the retention of the admin log', () => {
  const retention = (keepDays: number | undefined) =>
    openAdminLogRetention({ database: databases.control, keepDays, clock, log: silentLog })

  test('removes what is older than `adminLog.keepDays`, in rounds, and nothing without the setting', async () => {
    const most = entriesPerRound[databases.control.engine]
    await insert(most + 50, nowMs - 40 * dayMs)
    await insert(5, nowMs - 30 * dayMs + 60_000)
    await retention(undefined).run()
    expect(await count()).toBe(most + 55)
    expect(await removeOldEntries(databases.control, new Date(nowMs - 30 * dayMs))).toBe(true)
    expect(await count()).toBe(55)
    await Promise.all([retention(30).run(), retention(30).run()])
    await retention(30).run()
    expect(await count()).toBe(5)
  })
})
