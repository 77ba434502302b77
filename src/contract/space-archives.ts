import { z } from 'zod'
import { documentFormats, documentWarningCodes, maximumMetadataBytes } from './documents.ts'
import { createGoldenQuestionSchema, goldenLimits } from './golden-questions.ts'
import { spaceSettingsSchema } from './operator.ts'
import { archivedToolServerSchema, spaceToolLimits } from './space-tools.ts'

/**
 * The archive of one Space. docs/use/space-archives.md describes it for people. Nothing in it is trusted: an import makes every id, and compares
 * every part with these schemas and limits.
 */

export const spaceHeaderName = 'portico-space.json'
export const spaceManifestName = 'portico-space-manifest.json'

export const spaceArchiveLimits = {
  /** The number in the path of a document has six digits. */
  documents: 100_000,
  partsOfDocument: 10_000,
  chunksOfPart: 64,
  /** Of a part with chunks or golden questions, and of one of its lines. */
  partBytes: 4 * 1024 * 1024,
  lineBytes: 512 * 1024,
  /** UTF-8, of a chunk: of its text, its headings and its table header. A document with larger ones is exported without chunks. */
  chunkTextBytes: 48 * 1024,
  headings: 64,
  pageStarts: 2_000,
  dimensions: 4_000,
  questionsOfPart: 25,
  textBytes: 512 * 1024,
} as const

const whole = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

export const spaceHeaderSchema = z.strictObject({
  format: z.literal(1).describe('Version of the layout.'),
  portico: z.string().max(100).describe('Version of Portico that made it.'),
  exportedAt: z.iso.datetime(),
  space: z.strictObject({
    name: z.string(),
    instructions: z.string(),
    model: z.string(),
    settings: z.object(spaceSettingsSchema.shape),
  }),
  tools: z
    .array(archivedToolServerSchema)
    .max(spaceToolLimits.serversPerSpace)
    .optional()
    .describe('Tool servers, without credentials.'),
  embedder: z
    .strictObject({
      id: z.string().min(1).max(1_000).describe('Identity of the vectors: model, dimensions and preparation of texts.'),
      dimensions: z.int().min(1).max(spaceArchiveLimits.dimensions),
      values: z.enum(['float32', 'float16']).describe('How a vector is stored: little-endian.'),
    })
    .nullable()
    .describe('null: the archive has no vectors.'),
})
export type SpaceHeader = z.output<typeof spaceHeaderSchema>

export const archivedDocumentSchema = z.strictObject({
  name: z.string().max(1_000),
  format: z.enum(documentFormats),
  charset: z
    .string()
    .regex(/^[\w.:+-]{1,40}$/)
    .nullable()
    .describe('That the upload of a text declared.'),
  apiVersion: z
    .literal([1, 2])
    .default(1)
    .describe('Version of the document interface that received the file. Archives of earlier versions lack it.'),
  sizeBytes: z.int().min(0),
  sha256,
  metadata: z
    .string()
    .max(maximumMetadataBytes * 6)
    .nullable()
    .describe('The text of a JSON object.'),
  warnings: z
    .array(
      z.strictObject({
        code: z.enum(documentWarningCodes),
        message: z.string().max(4_000),
        pages: z.array(whole).max(100).optional(),
      }),
    )
    .max(200),
  pageCount: whole.nullable(),
  hasChunks: z
    .boolean()
    .describe('false: it was not ready, or its index cannot be moved. An import reads the file again.'),
})
export type ArchivedDocument = z.output<typeof archivedDocumentSchema>

export const archivedChunkSchema = z.strictObject({
  index: whole,
  text: z.string().min(1),
  headingPath: z.array(z.string()).max(spaceArchiveLimits.headings),
  tableHeader: z.string().nullable(),
  tokens: whole,
  pageFrom: whole.nullable(),
  pageTo: whole.nullable(),
  pageStarts: z.array(whole).max(spaceArchiveLimits.pageStarts),
  characterFrom: whole,
  characterTo: whole,
  rowFrom: whole.nullable(),
  rowTo: whole.nullable(),
})

export const archivedEndSchema = z.union([
  z.strictObject({ chunks: whole }),
  z.strictObject({ removed: z.literal(true).describe('It was deleted during the export: an import leaves it out.') }),
])

const archivedDocumentNumber = z.int().min(1).max(spaceArchiveLimits.documents)

export const archivedQuestionSchema = z.strictObject({
  ...createGoldenQuestionSchema.shape,
  expectedDocuments: z
    .array(
      z.strictObject({
        document: archivedDocumentNumber
          .nullable()
          .describe('Number of a document of the archive; null: it is not in it.'),
        name: z.string().min(1).max(255),
      }),
    )
    .max(goldenLimits.expectedDocuments),
})
export type ArchivedQuestion = z.output<typeof archivedQuestionSchema>

export const spaceManifestSchema = z.strictObject({
  format: z.literal(1),
  documents: z.int().min(0),
  chunks: z.int().min(0),
  goldenQuestions: z.int().min(0),
  finishedAt: z.iso.datetime(),
  files: z.int().min(0),
  bytes: z.int().min(0),
  sha256: sha256.describe('SHA-256 of the text of the header and of those of all entries `sums/…`, in their order.'),
})
export type SpaceManifest = z.output<typeof spaceManifestSchema>

export const importSpaceQuerySchema = z.object({
  name: z.string().min(1).max(200).optional().describe('Name of the new Space. Default: the one in the archive.'),
  model: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe('Model of the new Space. Default: the one in the archive, which the organisation must be able to call.'),
})

export const importedSpaceSchema = z
  .object({
    spaceId: z.uuid(),
    name: z.string(),
    documents: z.int().describe('All documents of the new Space.'),
    processing: z.int().describe('Those that are read and embedded again in the background.'),
    chunks: z.int().describe('Chunks that were imported with their vectors.'),
    goldenQuestions: z.int(),
    embedding: z
      .enum(['kept', 'again', 'none'])
      .describe(
        '`kept`: the vectors of the archive are used. `again`: this installation has another embedder, so every document is embedded again. `none`: the archive has no vectors.',
      ),
  })
  .meta({ id: 'ImportedSpace' })
export type ImportedSpaceBody = z.output<typeof importedSpaceSchema>
