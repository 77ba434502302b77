import { z } from 'zod'
import { maximumUserCharacters } from './conversations.ts'
import { cursorPaging } from './query-integer.ts'

/** Erasure of everything about one visitor or one document, with a certificate. */

export const erasureKinds = ['user', 'document'] as const
export type ErasureKind = (typeof erasureKinds)[number]

/** What a certificate counts. */
export const erasedKinds = [
  'conversationTurns',
  'conversations',
  'unansweredQuestions',
  'usageTags',
  'documents',
  'files',
  'chunks',
  'searchTerms',
  'vectors',
  'citationCounts',
  'goldenAnswers',
] as const
export type ErasedKind = (typeof erasedKinds)[number]

export const requestErasureSchema = z
  .strictObject({
    user: z
      .string()
      .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII characters')
      .max(maximumUserCharacters)
      .optional()
      .describe('What clients sent in the header `service-user`.'),
    documentId: z.uuid().optional().describe('Also of a document that is deleted already.'),
  })
  .refine((given) => (given.user === undefined) !== (given.documentId === undefined), {
    error: 'must have exactly one of `user` and `documentId`',
  })

const count = z.int().nonnegative()
const removed = z.object({
  count,
  from: z.iso.datetime().nullable().describe('Time of the oldest one; null where it has none.'),
  to: z.iso.datetime().nullable(),
})

export const erasureCertificateSchema = z
  .object({
    version: z.literal(1),
    id: z.uuid(),
    organisationId: z.uuid(),
    kind: z.enum(erasureKinds),
    subjectDigest: z
      .string()
      .describe('Of the erased value, keyed with the secret key of the installation. Equal for the same value.'),
    requestedBy: z.string(),
    requestedAt: z.iso.datetime(),
    completedAt: z.iso.datetime(),
    removed: z.partialRecord(z.enum(erasedKinds), removed),
    left: z.partialRecord(z.enum(erasedKinds), count).describe('What a last look found after the removal: always 0.'),
    notErased: z.array(z.object({ data: z.string(), reason: z.string() })),
    logEntryIds: z.array(z.uuid()).describe('Entries of the admin log.'),
    signature: z.string().describe('HMAC-SHA-256 of all other fields.'),
  })
  .meta({ id: 'ErasureCertificate' })

export const erasureSchema = z
  .object({
    id: z.uuid(),
    organisationId: z.uuid(),
    kind: z.enum(erasureKinds),
    subjectDigest: z.string(),
    state: z.enum(['running', 'completed']),
    requestedBy: z.string(),
    requestedAt: z.iso.datetime(),
    completedAt: z.iso.datetime().nullable(),
    removed: z.partialRecord(z.enum(erasedKinds), removed).describe('So far.'),
    failure: z.string().nullable().describe('Why the last attempt failed; it is repeated.'),
    certificate: erasureCertificateSchema.nullable().describe('null until it is completed.'),
  })
  .meta({ id: 'Erasure' })

export const erasuresQuerySchema = z.object({ ...cursorPaging(20) })
export const erasurePageSchema = z.object({
  items: z.array(erasureSchema).describe('Newest first.'),
  nextCursor: z.string().nullable().describe('The `cursor` of the next page; null at the end.'),
})

export const erasureParamsSchema = z.object({ id: z.string(), erasureId: z.string() })

export const verifyErasureSchema = z.strictObject({
  certificate: z.record(z.string(), z.unknown()).describe('As `GET …/erasures/{erasureId}` returned it.'),
})
export const verifiedErasureSchema = z.object({
  genuine: z.boolean().describe('This installation signed it, and no field has changed.'),
  logEntries: z
    .array(z.object({ id: z.string(), exists: z.boolean() }))
    .describe('Its entries of the admin log; empty unless it is genuine.'),
})

export type Erasure = z.output<typeof erasureSchema>
export type ErasureCertificate = z.output<typeof erasureCertificateSchema>
export type ErasurePage = z.output<typeof erasurePageSchema>
export type RemovedCounts = Erasure['removed']
export type LeftCounts = ErasureCertificate['left']
