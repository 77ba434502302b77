import { createRoute } from '@tanstack/react-router'
import type { SemanticSearchBody } from '@contract/semantic-search.ts'
import { jsonQuery } from '../../api/queries.ts'
import { operatorRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'

export const semanticSearchPath = '/api/semantic-search'

/** Between two requests while documents are embedded or the local model is fetched. */
const refreshMs = 2_000

export const semanticSearchQuery = jsonQuery<SemanticSearchBody>(['semantic-search'], semanticSearchPath, {
  refetchInterval: ({ state: { data } }) =>
    data?.indexing || data?.local.install?.state === 'running' ? refreshMs : false,
})

export const semanticSearchRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'semantic-search',
    loader: ({ context }) => context.queryClient.ensureQueryData(semanticSearchQuery),
    component: lazyPage('semantic-search', () => import('./semantic-search-page.tsx'), 'SemanticSearchPage'),
  }),
] as const
