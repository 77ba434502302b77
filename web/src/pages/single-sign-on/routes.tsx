import { createRoute } from '@tanstack/react-router'
import type { SingleSignOnBody } from '@contract/single-sign-on.ts'
import { jsonQuery } from '../../api/queries.ts'
import { operatorRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'

export const singleSignOnPath = '/api/single-sign-on'

export const singleSignOnQuery = jsonQuery<SingleSignOnBody>(['single-sign-on'], singleSignOnPath)

export const singleSignOnRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'single-sign-on',
    loader: ({ context }) => context.queryClient.ensureQueryData(singleSignOnQuery),
    component: lazyPage('single-sign-on', () => import('./single-sign-on-page.tsx'), 'SingleSignOnPage'),
  }),
] as const
