import { z } from 'zod'
import { referenceSchema } from './chat.ts'
import { queryInteger } from './query-integer.ts'

/** Conversations of a person with a Space in the console. Only the person reads them. */

/** The header of a question in the console that is to be kept, with the id of its conversation. */
export const chatHeader = 'service-conversation'
export const maximumTitleCharacters = 200

export const ownChatsQuerySchema = z.object({
  limit: queryInteger(1, 100).default(50),
  cursor: z
    .string()
    .regex(/^\d{1,15}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'must be the nextCursor of an earlier page')
    .optional()
    .describe('`nextCursor` of the page before.'),
  search: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'A part of a title, a question or an answer, not case-sensitive. A page reads for a limited time; see `searchedTo`.',
    ),
})

export const ownChatParamsSchema = z.object({ id: z.uuid(), chatId: z.uuid() })
export const ownChatQuerySchema = z.object({
  after: queryInteger(0, 1_000_000_000).default(0).describe('`next` of the page before.'),
})

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
    keeps: z.boolean().describe('Whether the Space keeps conversations.'),
    days: z.int().describe('Days after which they are deleted.'),
    items: z.array(ownChatSchema).describe('By their last answer, newest first.'),
    nextCursor: z.string().nullable().describe('The `cursor` of the next page; null at the end.'),
    searchedTo: z.iso
      .datetime()
      .nullable()
      .describe('The search ended here, before the page was full; `nextCursor` continues it.'),
  })
  .meta({ id: 'OwnChatPage' })

const ownTurnSchema = z
  .object({
    number: z.int(),
    requestId: z.string(),
    at: z.iso.datetime().describe('When the question arrived.'),
    question: z.string(),
    questionCut: z.boolean().describe('Only the first 65536 bytes are stored.'),
    answer: z.string(),
    answerCut: z.boolean(),
    references: z.array(referenceSchema),
    sources: z.array(
      z.object({
        source: z.string(),
        status: z.string(),
        count: z.int(),
        query: z.string().nullable(),
        milliseconds: z.int(),
      }),
    ),
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
