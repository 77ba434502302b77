import { infiniteQueryOptions } from '@tanstack/react-query'
import { createRoute } from '@tanstack/react-router'
import type { ErasurePage } from '@contract/erasures.ts'
import { pagesQuery } from '../../api/queries.ts'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'

/** Pause between two looks at an erasure that is running. */
const refreshMs = 2_000

export const erasuresPath = (organisationId: string) =>
  `/api/organisations/${encodeURIComponent(organisationId)}/erasures`
export const erasuresKey = (organisationId: string) => ['erasures', organisationId] as const

/** Newest first. Refreshed while one of those that are shown is running. */
export const erasuresQuery = (organisationId: string) =>
  infiniteQueryOptions({
    ...pagesQuery<ErasurePage>(erasuresKey(organisationId), erasuresPath(organisationId)),
    refetchInterval: ({ state }) => {
      const shown = state.data?.pages.flatMap(({ items }) => items) ?? []
      return shown.some((erasure) => erasure.state === 'running') ? refreshMs : false
    },
  })

export const dataProtectionRoutes = [
  createRoute({
    getParentRoute: () => organisationRoute,
    path: 'data-protection',
    loader: ({ context, params }) => context.queryClient.ensureInfiniteQueryData(erasuresQuery(params.organisationId)),
    component: lazyPage('data-protection', () => import('./data-protection-page.tsx'), 'DataProtectionPage'),
  }),
] as const
