import { createRoute } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'
import { spaceQuery } from './queries.ts'

/** The pages of one Space. Its loader runs in parallel with the loader of the page. */
export const spaceRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'spaces/$spaceId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(spaceQuery(params.spaceId)),
  component: lazyPage('spaces', () => import('./space-layout.tsx'), 'SpaceLayout'),
})
