import { z } from 'zod'
import { freshness, type LedgerService, noteFreshness } from '../gateway/billing/index.ts'
import { errorResponses } from '../contract/errors.ts'
import {
  installationExportQuerySchema,
  type InstallationUsage,
  installationUsageQuerySchema,
  installationUsageSchema,
} from '../contract/installation-usage.ts'
import { describeRoutes, type Routes, sendFile } from '../platform/http/index.ts'
import type { Clock } from '../platform/kernel/index.ts'
import type { Organisations } from '../tenants/organisations/index.ts'

const described = describeRoutes({ role: 'operator' }, 'Console: usage')

const days =
  'Days are those of the time zone of each organisation, so they match the receipts and the Usage page of an organisation. '

export interface InstallationViewDependencies {
  reports: LedgerService['installation']
  organisations: Pick<Organisations, 'get'>
  clock: Clock
}

/** The operator's report of the whole installation, and its rows as CSV. */
export function installationView({ reports, organisations, clock }: InstallationViewDependencies): Routes {
  const nameOf = (id: string) => organisations.get(id)?.name
  return (app) => {
    app.get(
      '/api/console/installation/usage',
      described('viewInstallationUsage', 'Spend, calls, errors and latency of the whole installation', {
        description: days + freshness,
        querystring: installationUsageQuerySchema,
        response: { 200: installationUsageSchema, ...errorResponses(400, 401, 403) },
      }),
      async (request, reply) => {
        noteFreshness(reply, clock)
        return named(await reports.load(request.query), nameOf)
      },
    )
    app.get(
      '/api/console/installation/usage/export',
      described('exportInstallationUsage', 'Usage of the whole installation as CSV', {
        description: `One line for each day, organisation, provider, model and hosting with calls. ${days}${freshness}`,
        querystring: installationExportQuerySchema,
        response: { 200: z.string(), ...errorResponses(400, 401, 403) },
      }),
      async (request, reply) => {
        noteFreshness(reply, clock)
        const { name, lines } = reports.loadCsv(request.query, nameOf)
        return sendFile(reply, name, 'csv', lines)
      },
    )
  }
}

function named(report: InstallationUsage, nameOf: (id: string) => string | undefined): InstallationUsage {
  if (report.split !== 'organisation') return report
  const label = <Value extends { id: string | null }>(value: Value) => ({
    ...value,
    label: value.id === null ? null : (nameOf(value.id) ?? null),
  })
  return {
    ...report,
    series: { ...report.series, values: report.series.values.map(label) },
    table: { ...report.table, rows: report.table.rows.map(label) },
  }
}
