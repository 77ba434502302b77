import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'

export const spacesRoutes = [
  createRoute({
    getParentRoute: () => organisationRoute,
    path: 'spaces',
    component: lazyRouteComponent(() => import('./spaces-page.tsx'), 'PlannedPage'),
  }),
] as const
