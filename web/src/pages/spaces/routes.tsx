import { createRoute, redirect } from '@tanstack/react-router'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'
import { publicationQuery, readListSearch, spaceListQuery, spaceModelsQuery, spaceQuery } from './queries.ts'
import { spaceRoute } from './space-route.tsx'

export const spaceListRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'spaces',
  validateSearch: readListSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureQueryData(spaceListQuery(params.organisationId, deps)),
  component: lazyPage('spaces', () => import('./spaces-page.tsx'), 'SpacesPage'),
})

export const publishedListRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'published-spaces',
  validateSearch: readListSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureQueryData(spaceListQuery(params.organisationId, deps)),
  component: lazyPage('spaces', () => import('./published-page.tsx'), 'PublishedPage'),
})

export const publicationRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'published-spaces/$spaceId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(publicationQuery(params.spaceId)),
  component: lazyPage('spaces', () => import('./publication-page.tsx'), 'PublicationPage'),
})

export const spacesRoutes = [spaceListRoute, publishedListRoute, publicationRoute] as const

export const settingsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'settings',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(spaceModelsQuery(params.organisationId)),
  component: lazyPage('spaces', () => import('./settings-page.tsx'), 'SettingsPage'),
})

/** A stored conversation, and the answer in it that is shown first, from 0. Wrong values are left out. */
function readChatSearch({ conversation, turn }: Record<string, unknown>): { conversation?: string; turn?: number } {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(conversation))
  return {
    ...(isId ? { conversation: String(conversation) } : {}),
    ...(Number.isInteger(turn) && Number(turn) >= 0 ? { turn: Number(turn) } : {}),
  }
}

export const chatRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'chat',
  validateSearch: readChatSearch,
  // Documents may have become ready since the Space was loaded.
  loader: ({ context, params }) =>
    void context.queryClient.prefetchQuery({ ...spaceQuery(params.spaceId), staleTime: 5_000 }),
  component: lazyPage(['spaces', 'own-chats'], () => import('./chat/chat-page.tsx'), 'ChatPage'),
})

const indexRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    const { organisationId, spaceId } = params
    throw redirect({
      to: '/organisations/$organisationId/spaces/$spaceId/files',
      params: { organisationId, spaceId },
      replace: true,
    })
  },
})

export const spacePageRoutes = [indexRoute, settingsRoute, chatRoute] as const
