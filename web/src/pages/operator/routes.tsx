import { keepPreviousData } from '@tanstack/react-query'
import { createRoute } from '@tanstack/react-router'
import type { AdminLogPageBody } from '@contract/admin-log.ts'
import type { ConsoleOrganisationBody, ConsoleOrganisationsBody } from '@contract/console-organisations.ts'
import type { ConsoleSystemBody } from '@contract/console-system.ts'
import { jsonQuery, pagesQuery, withQuery } from '../../api/queries.ts'
import { operatorRoute, organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'
import { readTexts } from '../../app/read-texts.ts'
import { startOfDay } from '../../ui/local-time.ts'

/** What the address of the list states; absent members have the server's defaults. */
export interface OrganisationsSearch {
  search?: string
  plan?: string
  gateway?: string
  sort?: string
  direction?: string
  offset?: number
}

/** The filter of an audit page in its address. */
export interface AuditSearch {
  actor?: string
  action?: string
  organisationId?: string
  subjectType?: string
  subjectId?: string
  /** Days, `2026-11-21`. */
  from?: string
  to?: string
}

/** Rows that a page of the audit loads at once. */
const auditPageSize = 50
/** The page of the system follows the server while it is visible. */
const systemEveryMs = 5_000

export const organisationsQuery = (search: OrganisationsSearch) =>
  jsonQuery<ConsoleOrganisationsBody>(
    ['operator', 'organisations', search],
    withQuery('/api/console/organisations', { ...search }),
    { placeholderData: keepPreviousData },
  )

export const organisationQuery = (id: string) =>
  jsonQuery<ConsoleOrganisationBody>(
    ['operator', 'organisation', id],
    `/api/console/organisations/${encodeURIComponent(id)}`,
  )

/** The admin log of all, or of one organisation for its administrators. */
export function auditPath(search: AuditSearch, ownOrganisationId?: string): string {
  const { from, to, ...rest } = search
  const base =
    ownOrganisationId === undefined
      ? '/api/admin-log'
      : `/api/organisations/${encodeURIComponent(ownOrganisationId)}/admin-log`
  return withQuery(base, { ...rest, from: startOfDay(from), to: startOfDay(to, 1) })
}

export const auditQuery = (search: AuditSearch, ownOrganisationId?: string) =>
  pagesQuery<AdminLogPageBody>(
    ['audit', ownOrganisationId ?? null, search],
    withQuery(auditPath(search, ownOrganisationId), { limit: auditPageSize }),
  )

export const systemQuery = jsonQuery<ConsoleSystemBody>(['operator', 'system'], '/api/console/system', {
  refetchInterval: systemEveryMs,
})

const auditFields = ['actor', 'action', 'organisationId', 'subjectType', 'subjectId', 'from', 'to'] as const

export const organisationsRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'organisations',
  validateSearch: (search: Record<string, unknown>): OrganisationsSearch => ({
    ...readTexts(search, ['search', 'plan', 'gateway', 'sort', 'direction']),
    ...(Number.isInteger(search['offset']) ? { offset: search['offset'] as number } : {}),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(organisationsQuery(deps)),
  component: lazyPage('operator', () => import('./organisations-page.tsx'), 'OrganisationsPage'),
})

export const organisationPageRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'organisations/$organisationId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(organisationQuery(params.organisationId)),
  component: lazyPage('operator', () => import('./organisation-page.tsx'), 'OrganisationPage'),
})

export const auditRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'audit',
  validateSearch: (search: Record<string, unknown>): AuditSearch => readTexts(search, auditFields),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureInfiniteQueryData(auditQuery(deps)),
  component: lazyPage('operator', () => import('./audit-page.tsx'), 'AuditPage'),
})

export const systemRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'system',
  loader: ({ context }) => context.queryClient.ensureQueryData(systemQuery),
  component: lazyPage('operator', () => import('./system-page.tsx'), 'SystemPage'),
})

export const activityRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'activity',
  validateSearch: (search: Record<string, unknown>): AuditSearch => readTexts(search, auditFields),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps, params }) =>
    context.queryClient.ensureInfiniteQueryData(auditQuery(deps, params.organisationId)),
  component: lazyPage('operator', () => import('./activity-page.tsx'), 'ActivityPage'),
})

export const operatorRoutes = [organisationsRoute, organisationPageRoute, auditRoute, systemRoute] as const
export const activityRoutes = [activityRoute] as const
