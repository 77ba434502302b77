import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { usageReportQuerySchema } from '../../contract/usage-reports.ts'
import { silentLog, systemClock } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import { answered, callOf, insertOrganisation, organisationWith } from './testing/ledger-fixture.ts'
import { UsageCounting } from './usage-counting.ts'
import { usageRange } from './usage-range.ts'

let databases: TestDatabases
let ledger: LedgerService
let organisation: Organisation

beforeEach(async () => {
  databases = await openTestDatabases()
  organisation = organisationWith('100')
  await insertOrganisation(databases.control, organisation)
  ledger = await open()
})
afterEach(async () => {
  await ledger.close()
  await databases.drop()
})

const open = () => createLedger({ database: databases.control, clock: systemClock, log: silentLog })

async function settle(count: number, tags?: Record<string, string>) {
  const holds = await Promise.all(Array.from({ length: count }, () => ledger.hold(callOf(organisation, { tags }))))
  await Promise.all(holds.map((hold) => hold.settle(answered(90, 10))))
}

async function countedRequests(): Promise<number> {
  const report = await ledger.reports.load(organisation, organisation, usageReportQuerySchema.parse({}))
  return report.totals.requests
}

describe('entries from before the upgrade', () => {
  /** Settles calls as the version without sums did. */
  async function settleOld(count: number) {
    const { control } = databases
    await control.execute('alter table ledger_entries disable trigger ledger_entries_usage_queue')
    await control.execute('alter table ledger_entries alter column usage_queued set default false')
    await settle(count)
    await control.execute('alter table ledger_entries alter column usage_queued set default true')
    await control.execute('alter table ledger_entries enable trigger ledger_entries_usage_queue')
    await control.execute("update usage_backfill set finished_at = null, after_request_id = ''")
  }

  test('are counted once, next to new ones, and the older report is exact meanwhile', async () => {
    await ledger.close()
    ledger = await open()
    await settleOld(30)
    // A process that started after the upgrade.
    const counting = new UsageCounting({ database: databases.control, clock: systemClock, log: silentLog })
    expect(await counting.isComplete()).toBe(false)
    await settle(5)
    const upgraded = await open()
    const { days } = usageRange(organisation, systemClock.now())
    const { id, timeZone } = organisation
    const sums = await upgraded.loadUsage({ organisationId: id, timeZone, days, by: ['surface'], limit: 10 })
    expect(sums.rows).toMatchObject([{ requests: 35 }])
    await upgraded.maintain()
    await upgraded.maintain()
    expect(await countedRequests()).toBe(35)
    expect((await upgraded.audit()).findings).toEqual([])
    await upgraded.close()
  })
})

describe('counting', () => {
  test('a report includes hundreds of calls that were settled one by one since the last count', async () => {
    const { control } = databases
    // The timers' rounds fail meanwhile, so that nothing is counted before the report.
    await control.execute('alter table usage_tag_days rename to usage_tag_days_away')
    for (let call = 0; call < 250; call += 1) await settle(1, { user: 'ada' })
    await control.execute('alter table usage_tag_days_away rename to usage_tag_days')
    expect(await countedRequests()).toBe(250)
  })

  test('a round that fails is repeated as a whole', async () => {
    const { control } = databases
    await control.execute('alter table usage_tag_days rename to usage_tag_days_away')
    await settle(10, { user: 'ada' })
    const counting = new UsageCounting({ database: control, clock: systemClock, log: silentLog })
    await expect(counting.catchUp('')).rejects.toThrow()
    expect(await control.query('select 1 from usage_days')).toEqual([])
    await control.execute('alter table usage_tag_days_away rename to usage_tag_days')
    expect(await countedRequests()).toBe(10)
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('several instances that count at the same time count each entry once', async () => {
    const { control } = databases
    const instances = Array.from(
      { length: 4 },
      () => new UsageCounting({ database: control, clock: systemClock, log: silentLog }),
    )
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([settle(20, { user: `user ${round}` }), ...instances.map((instance) => instance.catchUp(''))])
    }
    expect(await countedRequests()).toBe(100)
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('refused calls are counted by code, and kept when they cannot be written', async () => {
    const { control } = databases
    const counting = new UsageCounting({ database: control, clock: systemClock, log: silentLog })
    const refusal = {
      organisationId: organisation.id,
      surface: 'gateway',
      model: 'alpha',
      code: 'insufficient_quota',
    } as const
    for (let call = 0; call < 3; call += 1) counting.noteRefused(refusal)
    counting.noteRefused({ ...refusal, model: null, code: 'model_not_found' })
    await control.execute('alter table usage_failures rename to usage_failures_away')
    await expect(counting.flush()).rejects.toThrow()
    await control.execute('alter table usage_failures_away rename to usage_failures')
    counting.noteRefused(refusal)
    await counting.flush()
    await counting.flush()
    const { errors } = await ledger.reports.load(organisation, organisation, usageReportQuerySchema.parse({}))
    expect(errors.codes).toEqual([
      { code: 'insufficient_quota', refused: true, requests: 4 },
      { code: 'model_not_found', refused: true, requests: 1 },
    ])
    expect(errors.models).toContainEqual({ model: null, failed: 0, refused: 1 })
    expect(errors.days.at(-1)).toMatchObject({ calls: 5, failed: 0, refused: 5 })
  })
})
