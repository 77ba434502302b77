import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { operatorRoute } from '../../app/layout-routes.tsx'

export const modelRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'models',
    component: lazyRouteComponent(() => import('./models-page.tsx'), 'PlannedPage'),
  }),
] as const
