import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { publicRoute } from '../../app/layout-routes.tsx'

export const publicAccountRoutes = [
  createRoute({
    getParentRoute: () => publicRoute,
    path: 'sign-in',
    validateSearch: (search: Record<string, unknown>): { returnTo?: string } =>
      typeof search['returnTo'] === 'string' ? { returnTo: search['returnTo'] } : {},
    component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
] as const

export const accountShellRoutes = [] as const
export const memberRoutes = [] as const
export const operatorPeopleRoutes = [] as const
