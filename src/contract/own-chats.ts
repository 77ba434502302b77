import { z } from 'zod'
import { answeredFields, endOfPage, keeping, pageOfList, searchIn } from './conversations.ts'

/** Conversations of a person with a Space in the console. Only the person reads them. */

/** The header of a question in the console that is to be kept, with the id of its conversation. */
export const chatHeader = 'service-conversation'
export const maximumTitleCharacters = 200

export const ownChatsQuerySchema = z.object({ ...pageOfList, search: searchIn('a title, a question or an answer') })

export const ownChatParamsSchema = z.object({ id: z.uuid(), chatId: z.uuid() })
const ownChatSchema = z
  .object({
    id: z.uuid(),
    title: z.string().describe('The beginning of the first question, until the person changes it.'),
    firstAt: z.iso.datetime(),
    lastAt: z.iso.datetime(),
    turns: z.int(),
  })
  .meta({ id: 'OwnChat' })

export const ownChatPageSchema = z
  .object({
    ...keeping,
    items: z.array(ownChatSchema).describe('By their last answer, newest first.'),
    ...endOfPage,
  })
  .meta({ id: 'OwnChatPage' })

const ownTurnSchema = z
  .object({
    number: z.int(),
    requestId: z.string(),
    at: z.iso.datetime().describe('When the question arrived.'),
    ...answeredFields,
    model: z.string(),
    totalMs: z.int(),
    outcome: z
      .enum(['complete', 'failed', 'left'])
      .describe('`left`: the person stopped it, or the service stopped before its end.'),
    errorCode: z.string().nullable(),
  })
  .meta({ id: 'OwnChatTurn' })

export const ownChatViewSchema = z
  .object({
    chat: ownChatSchema,
    turns: z.array(ownTurnSchema).describe('In their order; at most 50, and at most about 2 MiB.'),
    next: z.int().nullable().describe('The `after` of the next page; null at the end.'),
  })
  .meta({ id: 'OwnChatView' })

export const renameOwnChatSchema = z
  .strictObject({ title: z.string().trim().min(1).max(maximumTitleCharacters) })
  .meta({ id: 'RenameOwnChat' })

export const exportOwnChatsQuerySchema = z.object({
  format: z.enum(['md', 'json']).default('json').describe('Markdown or JSON.'),
  chatId: z.uuid().optional().describe('Absent: all conversations of the person with the Space.'),
})

export const removedOwnChatsSchema = z.object({ chats: z.int() }).meta({ id: 'RemovedOwnChats' })

export type OwnChatsQuery = z.output<typeof ownChatsQuerySchema>
export type OwnChatBody = z.output<typeof ownChatSchema>
export type OwnChatPageBody = z.output<typeof ownChatPageSchema>
export type OwnChatTurnBody = z.output<typeof ownTurnSchema>
export type OwnChatViewBody = z.output<typeof ownChatViewSchema>
