import { z } from 'zod'
import { type MetadataFilter, metadataFilterSchema, readFilterText } from './metadata-filter.ts'
import {
  documentFailureCodes,
  documentFormats,
  documentWarningSchema,
  maximumMetadataBytes,
  queuePlaceSchema,
} from './documents.ts'
import { pageOf, paging, queryInteger } from './query-integer.ts'

/** The console's view of documents: lists, progress, failures, work on many documents, and chunks. */

/** Most documents that one request selects by id, and most that it leaves out of a filter. */
export const maximumSelectedDocuments = 1000
const maximumSearchLength = 255
/** Most metadata keys that one request removes. */
const maximumRemovedKeys = 1000

const failure = z.enum(documentFailureCodes)
const format = z.enum(documentFormats)
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
    error: z.object({ code: failure, message: z.string() }).nullable().describe('Why it failed and what to do.'),
    chunkCount: z.int().nullable().describe('Null until it is ready.'),
    pageCount: z.int().nullable().describe('Of a PDF; null until it is ready.'),
    path: z.string().nullable().describe('The text `path` of the metadata: the folder of an uploaded folder.'),
    sizeBytes: z.int(),
    mimeType: z.string(),
    format,
    queue: queuePlaceSchema.optional(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'DocumentProgress' })

const documentCountsSchema = z
  .object({ processing: z.int(), ready: z.int(), failed: z.int() })
  .describe('Documents of the Space by status.')
  .meta({ id: 'DocumentCounts' })

/** A document with everything that its page shows. */
export const documentDetailSchema = documentProgressSchema
  .extend({ metadata: z.record(z.string(), z.unknown()).nullable() })
  .meta({ id: 'DocumentDetail' })

export const documentOperationSchema = z
  .object({
    id: z.uuid(),
    kind: z.enum(['delete', 'retry', 'metadata']),
    state: z
      .enum(['running', 'finished', 'stopped', 'failed'])
      .describe(
        '`stopped`: by a request. `failed`: it was tried many times without success. What was done stays done in each state.',
      ),
    total: z.int().describe('Documents of the selection when it was requested.'),
    done: z.int().describe('Documents handled so far. It may end below `total` if documents were removed or changed.'),
    skipped: z
      .int()
      .describe(
        'Of `done`: documents that stayed as they are, because their metadata would have more than 16384 bytes.',
      ),
    requestedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime().nullable(),
  })
  .describe('Work on many documents, done in the background.')
  .meta({ id: 'DocumentOperation' })

/** The text of a search field as it is compared: without case, composed. PostgreSQL stores no U+0000. */
const search = z
  .string()
  .max(maximumSearchLength)
  .refine((text) => !text.includes('\u0000') && text.isWellFormed(), 'must be valid Unicode without U+0000')
  .transform((text) => text.normalize('NFC').trim())

const filterShape = {
  search: search.optional().describe('Part of the name, in any case.'),
  status: status.optional().describe('Only documents with this status.'),
  failure: failure.optional().describe('Only failed documents with this code.'),
  format: format.optional().describe('Only documents of this format.'),
}

const metadataText = z.string().transform((text, context): MetadataFilter => {
  const read = readFilterText(text)
  if ('filter' in read) return read.filter
  context.addIssue({ code: 'custom', path: read.problem.path, message: read.problem.message })
  return z.NEVER
})

export const documentSorts = ['newest', 'oldest', 'name', 'nameDescending', 'largest', 'smallest'] as const

export const documentProgressQuerySchema = z.object({
  ...filterShape,
  metadata: metadataText.optional().describe('A MetadataFilter as JSON.'),
  sort: z.enum(documentSorts).default('newest'),
  after: z
    .string()
    .max(4096)
    .optional()
    .describe('`next` of an earlier page of the same order: continues after its last document.'),
  offset: queryInteger(0, Number.MAX_SAFE_INTEGER).default(0).describe('Documents to skip, from the start or `after`.'),
  limit: queryInteger(1, 100).default(20),
})

export const documentProgressPageSchema = z
  .object({
    total: z.int().describe('Documents that match.'),
    limit: z.int(),
    offset: z.int(),
    next: z.string().nullable().describe('For `after`; null if this page is empty.'),
    counts: documentCountsSchema,
    failures: z.record(z.string(), z.int()).describe('Failed documents of the Space by code.'),
    formats: z.record(z.string(), z.int()).describe('Documents of the Space by format.'),
    operations: z
      .array(documentOperationSchema)
      .describe('Unfinished work on many documents, oldest first, at most 20.'),
    uploads: z.object({
      maximumBytes: z.int(),
      supportedExtensions: z.array(z.string()),
      supportedMimeTypes: z.array(z.string()),
      recognisesText: z
        .boolean()
        .describe('Scanned pages are read: text recognition is installed, and on in this Space.'),
    }),
    items: z.array(documentProgressSchema),
  })
  .meta({ id: 'DocumentProgressPage' })

const ids = (minimum: number) => z.array(z.uuid()).min(minimum).max(maximumSelectedDocuments)

const byIds = z.strictObject({ ids: ids(1) })
const byFilter = z.strictObject({
  filter: z
    .strictObject({ ...filterShape, metadata: metadataFilterSchema.optional() })
    .describe('An empty filter selects every document of the Space.'),
  except: ids(0).optional().describe('Documents of the filter to leave out.'),
})
const selectionRule = '`ids`, or all documents that match `filter` when the request arrives.'

export const documentSelectionSchema = z.union([byIds, byFilter]).describe(selectionRule)

const metadataChangeShape = {
  set: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(`Top-level keys with their new values, at most ${maximumMetadataBytes} bytes of JSON.`),
  remove: z
    .array(z.string().max(maximumMetadataBytes))
    .max(maximumRemovedKeys)
    .default([])
    .describe('Top-level keys to remove. Other keys stay as they are.'),
}

export const documentMetadataChangeSchema = z
  .union([byIds.extend(metadataChangeShape), byFilter.extend(metadataChangeShape)])
  .describe(selectionRule)

export const operationParamsSchema = z.object({ id: z.string(), operationId: z.string() })

/** The data of each event, by event name. */
export const documentEventSchema = z
  .union([
    z
      .object({ counts: documentCountsSchema, items: z.array(documentProgressSchema) })
      .describe('`snapshot`: the newest 100. Sent first, and again if changes may have been missed.'),
    documentProgressSchema.describe('`document`: a new or changed document.'),
    z.object({ id: z.uuid() }).describe('`removed`: the id of a removed document.'),
    documentCountsSchema.describe('`counts`: documents by status.'),
    z
      .object({ items: z.array(documentOperationSchema) })
      .describe('`operations`: the unfinished work on many documents, after a change.'),
  ])
  .meta({ id: 'SpaceDocumentEvent' })

export const chunkQuerySchema = z.object({ ...paging(100, { maximumLimit: 500 }) })

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

export const chunkPageSchema = pageOf(chunkSchema).meta({ id: 'ChunkPage' })

export type DocumentDetailBody = z.output<typeof documentDetailSchema>
export type DocumentFilter = Pick<z.output<typeof documentProgressQuerySchema>, keyof typeof filterShape | 'metadata'>
export type DocumentOperationBody = z.output<typeof documentOperationSchema>
export type DocumentProgressPageBody = z.output<typeof documentProgressPageSchema>
export type DocumentSelection = z.output<typeof documentSelectionSchema>
export type DocumentSort = (typeof documentSorts)[number]
export type DocumentProgressBody = z.infer<typeof documentProgressSchema>
export type ChunkBody = z.infer<typeof chunkSchema>
export type ChunkPageBody = z.infer<typeof chunkPageSchema>
