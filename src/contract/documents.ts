import { z } from 'zod'
import { pageOf, queryInteger } from './query-integer.ts'

/** Document management: upload, list, read, update and delete. */

const defaultPageSize = 20
const maximumPageSize = 100
export const maximumNameLength = 255
export const maximumMetadataBytes = 16 * 1024

/** A version of the document interface, which differ in the types that an upload may have. */
export type DocumentsVersion = 1 | 2

/** The types of files, in the order in which they are listed. Version 1 is closed; a new type belongs to version 2. */
export const documentTypes = [
  { format: 'pdf', extension: '.pdf', mimeType: 'application/pdf', since: 1 },
  {
    format: 'docx',
    extension: '.docx',
    mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    since: 1,
  },
  { format: 'txt', extension: '.txt', mimeType: 'text/plain', since: 1 },
  { format: 'csv', extension: '.csv', mimeType: 'text/csv', since: 1 },
  { format: 'md', extension: '.md', mimeType: 'text/markdown', since: 1 },
  { format: 'html', extension: '.html', mimeType: 'text/html', since: 2 },
  { format: 'html', extension: '.htm', mimeType: 'text/html', since: 2 },
  { format: 'tsv', extension: '.tsv', mimeType: 'text/tab-separated-values', since: 2 },
  {
    format: 'xlsx',
    extension: '.xlsx',
    mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    since: 2,
  },
  {
    format: 'pptx',
    extension: '.pptx',
    mimeType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    since: 2,
  },
  { format: 'eml', extension: '.eml', mimeType: 'message/rfc822', since: 2 },
  { format: 'image', extension: '.png', mimeType: 'image/png', since: 2 },
  { format: 'image', extension: '.jpg', mimeType: 'image/jpeg', since: 2 },
  { format: 'image', extension: '.jpeg', mimeType: 'image/jpeg', since: 2 },
  { format: 'image', extension: '.tif', mimeType: 'image/tiff', since: 2 },
  { format: 'image', extension: '.tiff', mimeType: 'image/tiff', since: 2 },
  { format: 'image', extension: '.webp', mimeType: 'image/webp', since: 2 },
] as const satisfies readonly { format: string; extension: string; mimeType: string; since: DocumentsVersion }[]

const supported = (version: DocumentsVersion) => {
  const types = documentTypes.filter(({ since }) => since <= version)
  return {
    supportedMimeTypes: [...new Set<string>(types.map(({ mimeType }) => mimeType))],
    supportedExtensions: types.map(({ extension }): string => extension),
  }
}

export const supportedFileTypes: Record<DocumentsVersion, z.infer<typeof supportedFileTypesSchema>> = {
  1: supported(1),
  2: supported(2),
}

export const supportedFileTypesSchema = z
  .object({ supportedMimeTypes: z.array(z.string()), supportedExtensions: z.array(z.string()) })
  .meta({ id: 'SupportedFileTypes' })

/** The formats of the supported types of every version. */
export const documentFormats = [...new Set(documentTypes.map(({ format }) => format))]

/** Codes of failed documents: a closed list. */
export const documentFailureCodes = [
  'encrypted_pdf',
  'encrypted_docx',
  'encrypted_file',
  'corrupt_file',
  'empty_file',
  'no_text',
  'unsupported_content',
  'too_large_when_unpacked',
  'too_many_pages',
  'too_complex',
  'processing_timeout',
  'out_of_memory',
  'embedding_failed',
  'insufficient_quota',
  'internal_error',
] as const

/** Codes of warnings about a document that was read in part, or that should be checked: a closed list. */
export const documentWarningCodes = [
  'pages_without_text',
  'recognised_text',
  'uncertain_recognition',
  'damaged_parts',
  'damaged_characters',
  'encoding_guessed',
  'embedded_content_skipped',
  'form_fields',
  'truncated',
  'hidden_text',
  'instruction_like_text',
  'replacement_failed',
  'source_gone',
  'further_warnings',
] as const

export const documentWarningSchema = z
  .object({
    code: z.enum(documentWarningCodes),
    message: z.string().describe('What is missing, uncertain or suspicious, and what to do.'),
    pages: z.array(z.int()).optional().describe('The pages concerned, 1-based, ascending, at most 100.'),
  })
  .meta({ id: 'DocumentWarning' })

const status = z.enum(['processing', 'ready', 'failed'])
const metadata = z.record(z.string(), z.unknown())

export const documentSummarySchema = z
  .object({ id: z.uuid(), spaceId: z.uuid(), name: z.string(), status })
  .meta({ id: 'DocumentSummary' })

export const documentSchema = documentSummarySchema
  .extend({
    metadata: metadata.nullable().describe('A top-level `url` becomes the link of citations.'),
    error: z
      .object({ code: z.string(), message: z.string() })
      .optional()
      .describe('Why processing failed and what to do; only with `failed`.'),
    warnings: z
      .array(documentWarningSchema)
      .optional()
      .describe(
        'Parts of the file that could not be read, guessed values, and text that may be meant to mislead a model. Absent if there are none.',
      ),
    sizeBytes: z.int(),
    mimeType: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Document' })

export const documentPageSchema = pageOf(documentSchema).meta({ id: 'DocumentPage' })

/** Of a document that waits for a worker. */
export const queuePlaceSchema = z
  .object({
    place: z.int().describe('1: next. Organisations take turns, so that uploads of others change it little.'),
    estimatedSeconds: z
      .int()
      .nullable()
      .describe('Until its processing begins, by the latest documents; null without any.'),
  })
  .describe('Only of a document that waits for a worker. Absent if thousands of others are before it.')
  .meta({ id: 'QueuePlace' })

/** Version 2 adds fields; version 1 keeps its own. */
export const documentV2Schema = documentSchema
  .extend({
    contentSha256: z
      .string()
      .describe('SHA-256 of the uploaded file, hexadecimal. During a replacement: of the new content.'),
    queue: queuePlaceSchema.optional(),
  })
  .meta({ id: 'DocumentV2' })

export const documentV2PageSchema = documentPageSchema
  .extend({ items: z.array(documentV2Schema) })
  .meta({ id: 'DocumentV2Page' })

/** A UUID of any version in its text form; the Space of an unknown one does not exist. */
const spaceId = z
  .string({ error: 'is required: send the UUID of a Space' })
  .regex(/^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'must be the UUID of a Space')
  .transform((id) => id.toLowerCase())
  .meta({ format: 'uuid' })
/** Text that OpenAPI describes as an integer. */
const count = (minimum: number, maximum: number, byDefault: number) =>
  queryInteger(minimum, maximum)
    .default(byDefault)
    .meta({ type: 'integer', pattern: undefined, minimum, maximum, description: `Default ${byDefault}.` })

export const listQuerySchema = z.object({
  spaceId,
  offset: count(0, Number.MAX_SAFE_INTEGER, 0),
  limit: count(1, maximumPageSize, defaultPageSize),
})

const onDuplicate = z.enum(['keep', 'skip', 'replace'], { error: 'must be keep, skip or replace' })

export const uploadQuerySchema = z.object({
  spaceId,
  onDuplicate: onDuplicate
    .default('keep')
    .describe(
      'If the Space already has a document of this name: `keep` adds another one, `skip` returns 200 with the existing one, `replace` replaces its content and keeps its id. Search uses the former content until the new content is ready.',
    ),
})

export const uploadV2QuerySchema = uploadQuerySchema.extend({
  replaces: z
    .uuid('must be the id of a document')
    .optional()
    .describe(
      'Replaces the content of this document of the Space, which keeps its id, whatever its name. Search uses the former content until the new content is ready. Documents of the same name stay. Not together with `onDuplicate`.',
    ),
})

/** For the API page only. The upload route reads the body as a stream and does not validate it with this schema. */
export const uploadBodySchema = z
  .object({
    file: z
      .string()
      .optional()
      .meta({ format: 'binary', description: 'The document. Its type is detected from name and content.' }),
    name: z.string().optional().describe('Display name instead of the file name.'),
    metadata: z.string().optional().describe('A JSON object as text, or an application/json part; at most 16 KiB.'),
  })
  .meta({ required: ['file'] })

/** For the API page only: with `application/json` it is read as newWebSourceSchema. */
export const uploadV2BodySchema = uploadBodySchema
  .extend({
    metadata: z
      .union([z.string(), metadata])
      .optional()
      .describe('A JSON object as text, or an application/json part; at most 16 KiB. In a JSON body: the object.'),
    url: z.string().optional().describe('JSON only: the address of a web page or file.'),
    sitemap: z.string().optional().describe('JSON only: the address of a sitemap, each of whose pages is a document.'),
    limit: z.int().optional().describe('JSON only: at most so many pages of the sitemap.'),
    refresh: z
      .looseObject({ every: z.enum(['day', 'week']) })
      .nullable()
      .optional()
      .describe('JSON only: how often the address is read again.'),
  })
  .meta({ required: [] })

/** The upload to a Space of the path. */
export const spaceUploadQuerySchema = uploadQuerySchema.omit({ spaceId: true })

/** An id that is not a UUID is a document that does not exist. */
export const documentParamsSchema = z.object({ id: z.string() })

export const updateDocumentSchema = z
  .object({
    name: z.string().min(1).max(1000).optional().describe('New display name.'),
    metadata: metadata.nullable().optional().describe('Replaces the metadata; null clears it.'),
  })
  .refine((body) => body.name !== undefined || body.metadata !== undefined, {
    error: 'must have `name`, `metadata` or both',
  })

export const healthSchema = z.object({ status: z.literal('ok'), timestamp: z.iso.datetime() }).meta({ id: 'Health' })

export type DocumentFailureCode = (typeof documentFailureCodes)[number]
export type DocumentFormat = (typeof documentFormats)[number]
export type OnDuplicate = z.infer<typeof onDuplicate>
export type DocumentWarning = z.infer<typeof documentWarningSchema>
export type DocumentBody = z.infer<typeof documentSchema>
export type QueuePlaceBody = z.infer<typeof queuePlaceSchema>
export type DocumentV2Body = z.infer<typeof documentV2Schema>
export type DocumentSummaryBody = z.infer<typeof documentSummarySchema>
