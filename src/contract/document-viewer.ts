import { z } from 'zod'
import { chunkPageSchema, documentProgressSchema } from './document-progress.ts'
import { documentSchema } from './documents.ts'
import { queryInteger } from './query-integer.ts'

/** What the viewer shows: the stored file, its extracted text, and facts about the document. */

/** Most code points of one window: a screen shows about 5,000, and 50,000 are at most 200 KB. */
export const maximumTextWindow = 50_000
/** Chunks that come with the view. */
export const chunksPerView = 50

/** The hash of the stored bytes. It differs after the document was replaced. */
const version = z.string().max(100)

export const contentQuerySchema = z.object({
  version: version
    .optional()
    .describe(
      '`version` of the view. A document that was replaced meanwhile is a 409, so that ranges of two files never mix.',
    ),
})

export const contentSchema = {
  description: 'The file as it was uploaded.',
  content: { 'application/octet-stream': { schema: z.string().meta({ format: 'binary' }) } },
}

const position = queryInteger(0, 2 ** 31 - 1)

export const textQuerySchema = z
  .object({
    from: position.default(0).describe('First code point.'),
    to: position.optional().describe(`Behind the last code point; at most ${maximumTextWindow} behind \`from\`.`),
  })
  .refine(({ from, to }) => to === undefined || (to > from && to - from <= maximumTextWindow), {
    path: ['to'],
    error: `must be above \`from\` by at most ${maximumTextWindow}`,
  })

export const documentTextQuerySchema = textQuerySchema.and(
  z.object({
    page: queryInteger(1, 2 ** 31 - 1)
      .optional()
      .describe('The text of this page instead of a window; empty if it has none, or if the format has no pages.'),
  }),
)

export const documentTextSchema = z
  .object({
    total: z.int().describe('Code points of the whole text; 0 until the document is ready.'),
    from: z.int(),
    to: z.int(),
    text: z.string().describe('White space between two chunks is a line feed.'),
  })
  .meta({ id: 'DocumentText' })

export const documentViewSchema = z
  .object({
    document: documentProgressSchema
      .extend({
        metadata: documentSchema.shape.metadata,
        pageCount: z.int().nullable().describe('The last page with text; null for formats without pages.'),
        version,
      })
      .meta({ id: 'ViewedDocument' }),
    text: documentTextSchema.describe('The window that begins at `from`.'),
    chunks: chunkPageSchema.describe(`The first ${chunksPerView}.`),
  })
  .meta({ id: 'DocumentView' })

export type DocumentTextBody = z.output<typeof documentTextSchema>
export type DocumentViewBody = z.output<typeof documentViewSchema>
