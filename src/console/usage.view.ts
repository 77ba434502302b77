import { z } from 'zod'
import { freshness, type LedgerService, noteFreshness } from '../gateway/billing/index.ts'
import type { AlertBody } from '../contract/alerts.ts'
import { errorResponses } from '../contract/errors.ts'
import {
  maximumInsightRows,
  usageReportParamsSchema,
  type UsageReportQuery,
  usageReportQuerySchema,
  usageReportSchema,
  usageRequestPageSchema,
  usageRequestsQuerySchema,
  type UsageRequestsQuery,
} from '../contract/usage-reports.ts'
import { type App, describeRoutes, type Routes } from '../platform/http/index.ts'
import type { InsightService } from '../chat/insights/index.ts'
import type { Clock } from '../platform/kernel/index.ts'
import {
  administrators,
  noOrganisation,
  type Organisations,
  versionOfOrganisation,
} from '../tenants/organisations/index.ts'

const described = describeRoutes(administrators, 'Console: usage')

export interface UsageViewDependencies {
  reports: LedgerService['reports']
  /** The usage of removed organisations stays readable. */
  organisations: Pick<Organisations, 'get' | 'loadRemoved'>
  insights: Pick<InsightService, 'load'>
  /** Names of the documents that still exist. */
  documentNames: (organisationId: string, documentIds: readonly string[]) => Promise<Map<string, string>>
  /** The name of a Space; undefined if it was deleted. */
  spaceName: (id: string) => string | undefined
  /** Open budget alerts of an organisation. */
  loadBudgetAlerts: (organisationId: string) => Promise<AlertBody[]>
  clock: Clock
}

/** The usage page: one report, its table as CSV, and single requests. */
export function usageViewRoutes(dependencies: UsageViewDependencies): Routes {
  return (app) => {
    addReport(app, dependencies)
    addExport(app, dependencies)
    addRequests(app, dependencies)
  }
}

/** The organisation, and the same once more where it has a budget: a removed one has none. */
async function findSubject({ organisations }: UsageViewDependencies, id: string) {
  const organisation = organisations.get(id)
  const subject = organisation ?? (await organisations.loadRemoved(id))
  if (!subject) throw noOrganisation(id)
  return { subject, organisation }
}

function addReport(app: App, dependencies: UsageViewDependencies) {
  app.get(
    '/api/console/organisations/:id/usage',
    described('viewUsage', 'Budget, spend, latency and errors of an organisation', {
      description:
        'Latency and errors follow the filters for model and surface only; budget, forecast and velocity are those of the whole organisation. ' +
        freshness,
      params: usageReportParamsSchema,
      querystring: usageReportQuerySchema,
      response: { 200: usageReportSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request, reply) => {
      noteFreshness(reply, dependencies.clock)
      return loadReport(dependencies, request.params.id, request.query)
    },
  )
}

async function loadReport(dependencies: UsageViewDependencies, id: string, query: UsageReportQuery) {
  const { reports, spaceName } = dependencies
  const { subject, organisation } = await findSubject(dependencies, id)
  const report = await reports.load(subject, organisation, query)
  const name = (value: { id: string | null }) =>
    query.split === 'space' && value.id !== null ? (spaceName(value.id) ?? null) : null
  return {
    ...report,
    ...(await loadInsights(dependencies, report, query.spaceId)),
    series: { ...report.series, values: report.series.values.map((value) => ({ ...value, label: name(value) })) },
    table: { ...report.table, rows: report.table.rows.map((row) => ({ ...row, label: name(row) })) },
    options: renderOptions(report.options, spaceName),
    alerts: await dependencies.loadBudgetAlerts(id),
    recordsTags: organisation?.recordUsageTags ?? false,
    settingsVersion: organisation ? versionOfOrganisation(organisation) : null,
  }
}

/** Deleted documents are left out, so more rows are read than are shown. */
const readInsightRows = 5 * maximumInsightRows

async function loadInsights(
  { insights, documentNames, spaceName }: UsageViewDependencies,
  { organisationId, from, to, timeZone }: { organisationId: string; from: string; to: string; timeZone: string },
  spaceId: string | undefined,
) {
  // Calls outside of Spaces have neither documents nor questions.
  if (spaceId === 'none') return { topDocuments: [], unanswered: [], unansweredQuestions: [] }
  const query = { organisationId, from, to, timeZone, spaceId: spaceId ?? null, limit: readInsightRows }
  const { documents, spaces, questions } = await insights.load(query)
  const names = await documentNames(
    organisationId,
    documents.map(({ documentId }) => documentId),
  )
  const named = <Row extends { spaceId: string }>(row: Row) => ({ ...row, spaceName: spaceName(row.spaceId) ?? null })
  return {
    topDocuments: documents
      .flatMap((row) => {
        const name = names.get(row.documentId)
        return name === undefined ? [] : [{ ...named(row), name }]
      })
      .slice(0, maximumInsightRows),
    unanswered: spaces.map(named).slice(0, maximumInsightRows),
    unansweredQuestions: questions.slice(0, maximumInsightRows).map(({ asked, lastAskedAt, ...row }) => ({
      ...named(row),
      count: asked,
      lastAskedAt: lastAskedAt.toISOString(),
    })),
  }
}

function addExport(app: App, dependencies: UsageViewDependencies) {
  const { reports, spaceName, clock } = dependencies
  app.get(
    '/api/console/organisations/:id/usage/export',
    described('exportUsage', 'The table of a usage report as CSV', {
      description: freshness,
      params: usageReportParamsSchema,
      querystring: usageReportQuerySchema,
      response: { 200: z.string(), ...errorResponses(400, 401, 403, 404) },
    }),
    async (request, reply) => {
      noteFreshness(reply, clock)
      const { subject } = await findSubject(dependencies, request.params.id)
      const { name, text } = await reports.loadCsv(subject, request.query, (id) => spaceName(id) ?? null)
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="${name}"`)
        .serializer((body: string) => body)
        .send(text)
    },
  )
}

function addRequests(app: App, dependencies: UsageViewDependencies) {
  app.get(
    '/api/console/organisations/:id/usage/requests',
    described('viewUsageRequests', 'Single requests of an organisation, newest first', {
      description: freshness,
      params: usageReportParamsSchema,
      querystring: usageRequestsQuerySchema,
      response: { 200: usageRequestPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request, reply) => {
      noteFreshness(reply, dependencies.clock)
      return loadRequests(dependencies, request.params.id, request.query)
    },
  )
}

async function loadRequests(dependencies: UsageViewDependencies, id: string, query: UsageRequestsQuery) {
  const { reports, spaceName } = dependencies
  const { subject } = await findSubject(dependencies, id)
  const { options, ...page } = await reports.loadRequests(subject, query)
  const nameOf = (spaceId: string | null) => (spaceId === null ? null : (spaceName(spaceId) ?? null))
  return {
    ...page,
    ...(options && { options: renderOptions(options, spaceName) }),
    items: page.items.map((item) => ({ ...item, spaceName: nameOf(item.spaceId) })),
  }
}

/** What a range can be filtered by, with the names of Spaces. */
function renderOptions(
  { models, spaceIds, tagKeys }: { models: string[]; spaceIds: string[]; tagKeys: string[] },
  spaceName: UsageViewDependencies['spaceName'],
) {
  return { models, tagKeys, spaces: spaceIds.map((id) => ({ id, name: spaceName(id) ?? null })) }
}
