import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { AdminLogPageBody } from '@contract/admin-log.ts'
import type { ConsoleOrganisationBody, ConsoleOrganisationsBody } from '@contract/console-organisations.ts'
import type { ConsoleSystemBody } from '@contract/console-system.ts'
import { getJson } from '../../api/client.ts'
import { operatorRoute, organisationRoute } from '../../app/layout-routes.tsx'
import { withTexts } from '../../i18n/translations.ts'

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
  queryOptions({
    queryKey: ['operator', 'organisations', search],
    queryFn: ({ signal }) =>
      getJson<ConsoleOrganisationsBody>(`/api/console/organisations${queryString({ ...search })}`, { signal }),
    placeholderData: keepPreviousData,
  })

export const organisationQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'organisation', id],
    queryFn: ({ signal }) =>
      getJson<ConsoleOrganisationBody>(`/api/console/organisations/${encodeURIComponent(id)}`, { signal }),
  })

/** The admin log of all, or of one organisation for its administrators. */
export function auditPath(search: AuditSearch, ownOrganisationId?: string): string {
  const { from, to, ...rest } = search
  const base =
    ownOrganisationId === undefined
      ? '/api/admin-log'
      : `/api/organisations/${encodeURIComponent(ownOrganisationId)}/admin-log`
  return `${base}${queryString({ ...rest, from: startOfDay(from), to: startOfDay(to, 1) })}`
}

export const auditQuery = (search: AuditSearch, ownOrganisationId?: string) =>
  infiniteQueryOptions({
    queryKey: ['audit', ownOrganisationId ?? null, search],
    queryFn: ({ signal, pageParam }) => {
      const path = auditPath(search, ownOrganisationId)
      const page = `limit=${auditPageSize}${pageParam === null ? '' : `&cursor=${pageParam}`}`
      return getJson<AdminLogPageBody>(`${path}${path.includes('?') ? '&' : '?'}${page}`, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  })

export const systemQuery = queryOptions({
  queryKey: ['operator', 'system'],
  queryFn: ({ signal }) => getJson<ConsoleSystemBody>('/api/console/system', { signal }),
  refetchInterval: systemEveryMs,
})

function queryString(values: Record<string, string | number | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** Midnight of a day in the time zone of the browser. */
function startOfDay(day: string | undefined, later = 0): string | undefined {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '')
  if (!parts) return undefined
  return new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later).toISOString()
}

const textOf = (search: Record<string, unknown>, name: string) => {
  const value = search[name]
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text !== '' ? { [name]: text } : {}
}
const texts = (search: Record<string, unknown>, names: string[]) =>
  Object.assign({}, ...names.map((name) => textOf(search, name))) as Record<string, string>

const auditFields = ['actor', 'action', 'organisationId', 'subjectType', 'subjectId', 'from', 'to']

export const organisationsRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'organisations',
  validateSearch: (search: Record<string, unknown>): OrganisationsSearch => ({
    ...texts(search, ['search', 'plan', 'gateway', 'sort', 'direction']),
    ...(Number.isInteger(search['offset']) ? { offset: search['offset'] as number } : {}),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(organisationsQuery(deps)),
  component: lazyRouteComponent(() => withTexts('operator', import('./organisations-page.tsx')), 'OrganisationsPage'),
})

export const organisationPageRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'organisations/$organisationId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(organisationQuery(params.organisationId)),
  component: lazyRouteComponent(() => withTexts('operator', import('./organisation-page.tsx')), 'OrganisationPage'),
})

export const auditRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'audit',
  validateSearch: (search: Record<string, unknown>): AuditSearch => texts(search, auditFields),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => context.queryClient.ensureInfiniteQueryData(auditQuery(deps)),
  component: lazyRouteComponent(() => withTexts('operator', import('./audit-page.tsx')), 'AuditPage'),
})

export const systemRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'system',
  loader: ({ context }) => context.queryClient.ensureQueryData(systemQuery),
  component: lazyRouteComponent(() => withTexts('operator', import('./system-page.tsx')), 'SystemPage'),
})

export const activityRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'activity',
  validateSearch: (search: Record<string, unknown>): AuditSearch => texts(search, auditFields),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps, params }) =>
    context.queryClient.ensureInfiniteQueryData(auditQuery(deps, params.organisationId)),
  component: lazyRouteComponent(() => withTexts('operator', import('./activity-page.tsx')), 'ActivityPage'),
})

export const operatorRoutes = [organisationsRoute, organisationPageRoute, auditRoute, systemRoute] as const
export const activityRoutes = [activityRoute] as const
