import { createRoute } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'
import { spaceQuery } from '../spaces/queries.ts'
import { siteQuery } from './site-queries.ts'

export const hostedChatRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'published-spaces/$spaceId/hosted-chat',
  loader: ({ context: { queryClient }, params: { spaceId } }) =>
    Promise.all([queryClient.ensureQueryData(spaceQuery(spaceId)), queryClient.ensureQueryData(siteQuery(spaceId))]),
  component: lazyPage('hosted-chat', () => import('./hosted-chat-page.tsx'), 'HostedChatPage'),
})

export const hostedChatRoutes = [hostedChatRoute] as const
