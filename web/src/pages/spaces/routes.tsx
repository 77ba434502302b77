import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { spaceRoute } from './space-route.tsx'

export const spacesRoutes = [
  createRoute({
    getParentRoute: () => organisationRoute,
    path: 'spaces',
    component: lazyRouteComponent(() => import('./spaces-page.tsx'), 'SpacesPage'),
  }),
] as const

/** Pages of one Space. */
export const spacePageRoutes = [
  createRoute({
    getParentRoute: () => spaceRoute,
    path: 'settings',
    component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
  }),
] as const
