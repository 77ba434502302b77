import { z } from 'zod'
import { documentWarningSchema } from './documents.ts'
import { queryInteger } from './query-integer.ts'

/** The operator's view of documents: progress, failures and chunks. */

const status = z.enum(['processing', 'ready', 'failed'])

export const documentProgressSchema = z
  .object({
    id: z.uuid(),
    spaceId: z.uuid(),
    name: z.string(),
    status,
    stage: z.enum(['queued', 'extracting', 'indexing', 'done', 'failed']),
    partsDone: z.int().nullable().describe('Pages while extracting, chunks while indexing.'),
    partsTotal: z.int().nullable().describe('Null if unknown.'),
    warnings: z.array(documentWarningSchema).describe('Parts of the file that could not be read, and guessed values.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable().describe('Why it failed and what to do.'),
    chunkCount: z.int().nullable().describe('Null until it is ready.'),
    sizeBytes: z.int(),
    mimeType: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'DocumentProgress' })

const documentCountsSchema = z
  .object({ processing: z.int(), ready: z.int(), failed: z.int() })
  .describe('Documents of the Space by status.')
  .meta({ id: 'DocumentCounts' })

export const documentProgressQuerySchema = z.object({
  status: status.optional().describe('Only documents with this status.'),
  offset: queryInteger(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: queryInteger(1, 100).default(20),
})

export const documentProgressPageSchema = z
  .object({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    counts: documentCountsSchema,
    items: z.array(documentProgressSchema),
  })
  .meta({ id: 'DocumentProgressPage' })

/** The data of each event, by event name. */
export const documentEventSchema = z
  .union([
    z
      .object({ counts: documentCountsSchema, items: z.array(documentProgressSchema) })
      .describe('`snapshot`: the newest 100. Sent first, and again if changes may have been missed.'),
    documentProgressSchema.describe('`document`: a new or changed document.'),
    z.object({ id: z.uuid() }).describe('`removed`: the id of a removed document.'),
    documentCountsSchema.describe('`counts`: documents by status.'),
  ])
  .meta({ id: 'SpaceDocumentEvent' })

export const chunkQuerySchema = z.object({
  offset: queryInteger(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: queryInteger(1, 500).default(100),
})

const chunkSchema = z
  .object({
    index: z.int().describe('0-based order in the document.'),
    text: z.string(),
    headingPath: z.array(z.string()),
    tableHeader: z.string().nullable(),
    tokens: z.int(),
    pageFrom: z.int().nullable(),
    pageTo: z.int().nullable(),
    characterFrom: z
      .int()
      .describe(
        'Start in the extracted text, in Unicode code points; neighbouring chunks may overlap. A chunk with some columns of a wide table has the range of its rows.',
      ),
    characterTo: z.int(),
    rowFrom: z.int().nullable(),
    rowTo: z.int().nullable(),
  })
  .meta({ id: 'Chunk' })

export const chunkPageSchema = z
  .object({ total: z.int(), limit: z.int(), offset: z.int(), items: z.array(chunkSchema) })
  .meta({ id: 'ChunkPage' })

export type DocumentProgressBody = z.infer<typeof documentProgressSchema>
export type ChunkBody = z.infer<typeof chunkSchema>
export type ChunkPageBody = z.infer<typeof chunkPageSchema>
