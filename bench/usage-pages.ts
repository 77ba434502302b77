import type { LedgerService } from '../src/gateway/billing/index.ts'
import { organisationWith } from '../src/gateway/billing/testing/ledger-fixture.ts'
import { usageRange } from '../src/gateway/billing/usage-range.ts'
import type { UsageKey } from '../src/gateway/billing/usage.store.ts'
import { createOrganisationsStore } from '../src/console/organisations.store.ts'
import { consoleOrganisationsQuerySchema } from '../src/contract/console-organisations.ts'
import { usageReportQuerySchema, usageRequestsQuerySchema } from '../src/contract/usage-reports.ts'
import { maximumUsageRows, type UsageDimension } from '../src/contract/usage.ts'
import type { OrganisationId } from '../src/platform/kernel/index.ts'
import type { Organisation } from '../src/tenants/organisations/index.ts'
import { sampleUser, usageOrganisation } from './usage-data.ts'
import { type TestDatabase } from '../test/harness/statements.ts'

export type UsagePage = readonly [name: string, load: () => Promise<unknown>]

/** The pages that read usage, with the data of usage-data.ts: most of the organisation that has half of the entries. */
export function usagePages(database: TestDatabase, ledger: LedgerService): UsagePage[] {
  const big = usageOrganisation(0)
  const subject = (id: OrganisationId, timeZone: string): Organisation => organisationWith('1000', { id, timeZone })
  const bigOne = subject(big, 'Europe/Berlin')
  const small = subject(usageOrganisation(1), 'Asia/Kathmandu')
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  const report = (of: Organisation, query: Record<string, string>) => () =>
    ledger.reports.load(of, of, usageReportQuerySchema.parse(query))
  const requests = (query: Record<string, string>) => () =>
    ledger.reports.loadRequests(bigOne, usageRequestsQuerySchema.parse({ from: day(398), ...query }))
  const bigDays = usageRange(bigOne, Date.now(), day(397), day(0)).days
  const usage = (by: UsageDimension[], after?: UsageKey) => () => {
    const query = { organisationId: big, days: bigDays, timeZone: bigOne.timeZone, by, after, limit: maximumUsageRows }
    return Promise.all([ledger.loadUsage(query), ledger.loadUsageTotals(query)])
  }
  const operatorList = () =>
    createOrganisationsStore(database).loadPage({
      ...consoleOrganisationsQuerySchema.parse({ sort: 'spentPercent', direction: 'desc' }),
      nowMs: Date.now(),
    })
  return [
    ['report: this period by model', report(bigOne, {})],
    ['report: 30 days by Space', report(bigOne, { from: day(29), split: 'space' })],
    ['report: 398 days by model', report(bigOne, { from: day(397) })],
    ['report: 398 days by Space', report(bigOne, { from: day(397), split: 'space' })],
    [
      'report: 398 days by model, one Space',
      report(bigOne, { from: day(397), spaceId: '00000000-0000-7000-9000-000000000003' }),
    ],
    ['report: 30 days by user', report(bigOne, { from: day(29), split: 'user' })],
    ['report: 92 days by user', report(bigOne, { from: day(91), split: 'user' })],
    ['report: 398 days by model, one user', report(bigOne, { from: day(397), tagKey: 'user', tagValue: sampleUser })],
    ['report: 30 days by model, small organisation', report(small, { from: day(29) })],
    [
      'CSV: 92 days by user, all rows',
      () => ledger.reports.loadCsv(bigOne, usageReportQuerySchema.parse({ from: day(91), split: 'user' }), () => null),
    ],
    ['requests: newest', requests({})],
    ['requests: 200 days ago', requests({ to: day(200) })],
    ['requests: one model', requests({ model: 'model-11' })],
    ['requests: one Space', requests({ spaceId: '00000000-0000-7000-9000-000000000063' })],
    ['requests: failed', requests({ ending: 'failed' })],
    ['requests: one user', requests({ tagKey: 'user', tagValue: sampleUser })],
    ['requests: nothing to find', requests({ model: 'model-1', surface: 'embeddings' })],
    ['GET …/usage: 398 days by day, model, surface, Space', usage(['day', 'model', 'surface', 'space'])],
    ['GET …/usage: its middle', usage(['day', 'model', 'surface', 'space'], [day(200), '', '', usageOrganisation(0)])],
    ['GET …/usage: 398 days by day, Space', usage(['day', 'space'])],
    ['GET …/usage: 398 days by Space', usage(['space'])],
    ['operator: organisations by spending', operatorList],
  ]
}
