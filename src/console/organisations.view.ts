import { freshness, type LedgerService, noteFreshness, renderBudget } from '../gateway/billing/index.ts'
import {
  type ConsoleOrganisationRow,
  consoleOrganisationSchema,
  consoleOrganisationsQuerySchema,
  consoleOrganisationsSchema,
} from '../contract/console-organisations.ts'
import { errorResponses } from '../contract/errors.ts'
import { idParamsSchema } from '../contract/operator.ts'
import { type App, describeRoutes, type Routes } from '../platform/http/index.ts'
import { type Clock, formatPicoUsd } from '../platform/kernel/index.ts'
import type { AdminLog } from '../tenants/operators/index.ts'
import { noOrganisation, type Organisations, renderOrganisation } from '../tenants/organisations/index.ts'
import type { OrganisationLists } from './organisation-lists.ts'

const described = describeRoutes({ role: 'operator' }, 'Console')
/** Entries of the admin log on the page of one organisation. */
const shownChanges = 10

export interface OrganisationsViewDependencies {
  lists: OrganisationLists
  organisations: Pick<Organisations, 'get' | 'loadRecords' | 'loadRecord'>
  ledger: Pick<LedgerService, 'loadBudget' | 'flush'>
  adminLog: AdminLog
  /** Canonical ids of all models. */
  modelIds: () => string[]
  clock: Clock
}

/** The operator's pages of organisations. */
export function organisationsView(dependencies: OrganisationsViewDependencies): Routes {
  return (app) => {
    addList(app, dependencies)
    addOne(app, dependencies)
  }
}

function addList(app: App, { lists, organisations, ledger, clock }: OrganisationsViewDependencies) {
  app.get(
    '/api/console/organisations',
    described('listConsoleOrganisations', 'Organisations with their spending', {
      description: freshness,
      querystring: consoleOrganisationsQuerySchema,
      response: { 200: consoleOrganisationsSchema, ...errorResponses(400, 401, 403) },
    }),
    async ({ query }, reply) => {
      noteFreshness(reply, clock)
      const nowMs = clock.now()
      await ledger.flush()
      const { total, rows } = await lists.loadPage({ ...query, nowMs })
      const records = await organisations.loadRecords(rows.map(({ id }) => id))
      const byId = new Map(records.map((record) => [record.organisation.id as string, record]))
      const items = rows.flatMap(({ id, billedPicoUsd, ...counts }): ConsoleOrganisationRow[] => {
        const record = byId.get(id)
        if (!record) return []
        const { name, plan, subscription, gatewayEnabled, gatewayOptIn, monthlyBudgetUsd, apiKey, createdAt } =
          renderOrganisation(record, nowMs)
        const budget = record.organisation.monthlyBudgetPicoUsd
        return [
          {
            id,
            name,
            plan,
            subscription,
            gatewayEnabled,
            gatewayOptIn,
            monthlyBudgetUsd,
            apiKey,
            createdAt,
            ...counts,
            spentUsd: formatPicoUsd(billedPicoUsd),
            spentPercent: budget > 0n ? Number((billedPicoUsd * 10_000n) / budget) / 100 : null,
          },
        ]
      })
      return { total, limit: query.limit, offset: query.offset, items }
    },
  )
}

function addOne(app: App, dependencies: OrganisationsViewDependencies) {
  const { lists, organisations, ledger, adminLog, modelIds, clock } = dependencies
  app.get(
    '/api/console/organisations/:id',
    described('getConsoleOrganisation', 'One organisation, as its page shows it', {
      params: idParamsSchema,
      response: { 200: consoleOrganisationSchema, ...errorResponses(401, 403, 404) },
    }),
    async ({ params }) => {
      const record = await organisations.loadRecord(params.id)
      const { organisation } = record
      const nowMs = clock.now()
      const [budget, counts, { entries }] = await Promise.all([
        ledger.loadBudget(organisation),
        lists.loadCounts(organisation.id, nowMs),
        adminLog.loadPage({ organisationId: organisation.id, limit: shownChanges }),
      ])
      if (!counts) throw noOrganisation(params.id)
      return {
        organisation: renderOrganisation(record, nowMs),
        budget: renderBudget(budget),
        ...counts,
        models: modelIds().toSorted(),
        changes: entries.map((entry) => ({ ...entry, at: entry.at.toISOString() })),
      }
    },
  )
}
