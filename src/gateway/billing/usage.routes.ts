import { z } from 'zod'
import { errorResponses } from '../../contract/errors.ts'
import {
  budgetSchema,
  receiptParamsSchema,
  receiptSchema,
  usageParamsSchema,
  usageQuerySchema,
  usageSchema,
} from '../../contract/usage.ts'
import { type App, describeRoutes, ownerOf, type Routes, sendFile } from '../../platform/http/index.ts'
import { AppError, type Clock } from '../../platform/kernel/index.ts'
import { administrators, noOrganisation, type Organisation } from '../../tenants/organisations/index.ts'
import type { LedgerService } from './ledger.ts'
import { usageRange, type UsageSubject } from './usage-range.ts'
import {
  loadUsagePages,
  parseUsageCursor,
  renderBudget,
  renderReceipt,
  renderUsage,
  renderUsageCsv,
} from './usage-report.ts'

const tag = 'Operator: usage'
const described = describeRoutes(administrators, tag)

interface UsageRoutesDeps {
  ledger: Pick<LedgerService, 'loadReceipt' | 'loadBudget' | 'loadUsage' | 'loadUsageTotals'>
  organisations: {
    get(id: string): Organisation | undefined
    /** A removed organisation: its usage stays readable. */
    loadRemoved(id: string): Promise<UsageSubject | undefined>
  }
  clock: Clock
}

/** Receipts, usage reports and budgets. */
export function usageRoutes({ ledger, organisations, clock }: UsageRoutesDeps): Routes {
  function organisationOf(id: string): Organisation {
    const organisation = organisations.get(id)
    if (!organisation) throw noOrganisation(id)
    return organisation
  }

  return (app) => {
    addReceipt(app, ledger)
    addBudget(app, { ledger, clock }, organisationOf)
    app.get(
      '/api/organisations/:id/usage',
      described('getOrganisationUsage', 'Usage of an organisation', {
        description:
          'Sums by day, model, surface and Space, as JSON or, with `format=csv` or `Accept: text/csv`, as CSV. Requests count on the day on which they began, in the time zone of the organisation. The usage of a removed organisation stays readable. ' +
          freshness,
        params: usageParamsSchema,
        querystring: usageQuerySchema,
        response: { 200: z.union([usageSchema, z.string()]), ...errorResponses(400, 401, 403, 404) },
      }),
      async (request, reply) => {
        noteFreshness(reply, clock)
        const { id } = request.params
        const organisation = organisations.get(id) ?? (await organisations.loadRemoved(id)) ?? organisationOf(id)
        const { from, to, by, format, limit, cursor } = request.query
        const range = usageRange(organisation, clock.now(), from, to)
        const dimensions = [...new Set(by)]
        const after = cursor === undefined ? undefined : parseUsageCursor(cursor, dimensions)
        const query = { ...subjectOf(organisation), days: range.days, by: dimensions, after, limit }
        reply.header('vary', 'accept')
        if ((format ?? formatOf(request.headers.accept)) === 'json') {
          const [page, totals] = await Promise.all([ledger.loadUsage(query), ledger.loadUsageTotals(query)])
          return renderUsage(organisation, range, dimensions, page, totals)
        }
        const lines = renderUsageCsv(dimensions, loadUsagePages(ledger, query))
        return sendFile(reply, `usage-${range.from}-${range.to}`, 'csv', lines)
      },
    )
  }
}

function subjectOf({ id, timeZone }: UsageSubject) {
  return { organisationId: id, timeZone }
}

function formatOf(accept: string | undefined): 'json' | 'csv' {
  return accept !== undefined && /\btext\/csv\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept)
    ? 'csv'
    : 'json'
}

function addReceipt(app: App, ledger: UsageRoutesDeps['ledger']) {
  const administratorsOfReceipt = {
    role: 'administrator',
    organisation: ({ params }: { params: unknown }) =>
      ledger.loadReceipt((params as { requestId: string }).requestId).then((receipt) => receipt?.organisationId),
    missing: noReceipt,
  } as const
  app.get(
    '/api/usage/:requestId',
    describeRoutes(administratorsOfReceipt, tag)('getReceipt', 'The receipt of a request', {
      description: 'Tokens by class, the prices that applied, hosting, markup and total, exact or estimated.',
      params: receiptParamsSchema,
      response: { 200: receiptSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => loadRenderedReceipt(ledger, request.params.requestId, ownerOf(request)),
  )
}

async function loadRenderedReceipt(ledger: UsageRoutesDeps['ledger'], requestId: string, owner: string) {
  const receipt = await ledger.loadReceipt(requestId, owner)
  if (receipt) return renderReceipt(receipt)
  throw noReceipt()
}

function noReceipt(): AppError {
  return new AppError(
    'not_found',
    'There is no receipt with this request id. Requests that run now, and requests that were refused, have none. Receipts are removed after `ledger.keepEntriesDays`, if it is set.',
  )
}

function addBudget(
  app: App,
  { ledger, clock }: Pick<UsageRoutesDeps, 'ledger' | 'clock'>,
  organisationOf: (id: string) => Organisation,
) {
  app.get(
    '/api/organisations/:id/budget',
    described('getOrganisationBudget', 'The budget of the running period', {
      description: freshness,
      params: usageParamsSchema,
      response: { 200: budgetSchema, ...errorResponses(401, 403, 404) },
    }),
    (request, reply) => {
      noteFreshness(reply, clock)
      return ledger.loadBudget(organisationOf(request.params.id)).then(renderBudget)
    },
  )
}

export const freshness = 'Every call that was settled before the moment in `x-portico-as-of` is included.'

/** Names that moment, as ISO 8601 in UTC. Call it before the data are read. */
export function noteFreshness(
  reply: { header(name: string, value: string): unknown },
  clock: Pick<Clock, 'now'>,
): void {
  reply.header('x-portico-as-of', new Date(clock.now()).toISOString())
}
