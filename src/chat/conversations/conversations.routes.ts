import { z } from 'zod'
import {
  type ConversationPageBody,
  conversationPageSchema,
  conversationParamsSchema,
  conversationQuerySchema,
  conversationsQuerySchema,
  conversationViewSchema,
  type ConversationsQuery,
  type EraseConversationsBody,
  eraseConversationsSchema,
  erasedConversationsSchema,
  exportConversationsQuerySchema,
} from '../../contract/conversations.ts'
import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { type App, type Routes, sendFile } from '../../platform/http/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import { type Actor, actorOf } from '../../tenants/operators/index.ts'
import { type RoutesOfSpace, routesOfSpace, type Space } from '../spaces/index.ts'
import type { Conversations } from './conversation-access.ts'
import type { Erasure } from './erasure.ts'
import { readPlace, renderEnd } from './list-pages.ts'
import { renderConversation, renderExport } from './render-conversations.ts'

export interface ConversationRoutesDependencies {
  conversations: Conversations
  getSpace: (id: string) => Space | undefined
}

type Described = RoutesOfSpace['forAdministrators']

/** `/api/spaces/{id}/conversations`: what a Space has stored of its published chat, for administrators of its organisation. */
export function conversationRoutes({ conversations, getSpace }: ConversationRoutesDependencies): Routes {
  const { forAdministrators, spaceOf } = routesOfSpace(getSpace, 'Conversations')
  return (app) => {
    addList(app, forAdministrators, conversations, spaceOf)
    addView(app, forAdministrators, conversations)
    addExport(app, forAdministrators, conversations, spaceOf)
    addErasure(app, forAdministrators, conversations, spaceOf)
  }
}

function addList(app: App, forAdministrators: Described, conversations: Conversations, spaceOf: (id: string) => Space) {
  app.get(
    '/api/spaces/:id/conversations',
    forAdministrators('listConversations', 'Conversations of a Space', {
      description:
        'Stored answers of the published chat, by conversation. Empty unless the setting `keepConversations` of the Space is on. An answer appears some seconds after its end.',
      params: idParamsSchema,
      querystring: conversationsQuerySchema,
      response: { 200: conversationPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => loadPage(conversations, spaceOf(request.params.id), request.query),
  )
}

async function loadPage(
  conversations: Conversations,
  { id, settings }: Space,
  query: ConversationsQuery,
): Promise<ConversationPageBody> {
  const { stored, items, next, searchedTo } = await conversations.loadPage(id, filterOf(query), readPlace(query))
  return {
    keeps: settings.keepConversations,
    days: settings.conversationDays,
    stored,
    items: items.map(renderConversation),
    ...renderEnd({ next, searchedTo }),
  }
}

function filterOf({ from, to, user, having, search }: ConversationsQuery) {
  return {
    from: toDate(from),
    to: toDate(to),
    user: user ?? null,
    having: having ?? null,
    search: search ?? null,
  }
}

const toDate = (time: string | undefined) => (time === undefined ? null : new Date(time))

function addView(app: App, forAdministrators: Described, conversations: Conversations) {
  app.get(
    '/api/spaces/:id/conversations/:conversationId',
    forAdministrators('getConversation', 'One conversation with its answers', {
      params: conversationParamsSchema,
      querystring: conversationQuerySchema,
      response: { 200: conversationViewSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => loadOne(conversations, request.params, request.query.after),
  )
  app.delete(
    '/api/spaces/:id/conversations/:conversationId',
    forAdministrators('deleteConversation', 'Erase a conversation', {
      params: conversationParamsSchema,
      response: { 200: erasedConversationsSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => eraseOne(conversations, request.params, actorOf(request)),
  )
}

interface ConversationParams {
  id: string
  conversationId: string
}

async function loadOne(conversations: Conversations, { id, conversationId }: ConversationParams, after: number) {
  const found = await conversations.loadOne(id, conversationId, after)
  if (!found) throw noConversation(conversationId)
  return found
}

async function eraseOne(conversations: Conversations, { id, conversationId }: ConversationParams, actor: Actor) {
  const removed = await conversations.erase(id, actor, { scope: 'conversation', conversationId })
  if (removed.turns === 0) throw noConversation(conversationId)
  return removed
}

const noConversation = (id: string) => new AppError('not_found', `The Space has no conversation ${id}.`)

function addExport(
  app: App,
  forAdministrators: Described,
  conversations: Conversations,
  spaceOf: (id: string) => Space,
) {
  app.get(
    '/api/spaces/:id/conversations/export',
    forAdministrators('exportConversations', 'Export stored answers', {
      description:
        'One line per question with its answer, oldest first: JSON Lines, or CSV with a header. The admin log records who exported.',
      params: idParamsSchema,
      querystring: exportConversationsQuerySchema,
      response: { 200: z.string(), ...errorResponses(400, 401, 403, 404) },
    }),
    async (request, reply) => {
      const { format, from, to, user, conversationId } = request.query
      const { id } = spaceOf(request.params.id)
      const filter = { from: toDate(from), to: toDate(to), user: user ?? null, conversationId: conversationId ?? null }
      const pages = await conversations.export(id, actorOf(request), filter)
      return sendFile(reply, `conversations-${id}`, format, renderExport(pages, format))
    },
  )
}

function addErasure(
  app: App,
  forAdministrators: Described,
  conversations: Conversations,
  spaceOf: (id: string) => Space,
) {
  app.post(
    '/api/spaces/:id/conversations/erase',
    forAdministrators('eraseConversations', 'Erase stored answers', {
      description:
        'Of one user, of a time range, or all. The answer states what was erased; the admin log records it without texts. `all` hides everything at once, and deletes the rows within 10 minutes. Answers of the last seconds may be stored afterwards.',
      params: idParamsSchema,
      body: eraseConversationsSchema,
      response: { 200: erasedConversationsSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => conversations.erase(spaceOf(request.params.id).id, actorOf(request), toErasure(request.body)),
  )
}

function toErasure({ user, from, to }: EraseConversationsBody): Erasure {
  if (user !== undefined) return { scope: 'user', user }
  if (from !== undefined || to !== undefined) return { scope: 'time', from: toDate(from), to: toDate(to) }
  return { scope: 'space' }
}
