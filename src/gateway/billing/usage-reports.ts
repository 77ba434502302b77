import type { Clock } from '../../platform/kernel/index.ts'
import {
  latencyDays,
  maximumExportRows,
  maximumReportRows,
  type UsageReport,
  type UsageReportQuery,
} from '../../contract/usage-reports.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { BudgetState } from './port.ts'
import { previousDays, usageRange, type UsageSubject } from './usage-range.ts'
import {
  renderCsv,
  renderErrors,
  renderFigures,
  renderLatency,
  renderSeries,
  renderTable,
} from './usage-report-parts.ts'
import { findTag, loadFailures, loadLatency, loadOptions, loadTotals, type UsageFilter } from './usage-reports.store.ts'
import { loadRequestPage, type RequestPageQuery, type UsageRequestsPage } from './usage-requests.ts'
import { loadClosedTo } from './usage-spans.store.ts'
import { loadSpending } from './usage-spending.ts'
import { type ChosenUsage, loadSplit } from './usage-split.ts'
import { noSpace } from './usage-tables.ts'

export interface UsageReportsDeps {
  database: Database
  clock: Clock
  loadBudget(organisation: Organisation): Promise<BudgetState>
  /** Counts everything that was settled before the call. */
  catchUp(owner: string): Promise<void>
  /** False while entries from before an upgrade are still being counted. */
  isComplete(): Promise<boolean>
}

/** A report without the names of Spaces, which this room does not know. */
type Insight = 'topDocuments' | 'unanswered' | 'unansweredQuestions'
export type BareReport = Omit<UsageReport, 'recordsTags' | 'settingsVersion' | 'options' | 'alerts' | Insight> & {
  options: { models: string[]; spaceIds: string[]; tagKeys: string[] }
}

/** Fields of the query that choose calls. */
type CallFilter = Pick<UsageReportQuery, 'from' | 'to' | 'model' | 'surface' | 'spaceId' | 'tagKey' | 'tagValue'>

export interface UsageReports {
  /** `budgeted` undefined: a removed organisation, which has no budget. */
  load(subject: UsageSubject, budgeted: Organisation | undefined, query: UsageReportQuery): Promise<BareReport>
  /** The table of a report as CSV, at most `maximumExportRows` rows. `nameOf` names the values of the split. */
  loadCsv(subject: UsageSubject, query: UsageReportQuery, nameOf: (id: string) => string | null): Promise<UsageCsv>
  loadRequests(subject: UsageSubject, query: RequestPageQuery): Promise<UsageRequestsPage>
}

export interface UsageCsv {
  name: string
  text: string
}

/** Reports of the console over the sums of days. Everything is bounded; docs/understand/performance.md has the times with 10 million entries. */
export function createUsageReports(deps: UsageReportsDeps): UsageReports {
  const { database } = deps
  return {
    async load(subject, budgeted, query) {
      const chosen = await choose(deps, subject, query)
      const own = await database.reading(subject.id)
      const { range, filter, source } = chosen
      const lastDays = range.days.slice(-latencyDays)
      const [split, previous, latency, failures, options, spending, complete] = await Promise.all([
        loadSplit(own, chosen, query, maximumReportRows),
        loadTotals(own, source, narrow(filter, previousDays(range.days))),
        loadLatency(own, narrow(filter, lastDays)),
        loadFailures(own, filter),
        loadOptions(own, filter, maximumReportRows),
        loadSpending(deps, subject, budgeted),
        deps.isComplete(),
      ])
      return {
        organisationId: subject.id,
        from: range.from,
        to: range.to,
        timeZone: subject.timeZone,
        split: query.split,
        complete,
        ...spending,
        totals: renderFigures(split.totals),
        previous: renderFigures(previous),
        series: renderSeries(range.days, split),
        table: renderTable(split),
        latency: renderLatency(lastDays, latency),
        errors: renderErrors(range.days, split, failures),
        options,
      }
    },
    async loadCsv(subject, query, nameOf) {
      const chosen = await choose(deps, subject, query)
      const own = await database.reading(subject.id)
      const split = await loadSplit(own, chosen, query, maximumExportRows)
      const { from, to } = chosen.range
      return {
        name: `usage-${query.split.replaceAll(/[^\w.-]/g, '_')}-${from}-${to}.csv`,
        text: renderCsv(query.split, split, nameOf),
      }
    },
    async loadRequests(subject, query) {
      const chosen = await choose(deps, subject, query)
      const own = await database.reading(subject.id)
      const page = await loadRequestPage(own, subject, { ...query, ...chosen })
      if (query.cursor !== undefined) return page
      return { ...page, options: await loadOptions(own, chosen.filter, maximumReportRows) }
    },
  }
}

const narrow = (filter: UsageFilter, days: readonly string[]): UsageFilter => ({ ...filter, days })

/** The calls that a query chooses, after everything that was settled before is counted. */
async function choose(
  { catchUp, clock, database }: UsageReportsDeps,
  subject: UsageSubject,
  query: CallFilter,
): Promise<ChosenUsage> {
  await catchUp(subject.id)
  const range = usageRange(subject, clock.now(), query.from, query.to)
  const filter: UsageFilter = {
    organisationId: subject.id,
    days: range.days,
    closedTo: await loadClosedTo(database.for(subject.id)),
    model: query.model ?? null,
    surface: query.surface ?? null,
    spaceId: query.spaceId === 'none' ? noSpace : (query.spaceId ?? null),
  }
  if (query.tagKey === undefined) return { range, filter, source: { kind: 'all' } }
  const tagId = await findTag(database.for(subject.id), subject.id, query.tagKey, query.tagValue!)
  // No tag has this id: nothing is found.
  return { range, filter, source: { kind: 'tag', tagId: tagId ?? -1n } }
}
