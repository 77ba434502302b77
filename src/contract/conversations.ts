import { z } from 'zod'
import { referenceSchema } from './chat.ts'
import { isoTime } from './operator.ts'
import { cursorPaging, queryInteger } from './query-integer.ts'

/** Stored conversations of published Spaces. */

/** Of the header `service-user`, which names the visitor of a published Space. */
export const maximumUserCharacters = 128
const user = z.string().min(1).max(maximumUserCharacters).describe('What clients sent in the header `service-user`.')
const from = isoTime.optional().describe('At this time or later.')
const to = isoTime.optional().describe('Before this time.')

/** A time range whose end is not before its beginning. */
const hasOrderedTimes = (given: { from?: string | undefined; to?: string | undefined }) =>
  given.from === undefined || given.to === undefined || Date.parse(given.from) <= Date.parse(given.to)
const ordered = { error: 'must not be before `from`', path: ['to'] }

/** What lists of conversations have, here and in own-chats.ts. */
export const pageOfList = { ...cursorPaging(50) }
export const searchIn = (texts: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(`A part of ${texts}, not case-sensitive. A page reads for a limited time; see \`searchedTo\`.`)
export const keeping = {
  keeps: z.boolean().describe('Whether the Space keeps conversations.'),
  days: z.int().describe('Days after which they are deleted.'),
}
export const endOfPage = {
  nextCursor: z.string().nullable().describe('The `cursor` of the next page; null at the end.'),
  searchedTo: z.iso
    .datetime()
    .nullable()
    .describe('The search ended here, before the page was full; `nextCursor` continues it.'),
}

/** A question with its answer, as it is stored. */
export const answeredFields = {
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
}

export const conversationsQuerySchema = z
  .object({
    ...pageOfList,
    from,
    to,
    user: user.optional(),
    having: z
      .enum(['failed', 'unanswered', 'disliked'])
      .optional()
      .describe(
        'Only conversations with such an answer. `failed`: failed, or left by the client; `unanswered`: without references; `disliked`: rated as not helpful.',
      ),
    search: searchIn('a question or an answer'),
  })
  .refine(hasOrderedTimes, ordered)

export const conversationParamsSchema = z.object({ id: z.uuid(), conversationId: z.uuid() })
export const conversationQuerySchema = z.object({
  after: queryInteger(0, 1_000_000_000).default(0).describe('`next` of the page before.'),
})

const conversationSchema = z
  .object({
    id: z.uuid(),
    user: z.string().nullable(),
    startedAt: z.iso.datetime(),
    lastAt: z.iso.datetime(),
    turns: z.int(),
    failed: z.int().describe('Answers that failed or that the client left.'),
    unanswered: z.int().describe('Answers without references.'),
    disliked: z.int().describe('Answers that visitors rated as not helpful.'),
    billedUsd: z.string().describe('US dollars of the complete answers, an exact decimal.'),
    opening: z.string().describe('The beginning of the first question; at most 200 characters.'),
  })
  .meta({ id: 'Conversation' })

export const conversationPageSchema = z
  .object({
    ...keeping,
    stored: z
      .object({ conversations: z.int(), turns: z.int(), bytes: z.int() })
      .describe('All of the Space, whatever the filter.'),
    items: z.array(conversationSchema).describe('By their last answer, newest first.'),
    ...endOfPage,
  })
  .meta({ id: 'ConversationPage' })

const turnSchema = z
  .object({
    number: z.int(),
    follows: z
      .int()
      .nullable()
      .describe('The turn that the messages of the client continue; null: none that is stored.'),
    requestId: z.string(),
    at: z.iso.datetime().describe('When the question arrived.'),
    given: z
      .object({
        messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() })),
        leftOut: z.int().describe('Still earlier messages, which are not stored.'),
      })
      .nullable()
      .describe('Earlier messages of the request that are no stored turn.'),
    ...answeredFields,
    model: z.string(),
    receipts: z
      .array(z.object({ requestId: z.string(), billedUsd: z.string().nullable() }))
      .describe('The calls of the model; each has a receipt. `billedUsd` is null in exports.'),
    billedUsd: z.string().nullable().describe('Of all calls; null where no receipt is known.'),
    firstTextMs: z.int().nullable(),
    totalMs: z.int(),
    outcome: z
      .enum(['complete', 'failed', 'left'])
      .describe('`left`: the client closed its connection before the end.'),
    errorCode: z.string().nullable(),
    rating: z
      .object({ rating: z.enum(['up', 'down']), reason: z.string().nullable(), at: z.iso.datetime() })
      .nullable()
      .describe('What the visitor thinks of the answer.'),
  })
  .meta({ id: 'ConversationTurn' })

export const conversationViewSchema = z
  .object({
    conversation: conversationSchema,
    turns: z.array(turnSchema).describe('In the order of their arrival; at most 50, and at most about 2 MiB.'),
    next: z.int().nullable().describe('The `after` of the next page; null at the end.'),
  })
  .meta({ id: 'ConversationView' })

export const exportConversationsQuerySchema = z
  .object({
    format: z.enum(['jsonl', 'csv']).default('jsonl'),
    from,
    to,
    user: user.optional(),
    conversationId: z.uuid().optional(),
  })
  .refine(hasOrderedTimes, ordered)

export const eraseConversationsSchema = z
  .strictObject({
    user: user.optional(),
    from,
    to,
    all: z.literal(true).optional().describe('Everything that the Space has stored.'),
  })
  .refine(
    (given) =>
      [given.user !== undefined, given.all === true, given.from !== undefined || given.to !== undefined].filter(Boolean)
        .length === 1,
    { error: 'must have exactly one of `user`, `all`, or a time range (`from`, `to`)' },
  )
  .refine(hasOrderedTimes, ordered)
  .meta({ id: 'EraseConversations' })

export const erasedConversationsSchema = z
  .object({
    conversations: z.int().describe('Conversations of which nothing is left.'),
    turns: z.int().describe('Questions with their answers.'),
  })
  .meta({ id: 'ErasedConversations' })

export type ConversationsQuery = z.output<typeof conversationsQuerySchema>
export type ConversationPageBody = z.output<typeof conversationPageSchema>
export type ConversationBody = z.output<typeof conversationSchema>
export type ConversationViewBody = z.output<typeof conversationViewSchema>
export type ConversationTurnBody = z.output<typeof turnSchema>
export type EraseConversationsBody = z.output<typeof eraseConversationsSchema>
