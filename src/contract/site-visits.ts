import { z } from 'zod'
import { answerRatingSchema } from './answer-ratings.ts'
import { chatAnswerSchema, chatEventSchema, chatRequestSchema, referenceSchema } from './chat.ts'
import { textQuerySchema } from './document-viewer.ts'

/** What browsers of visitors exchange with the website of a published Space, below `/s/NAME`. No API key is in a browser. */

export const visitLimits = {
  /** Most characters of a visitor's question. */
  question: 4_000,
  /** Most messages of a conversation. */
  messages: 60,
  /** Most bytes of a request to the chat, and of the other requests. */
  bodyBytes: 262_144,
  sessionBytes: 16_384,
} as const

/** `name`: of the site, or its public id. */
export const siteParamsSchema = z.object({ name: z.string().max(60) })

export const siteConfigSchema = z
  .object({
    name: z.string(),
    publicId: z.string(),
    state: z.enum(['open', 'paused']).describe('`paused`: sessions are refused; a friendly page is shown.'),
    access: z.enum(['everyone', 'members', 'password']),
    title: z.string(),
    colour: z.string().nullable(),
    logo: z.string().nullable().describe('A data URL.'),
    proofOfWork: z.boolean().describe('A session needs the solution of `GET /s/NAME/challenge` at the moment.'),
    embeddable: z.boolean().describe('Whether any website may embed the chat.'),
  })
  .meta({ id: 'SiteConfig' })

/** https://altcha.org, version 2 of the format; `altcha-lib` solves it in the browser. */
export const proofChallengeSchema = z
  .object({
    parameters: z
      .object({
        algorithm: z.literal('PBKDF2/SHA-256'),
        nonce: z.string().max(64),
        salt: z.string().max(64),
        cost: z.int().min(1).max(100_000),
        keyLength: z.int().min(1).max(64),
        keyPrefix: z.string().max(8),
        expiresAt: z.int().describe('Seconds since the epoch.'),
        data: z.object({ site: z.string().max(64) }),
      })
      .strict(),
    signature: z.string().max(128),
  })
  .meta({ id: 'ProofChallenge' })

const proofSchema = z
  .strictObject({
    challenge: proofChallengeSchema,
    solution: z.object({ counter: z.int().min(0).max(0xffff_ffff), derivedKey: z.string().max(128) }),
  })
  .meta({ id: 'Proof' })

export const openVisitSchema = z
  .strictObject({
    visitorId: z
      .uuidv4()
      .describe('Random, made and kept by the browser; not personal. Conversations are stored under it.'),
    embeddedBy: z
      .string()
      .max(300)
      .nullable()
      .default(null)
      .describe('The origin of the page that embeds the chat; null on the share page.'),
    session: z
      .string()
      .max(1_000)
      .optional()
      .describe('The session to renew: needs neither password nor puzzle until `renewableUntil`.'),
    password: z.string().max(200).optional(),
    proof: proofSchema.optional(),
  })
  .meta({ id: 'OpenVisit' })

export const visitSchema = z
  .object({
    session: z.string().describe('For `authorization: Bearer`; opaque.'),
    expiresAt: z.iso.datetime().describe('15 minutes from now. Renew it some minutes before.'),
    expiresInSeconds: z.int().describe('The same for browsers whose clock is wrong.'),
    renewableUntil: z.iso.datetime().describe('12 hours after the visit began; then a new one begins.'),
    greeting: z.string(),
    suggestions: z.array(z.string()),
    citations: z.enum(['title', 'quote', 'page']),
    keepsConversations: z
      .boolean()
      .describe('Whether the questions and answers are stored, for a note to the visitor.'),
    conversationDays: z.int(),
  })
  .meta({ id: 'Visit' })

export const visitChatSchema = chatRequestSchema.meta({ id: 'VisitChatRequest' })

const visitReferenceSchema = referenceSchema
  .extend({
    ticket: z
      .string()
      .optional()
      .describe('With `citations: page`: opens this document for this visitor, for 30 days. Keep it with the history.'),
  })
  .meta({ id: 'VisitReference' })

export const visitAnswerSchema = chatAnswerSchema
  .extend({ references: z.array(visitReferenceSchema) })
  .meta({ id: 'VisitAnswer' })

/** By event name: as for the published chat with inline sources, passage references and finish reasons. */
export const visitEventSchema = z
  .union([
    ...chatEventSchema.options,
    z.object({ references: z.array(visitReferenceSchema) }).describe('`references`: the cited sources.'),
    z
      .object({ error: z.string(), code: z.string() })
      .describe('`error`: the answer failed; the stream ends without `done`.'),
  ])
  .meta({ id: 'VisitEvent' })

export const visitRatingSchema = z
  .strictObject({
    requestId: z.string().max(100).describe('The header `x-request-id` of the answer.'),
    ...answerRatingSchema.shape,
  })
  .meta({ id: 'VisitRating' })

export const visitDocumentParamsSchema = siteParamsSchema.extend({ documentId: z.string() })
const ticket = z.string().max(1_000).describe('The `ticket` of the reference.')
export const visitDocumentQuerySchema = z.object({ ticket })
export const visitTextQuerySchema = textQuerySchema.and(visitDocumentQuerySchema)

export const visitDocumentSchema = z
  .object({
    id: z.uuid(),
    title: z.string(),
    mimeType: z.string(),
    sizeBytes: z.int(),
    pageCount: z.int().nullable().describe('null for formats without pages.'),
  })
  .meta({ id: 'VisitDocument' })

export type OpenVisit = z.output<typeof openVisitSchema>
export type SiteConfigBody = z.output<typeof siteConfigSchema>
export type VisitBody = z.output<typeof visitSchema>
export type ProofChallenge = z.output<typeof proofChallengeSchema>
export type Proof = z.output<typeof proofSchema>
export type VisitReference = z.output<typeof visitReferenceSchema>
