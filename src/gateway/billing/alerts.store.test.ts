import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { parsePicoUsd, sharedOwner } from '../../platform/kernel/index.ts'
import { countJournalRejects, loadFastSpenders, loadUsedBudgets } from './alerts.store.ts'
import { insertOrganisation, organisationWith } from './testing/ledger-fixture.ts'

const now = Date.parse('2026-11-21T12:10:00Z')
const hourMs = 3_600_000
const dayMs = 24 * hourMs
let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

const database = () => databases.control.for(sharedOwner)

async function addOrganisation(budgetUsd: string) {
  const organisation = organisationWith(budgetUsd)
  await insertOrganisation(databases.control, organisation)
  await databases.control.execute('update organisations set monthly_budget_pico_usd = $2 where id = $1', [
    organisation.id,
    parsePicoUsd(budgetUsd),
  ])
  return organisation.id
}

const addSlot = (id: string, atMs: number, usd: string) =>
  databases.control.execute(
    'insert into usage_slots (organisation_id, starts_at, requests, billed_pico_usd) values ($1, $2, 1, $3)',
    [id, new Date(Math.floor(atMs / 900_000) * 900_000), parsePicoUsd(usd)],
  )

test('budgets count what instances have not moved to the period yet, and only in the running period', async () => {
  const id = await addOrganisation('10')
  const period = (name: string, startMs: number, settled: string) =>
    databases.control.execute(
      `insert into ledger_periods (organisation_id, period, starts_at, ends_at, budget_pico_usd, ceiling_pico_usd, committed_pico_usd, settled_pico_usd)
       values ($1, $2, $3, $4, 0, $5, $5, $5)`,
      [id, name, new Date(startMs), new Date(startMs + 30 * dayMs), parsePicoUsd(settled)],
    )
  await period('2026-10-01', now - 40 * dayMs, '9.9')
  await period('2026-11-01', now - 10 * dayMs, '7')
  expect(await loadUsedBudgets(database(), now, 80)).toEqual([])
  await databases.control.execute(
    `insert into ledger_leases (organisation_id, period, instance_id, granted_pico_usd, settled_pico_usd)
     values ($1, '2026-11-01', gen_random_uuid(), $2, $3)`,
    [id, parsePicoUsd('2'), parsePicoUsd('1')],
  )
  expect(await loadUsedBudgets(database(), now, 80)).toMatchObject([
    { organisationId: id, period: '2026-11-01', budgetPicoUsd: parsePicoUsd('10'), spentPicoUsd: parsePicoUsd('8') },
  ])
})

test('an hour is unusual compared with the same hour of the days before', async () => {
  const [fast, steady, fresh] = [
    await addOrganisation('100'),
    await addOrganisation('100'),
    await addOrganisation('100'),
  ]
  for (let day = 1; day <= 5; day += 1) {
    for (const id of [fast, steady]) await addSlot(id, now - day * dayMs - 20 * 60_000, '1')
    // Another hour of the day does not count.
    await addSlot(fast, now - day * dayMs - 5 * hourMs, '500')
  }
  await addSlot(fresh, now - 2 * dayMs, '1')
  for (const id of [fast, fresh]) await addSlot(id, now - 10 * 60_000, '9')
  await addSlot(steady, now - 10 * 60_000, '3')
  expect(await loadFastSpenders(database(), now, 6)).toEqual([
    { organisationId: fast, name: 'Acme', spentPicoUsd: parsePicoUsd('9'), usualPicoUsd: parsePicoUsd('1') },
  ])
})

test('records of a journal that were refused count for 30 days', async () => {
  const add = (days: number) =>
    databases.control.execute(
      `insert into ledger_journal_rejects (journal_id, sequence, request_id, reason, record, rejected_at)
       values (gen_random_uuid(), 1, 'r', 'refused', '{}', now() - $1::int8 * interval '1 day')`,
      [days],
    )
  await add(1)
  await add(31)
  expect(await countJournalRejects(database())).toBe(1)
})
