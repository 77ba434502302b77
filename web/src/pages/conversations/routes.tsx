import { infiniteQueryOptions } from '@tanstack/react-query'
import { createRoute } from '@tanstack/react-router'
import type { ConversationPageBody, ConversationViewBody } from '@contract/conversations.ts'
import { getJson } from '../../api/client.ts'
import { pagesQuery, withQuery } from '../../api/queries.ts'
import { lazyPage } from '../../app/lazy-page.ts'
import { startOfDay } from '../../ui/local-time.ts'
import { spaceRoute } from '../spaces/space-route.tsx'

/** Answers that a conversation has one of. */
export const havings = ['failed', 'unanswered', 'disliked'] as const
type Having = (typeof havings)[number]

/** The filter of the list in its address. */
export interface ConversationSearch {
  search?: string
  user?: string
  having?: Having
  /** Days, `2026-11-21`, both included. */
  from?: string
  to?: string
}

export const conversationsPath = (spaceId: string) => `/api/spaces/${encodeURIComponent(spaceId)}/conversations`
/** Queries that an erasure makes stale. */
export const conversationsKey = (spaceId: string) => ['conversations', spaceId] as const

export const conversationsQuery = (spaceId: string, search: ConversationSearch) =>
  pagesQuery<ConversationPageBody>(
    [...conversationsKey(spaceId), search],
    withQuery(conversationsPath(spaceId), filterOf(search)),
  )

/** The filter as the API takes it. */
export function filterOf({ search, user, having, from, to }: ConversationSearch): Record<string, string> {
  const given = { search, user, having, from: startOfDay(from), to: startOfDay(to, 1) }
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

export const conversationQuery = (spaceId: string, conversationId: string) =>
  infiniteQueryOptions({
    queryKey: ['conversation', spaceId, conversationId],
    queryFn: ({ signal, pageParam }) =>
      getJson<ConversationViewBody>(`${conversationsPath(spaceId)}/${conversationId}?after=${pageParam}`, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
  })

export const conversationsRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'conversations',
  validateSearch: readSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) =>
    context.queryClient.ensureInfiniteQueryData(conversationsQuery(params.spaceId, deps)),
  component: lazyPage('conversations', () => import('./conversations-page.tsx'), 'ConversationsPage'),
})

export const conversationRoute = createRoute({
  getParentRoute: () => spaceRoute,
  path: 'conversations/$conversationId',
  loader: ({ context, params }) =>
    context.queryClient.ensureInfiniteQueryData(conversationQuery(params.spaceId, params.conversationId)),
  component: lazyPage('conversations', () => import('./conversation-page.tsx'), 'ConversationPage'),
})

export const conversationRoutes = [conversationsRoute, conversationRoute] as const

/** Wrong values are left out. */
function readSearch(given: Record<string, unknown>): ConversationSearch {
  const { search, user, having, from, to } = given
  return {
    ...(typeof search === 'string' && search.trim() !== '' ? { search: search.trim().slice(0, 200) } : {}),
    ...(typeof user === 'string' && user !== '' ? { user: user.slice(0, 128) } : {}),
    ...(isHaving(having) ? { having } : {}),
    ...(isDay(from) ? { from } : {}),
    ...(isDay(to) ? { to } : {}),
  }
}

const isHaving = (value: unknown): value is Having => (havings as readonly unknown[]).includes(value)

const isDay = (value: unknown): value is string => typeof value === 'string' && startOfDay(value) !== undefined
