import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { operatorRoute } from '../../app/layout-routes.tsx'

export const operatorRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'organisations',
    component: lazyRouteComponent(() => import('./operator-page.tsx'), 'PlannedPage'),
  }),
] as const
