import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { withTexts } from '../../i18n/translations.ts'
import { reportQuery, requestsQuery, type UsageSearch } from './usage-query.ts'

const surfaces = ['gateway', 'space_chat', 'embeddings'] as const

/** Texts that are not empty; the server checks the rest. */
function readSearch(search: Record<string, unknown>): UsageSearch {
  const text = (name: string) => {
    const value = search[name]
    // The router reads a value such as 42 as a number.
    if (typeof value === 'number') return String(value)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const members = {
    view: search['view'] === 'requests' ? ('requests' as const) : undefined,
    from: text('from'),
    to: text('to'),
    model: text('model'),
    surface: surfaces.find((surface) => surface === search['surface']),
    spaceId: text('spaceId'),
    tagKey: text('tagKey'),
    tagValue: text('tagValue'),
    split: text('split'),
    ending: text('ending'),
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

export const usageRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'usage',
  validateSearch: readSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context, params, deps }) => {
    if (deps.view === 'requests')
      await context.queryClient.ensureInfiniteQueryData(requestsQuery(params.organisationId, deps))
    else await context.queryClient.ensureQueryData(reportQuery(params.organisationId, deps))
  },
  // A changed filter keeps the page until the new data are there.
  pendingMs: 1_000,
  component: lazyRouteComponent(() => withTexts('usage', import('./usage-page.tsx')), 'UsagePage'),
})

export const usageRoutes = [usageRoute] as const
