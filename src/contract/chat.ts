import { z } from 'zod'
import { maximumCharactersPerMessage, maximumMessages } from './gateway.ts'

/** The chat of a published Space. */

const content = z.string().refine(hasAllowedLength, {
  error: `must have at most ${maximumCharactersPerMessage} characters`,
})

/** Characters are Unicode code points, which take one or two UTF-16 units. */
function hasAllowedLength(text: string): boolean {
  if (text.length <= maximumCharactersPerMessage) return true
  return text.length <= 2 * maximumCharactersPerMessage && [...text].length <= maximumCharactersPerMessage
}

export const chatRequestSchema = z
  .object({
    messages: z
      .array(z.object({ role: z.enum(['user', 'assistant']), content }))
      .min(1)
      .max(maximumMessages)
      .refine((messages) => messages.at(-1)?.role === 'user', { error: 'must end with a message of the role `user`' })
      .describe('The conversation so far; the last message is the question.'),
    streaming: z.boolean().nullish().describe('true: server-sent events; false (default): one JSON answer.'),
  })
  .meta({ id: 'SpaceChatRequest' })

export type ChatRequest = z.infer<typeof chatRequestSchema>

export const referenceSchema = z
  .object({
    id: z.int().describe('The number in the marker.'),
    title: z.string().describe("The document's name."),
    documentId: z.string().optional().describe('Absent in streams.'),
    url: z.string().optional().describe("The document's `metadata.url`; absent if it has none."),
  })
  .meta({ id: 'Reference' })

export type Reference = z.infer<typeof referenceSchema>

export const chatAnswerSchema = z
  .object({
    id: z.string(),
    role: z.literal('assistant'),
    content: z.string(),
    references: z.array(referenceSchema),
  })
  .meta({ id: 'SpaceChatAnswer' })

/** The data of the events of a streamed answer, by event name. */
export const chatEventSchema = z
  .union([
    z
      .object({ source: z.string(), status: z.string(), count: z.int() })
      .describe('`message_source`: a retrieval or another tool call.'),
    z.object({ delta: z.string() }).describe('`assistant_write`: a piece of the answer.'),
    z
      .object({ references: z.array(referenceSchema.omit({ documentId: true })) })
      .describe('`references`: the cited sources.'),
    z.object({ error: z.string() }).describe('`error`: the answer failed; the stream ends without `done`.'),
    z.object({ done: z.literal(true) }).describe('`done`: the stream is complete.'),
  ])
  .meta({ id: 'SpaceChatEvent' })

export type ChatAnswer = z.infer<typeof chatAnswerSchema>
