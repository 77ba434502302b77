import { createRoute } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'
import { readTexts } from '../../app/read-texts.ts'
import { reportQuery, requestsQuery, type UsageSearch } from './usage-query.ts'

const surfaces = ['gateway', 'space_chat', 'embeddings'] as const

/** The server checks the texts. */
function readSearch(search: Record<string, unknown>): UsageSearch {
  const surface = surfaces.find((one) => one === search['surface'])
  return {
    ...readTexts(search, ['from', 'to', 'model', 'spaceId', 'tagKey', 'tagValue', 'split', 'ending']),
    ...(search['view'] === 'requests' && { view: 'requests' }),
    ...(surface && { surface }),
  }
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
  component: lazyPage('usage', () => import('./usage-page.tsx'), 'UsagePage'),
})

export const usageRoutes = [usageRoute] as const
