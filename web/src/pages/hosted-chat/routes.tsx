import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { withTexts } from '../../i18n/translations.ts'
import { spaceQuery } from '../spaces/queries.ts'
import { siteQuery } from './site-queries.ts'

export const hostedChatRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'published-spaces/$spaceId/hosted-chat',
  loader: ({ context: { queryClient }, params: { spaceId } }) =>
    Promise.all([queryClient.ensureQueryData(spaceQuery(spaceId)), queryClient.ensureQueryData(siteQuery(spaceId))]),
  component: lazyRouteComponent(() => withTexts('hosted-chat', import('./hosted-chat-page.tsx')), 'HostedChatPage'),
})

export const hostedChatRoutes = [hostedChatRoute] as const
