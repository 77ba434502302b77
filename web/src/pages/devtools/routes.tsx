import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'

export const devtoolsRoutes = [
  createRoute({
    getParentRoute: () => organisationRoute,
    path: 'developer-tools',
    component: lazyRouteComponent(() => import('./devtools-page.tsx'), 'PlannedPage'),
  }),
] as const
