import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { withTexts } from '../../i18n/translations.ts'
import { spaceQuery } from './queries.ts'

/** The pages of one Space. Its loader runs in parallel with the loader of the page. */
export const spaceRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'spaces/$spaceId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(spaceQuery(params.spaceId)),
  component: lazyRouteComponent(() => withTexts('spaces', import('./space-layout.tsx')), 'SpaceLayout'),
})
