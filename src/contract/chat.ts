import { z } from 'zod'
import { maximumCharactersPerMessage, maximumMessages } from './gateway.ts'
import { metadataFilterSchema } from './metadata-filter.ts'

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

/** Version 2. */
export const filteredChatRequestSchema = chatRequestSchema
  .extend({ filter: metadataFilterSchema.nullish() })
  .meta({ id: 'FilteredSpaceChatRequest' })

export type ChatRequest = z.infer<typeof chatRequestSchema>

const citedMarkerSchema = z
  .object({
    occurrence: z.int().describe('Which `[id]` of the text it is, counted from 1.'),
    quote: z
      .string()
      .describe('The sentences or the rows of the passage that support its statement; at most 300 characters.'),
    attributed: z.literal(true).optional().describe('Portico added this marker; absent: the model wrote it.'),
    page: z.int().optional().describe('The page of this quote; for PDF.'),
    start: z.int().optional().describe("Start of this quote in the document's extracted text, if it is part of it."),
    end: z.int().optional().describe('End of this quote, exclusive.'),
  })
  .meta({ id: 'CitedMarker' })

const passageReferenceSchema = z
  .object({
    page: z.int().optional().describe('The page of the quote, 1-based; for PDF.'),
    rows: z.object({ from: z.int(), to: z.int() }).optional().describe('The rows of a table, 1-based; for CSV.'),
    heading: z.string().optional().describe('The headings above the passage, outermost first, joined with ` > `.'),
    quote: z
      .string()
      .describe(
        'The part of the passage that shares most words with the first cited sentence; at most 300 characters.',
      ),
    start: z.int().describe("Start of the passage in the document's extracted text, in Unicode code points."),
    end: z.int().describe('End of the passage, exclusive.'),
    markers: z
      .array(citedMarkerSchema)
      .optional()
      .describe('With inline sources: the markers `[id]` whose statement this passage supports.'),
  })
  .meta({ id: 'PassageReference' })

export const referenceSchema = z
  .object({
    id: z.int().describe('The number in the marker.'),
    title: z.string().describe("The document's name."),
    documentId: z.string().optional().describe('Absent in streams without passage references.'),
    url: z.string().optional().describe("The document's `metadata.url`; absent if it has none."),
    attributed: z
      .literal(true)
      .optional()
      .describe('With passage references: Portico added all markers of this reference.'),
    passages: z
      .array(passageReferenceSchema)
      .optional()
      .describe('With `service-enable-passage-references: true`: the passages of the document that markers name.'),
  })
  .meta({ id: 'Reference' })

export type CitedMarker = z.infer<typeof citedMarkerSchema>

export type PassageReference = z.infer<typeof passageReferenceSchema>

export type Reference = z.infer<typeof referenceSchema>

const finishReason = z
  .enum(['stop', 'length', 'content_filter'])
  .describe(
    'Why the text ended. `length`: the model had no room for more; `content_filter`: the provider withheld the rest.',
  )

export const chatAnswerSchema = z
  .object({
    id: z.string(),
    role: z.literal('assistant'),
    content: z.string(),
    references: z.array(referenceSchema),
    finishReason: finishReason.optional().describe('With `service-enable-finish-reason: true`.'),
  })
  .meta({ id: 'SpaceChatAnswer' })

const messageSourceSchema = z
  .object({ source: z.string(), status: z.string(), count: z.int() })
  .describe('`message_source`: a retrieval or another tool call.')
const errorEventSchema = z
  .object({ error: z.string() })
  .describe('`error`: the answer failed; the stream ends without `done`.')
const otherEvents = [
  z.object({ delta: z.string() }).describe('`assistant_write`: a piece of the answer.'),
  z
    .object({ finishReason })
    .describe('`assistant_finish`: the text has ended; only with `service-enable-finish-reason: true`.'),
  z.object({ references: z.array(referenceSchema) }).describe('`references`: the cited sources.'),
  z.object({ done: z.literal(true) }).describe('`done`: the stream is complete.'),
] as const

/** The data of the events of a streamed answer, by event name. */
export const chatEventSchema = z
  .union([messageSourceSchema, errorEventSchema, ...otherEvents])
  .meta({ id: 'SpaceChatEvent' })

export type ChatAnswer = z.infer<typeof chatAnswerSchema>

/** What people receive in addition when they try a Space in the console. */
const previewSourceSchema = messageSourceSchema.extend({
  query: z
    .string()
    .nullable()
    .describe(
      'The searched text; null for a tool call without a valid query, and where all files were given without a search.',
    ),
  documents: z.array(z.object({ id: z.uuid(), title: z.string() })).describe('Documents of the passages found.'),
  milliseconds: z.int().describe('Time of the search.'),
})

const previewCostSchema = z
  .object({
    billedUsd: z.string().describe('US dollars as an exact decimal, for all calls of the model.'),
    requests: z
      .array(z.object({ requestId: z.string(), model: z.string(), billedUsd: z.string() }))
      .describe('One entry with a receipt for each call of the model.'),
  })
  .describe('`cost`: sent to administrators before `done`.')

const previewCitationsSchema = z
  .object({
    supported: z.int().describe('Their passage supports the sentence.'),
    moved: z.int().describe('Replaced by a passage that supports the sentence.'),
    dropped: z.int().describe('Removed: no passage that the model received supports the sentence.'),
    unchecked: z.int().describe('Kept: their sentence has nothing to compare.'),
    attributed: z.int().describe('Added by Portico to a sentence without a marker.'),
  })
  .describe('`citations`: what became of the markers of the model; sent to administrators with inline sources.')

export const chatPreviewSchema = chatAnswerSchema
  .extend({
    sources: z.array(previewSourceSchema).optional(),
    citations: previewCitationsSchema.optional(),
    cost: previewCostSchema.optional(),
  })
  .meta({ id: 'SpaceChatPreview' })

export const chatPreviewEventSchema = z
  .union([
    previewSourceSchema,
    errorEventSchema.extend({ code: z.string().describe('The code of the error.') }),
    ...otherEvents,
    previewCitationsSchema,
    previewCostSchema,
  ])
  .meta({ id: 'SpaceChatPreviewEvent' })

export type ChatPreview = z.infer<typeof chatPreviewSchema>
export type PreviewSource = z.infer<typeof previewSourceSchema>
export type PreviewCitations = z.infer<typeof previewCitationsSchema>
export type PreviewCost = z.infer<typeof previewCostSchema>
