import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'

export const usageRoutes = [
  createRoute({
    getParentRoute: () => organisationRoute,
    path: 'usage',
    component: lazyRouteComponent(() => import('./usage-page.tsx'), 'PlannedPage'),
  }),
] as const
