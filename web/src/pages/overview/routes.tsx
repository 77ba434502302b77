import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { operatorRoute } from '../../app/layout-routes.tsx'
import { withTexts } from '../../i18n/translations.ts'
import type { OverviewSearch } from './overview-query.ts'

const splits = ['organisation', 'provider', 'model', 'hosting'] as const

/** Texts that are not empty; the server checks the rest. */
function readSearch(search: Record<string, unknown>): OverviewSearch {
  const text = (name: string) => {
    const value = search[name]
    // The router reads a value such as 42 as a number.
    if (typeof value === 'number') return String(value)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const members = {
    from: text('from'),
    to: text('to'),
    organisationId: text('organisationId'),
    provider: text('provider'),
    model: text('model'),
    hosting: text('hosting'),
    split: splits.find((split) => split === search['split']),
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
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
  component: lazyRouteComponent(
    () => withTexts(['overview', 'usage', 'alerts'], import('./overview-page.tsx')),
    'OverviewPage',
  ),
})

const healthRoute = createRoute({
  getParentRoute: () => operatorRoute,
  path: 'health',
  loader: async ({ context }) => context.queryClient.ensureQueryData((await import('./health-query.ts')).healthQuery),
  component: lazyRouteComponent(() => withTexts('overview', import('./health-page.tsx')), 'HealthPage'),
})

export const overviewRoutes = [overviewRoute, healthRoute] as const
