import { z } from 'zod'
import { conversationQuerySchema } from '../../../contract/conversations.ts'
import { errorResponses } from '../../../contract/errors.ts'
import { emptySchema, idParamsSchema } from '../../../contract/operator.ts'
import {
  exportOwnChatsQuerySchema,
  type OwnChatPageBody,
  ownChatPageSchema,
  ownChatParamsSchema,
  type OwnChatsQuery,
  ownChatsQuerySchema,
  type OwnChatViewBody,
  ownChatViewSchema,
  removedOwnChatsSchema,
  renameOwnChatSchema,
} from '../../../contract/own-chats.ts'
import { type App, type Routes, sendFile } from '../../../platform/http/index.ts'
import { AppError } from '../../../platform/kernel/index.ts'
import { type RoutesOfSpace, routesOfSpace, type Space } from '../../spaces/index.ts'
import { readPlace, renderEnd } from '../list-pages.ts'
import type { ChatOwner } from './chat-owner.ts'
import type { OwnChats } from './own-chats.ts'
import { renderJson, renderMarkdown, renderOwnChat, renderOwnTurn } from './render-own-chats.ts'

export interface OwnChatRoutesDependencies {
  chats: OwnChats
  getSpace: (id: string) => Space | undefined
}

type Described = RoutesOfSpace['forMembers']
interface OfSpace {
  params: { id: string }
  person: { id: string } | undefined
}
/** The Space, and whose conversations; the operator token stands for no person, and has none. */
interface Found {
  space: Space
  owner: ChatOwner | undefined
}
type Find = (request: OfSpace) => Found

/**
 * `/api/spaces/{id}/own-chats`: what a person has asked a Space in the console. Neither administrators nor operators read those of others. Where the
 * Space keeps no conversations, there are none.
 */
export function ownChatRoutes({ chats, getSpace }: OwnChatRoutesDependencies): Routes {
  const { forMembers, spaceOf } = routesOfSpace(getSpace, 'Own conversations')
  const find: Find = ({ params, person }) => {
    const space = spaceOf(params.id)
    const isKept = person !== undefined && space.settings.keepConversations
    return { space, owner: isKept ? { spaceId: space.id, personId: person.id } : undefined }
  }
  return (app) => {
    addList(app, forMembers, chats, find)
    addView(app, forMembers, chats, find)
    addChanges(app, forMembers, chats, find)
    addExport(app, forMembers, chats, find)
  }
}

function addList(app: App, forMembers: Described, chats: OwnChats, find: Find) {
  app.get(
    '/api/spaces/:id/own-chats',
    forMembers('listOwnChats', 'Your conversations with a Space', {
      description:
        'Conversations of the signed-in person in the console. Empty unless the setting `keepConversations` of the Space is on.',
      params: idParamsSchema,
      querystring: ownChatsQuerySchema,
      response: { 200: ownChatPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => loadPage(chats, find(request), request.query),
  )
  app.delete(
    '/api/spaces/:id/own-chats',
    forMembers('deleteOwnChats', 'Delete all your conversations with a Space', {
      params: idParamsSchema,
      response: { 200: removedOwnChatsSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => removeAll(chats, find(request)),
  )
}

async function loadPage(chats: OwnChats, { space, owner }: Found, query: OwnChatsQuery): Promise<OwnChatPageBody> {
  const none = { items: [], next: null, searchedTo: null }
  const { items, next, searchedTo } = owner
    ? await chats.loadPage(owner, { search: query.search ?? null, ...readPlace(query) })
    : none
  return {
    keeps: space.settings.keepConversations,
    days: space.settings.conversationDays,
    items: items.map(renderOwnChat),
    ...renderEnd({ next, searchedTo }),
  }
}

const removeAll = async (chats: OwnChats, { owner }: Found) => ({ chats: owner ? await chats.remove(owner, null) : 0 })

async function loadOne(
  chats: OwnChats,
  { owner }: Found,
  { chatId, after }: { chatId: string; after: number },
): Promise<OwnChatViewBody> {
  const found = owner && (await chats.loadOne(owner, { chatId, after }))
  if (!found) throw noChat(chatId)
  return { chat: renderOwnChat(found.chat), turns: found.turns.map(renderOwnTurn), next: found.next }
}

function addView(app: App, forMembers: Described, chats: OwnChats, find: Find) {
  app.get(
    '/api/spaces/:id/own-chats/:chatId',
    forMembers('getOwnChat', 'One of your conversations', {
      params: ownChatParamsSchema,
      querystring: conversationQuerySchema,
      response: { 200: ownChatViewSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => loadOne(chats, find(request), { ...request.params, ...request.query }),
  )
}

function addChanges(app: App, forMembers: Described, chats: OwnChats, find: Find) {
  app.patch(
    '/api/spaces/:id/own-chats/:chatId',
    forMembers('renameOwnChat', 'Change the title of your conversation', {
      params: ownChatParamsSchema,
      body: renameOwnChatSchema,
      response: { 204: emptySchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => {
      const { chatId } = request.params
      return changeOne(find(request), chatId, (owner) => chats.rename(owner, { chatId, title: request.body.title }))
    },
  )
  app.delete(
    '/api/spaces/:id/own-chats/:chatId',
    forMembers('deleteOwnChat', 'Delete your conversation', {
      params: ownChatParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => {
      const { chatId } = request.params
      return changeOne(find(request), chatId, (owner) => chats.remove(owner, chatId).then((removed) => removed > 0))
    },
  )
  app.post(
    '/api/spaces/:id/own-chats/:chatId/stop',
    forMembers('stopOwnAnswer', 'Stop the answer that is being written', {
      description: 'Reaches every instance within a second. Without a running answer nothing happens.',
      params: ownChatParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => {
      const { chatId } = request.params
      return changeOne(find(request), chatId, (owner) => chats.stop(owner, chatId))
    },
  )
}

/** Throws `not_found` where `change` finds no such conversation of the caller. */
async function changeOne(
  { owner }: Found,
  chatId: string,
  change: (owner: ChatOwner) => Promise<boolean>,
): Promise<void> {
  if (!owner || !(await change(owner))) throw noChat(chatId)
}

function addExport(app: App, forMembers: Described, chats: OwnChats, find: Find) {
  app.get(
    '/api/spaces/:id/own-chats/export',
    forMembers('exportOwnChats', 'Export your conversations', {
      params: idParamsSchema,
      querystring: exportOwnChatsQuerySchema,
      response: { 200: z.string(), ...errorResponses(400, 401, 403, 404) },
    }),
    async (request, reply) => {
      const { format, chatId = null } = request.query
      const { space, owner } = find(request)
      if (chatId !== null && !(owner && (await chats.loadOne(owner, { chatId, after: 0 })))) throw noChat(chatId)
      const parts = owner ? chats.loadParts(owner, chatId) : noParts()
      const name = `${chatId === null ? 'conversations' : 'conversation'}-${chatId ?? space.id}`
      return sendFile(reply, name, format, format === 'md' ? renderMarkdown(parts) : renderJson(parts))
    },
  )
}

async function* noParts() {}

const noChat = (id: string) => new AppError('not_found', `You have no conversation ${id} with this Space.`)
