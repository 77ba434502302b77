import { queryOptions } from '@tanstack/react-query'
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { SingleSignOnBody } from '@contract/single-sign-on.ts'
import { getJson } from '../../api/client.ts'
import { operatorRoute } from '../../app/layout-routes.tsx'
import { withTexts } from '../../i18n/translations.ts'

export const singleSignOnPath = '/api/single-sign-on'

export const singleSignOnQuery = queryOptions({
  queryKey: ['single-sign-on'],
  queryFn: ({ signal }) => getJson<SingleSignOnBody>(singleSignOnPath, { signal }),
})

export const singleSignOnRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'single-sign-on',
    loader: ({ context }) => context.queryClient.ensureQueryData(singleSignOnQuery),
    component: lazyRouteComponent(
      () => withTexts('single-sign-on', import('./single-sign-on-page.tsx')),
      'SingleSignOnPage',
    ),
  }),
] as const
