import { createRoute } from '@tanstack/react-router'
import { operatorRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'
import { readTexts } from '../../app/read-texts.ts'
import type { OverviewSearch } from './overview-query.ts'

const splits = ['organisation', 'provider', 'model', 'hosting'] as const

/** The server checks the texts. */
function readSearch(search: Record<string, unknown>): OverviewSearch {
  const split = splits.find((one) => one === search['split'])
  return {
    ...readTexts(search, ['from', 'to', 'organisationId', 'provider', 'model', 'hosting']),
    ...(split && { split }),
  }
}

export const overviewRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: '/',
  validateSearch: readSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context, deps }) =>
    context.queryClient.ensureQueryData((await import('./overview-query.ts')).overviewQuery(deps)),
  // A changed filter keeps the page until the new data are there.
  pendingMs: 1_000,
  component: lazyPage(['overview', 'usage', 'alerts'], () => import('./overview-page.tsx'), 'OverviewPage'),
})

const healthRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'health',
  loader: async ({ context }) => context.queryClient.ensureQueryData((await import('./health-query.ts')).healthQuery),
  component: lazyPage('overview', () => import('./health-page.tsx'), 'HealthPage'),
})

export const overviewRoutes = [overviewRoute, healthRoute] as const
