import { z } from 'zod'
import { maximumModelIdLength, maximumUserLength, optional } from './gateway.ts'

export const maximumEmbeddingInputs = 2_048
/** Tokens of one input. Models take up to 32 thousand. */
export const maximumTokensPerInput = 131_072
const maximumDimensions = 16_384
export const maximumRerankDocuments = 1_000

const model = z.string().min(1).max(maximumModelIdLength).describe('A model id of GET /v2/gateway/models.')
const tokens = z.array(z.int().min(0)).min(1).max(maximumTokensPerInput)

export const embeddingRequestSchema = z
  .object({
    model,
    input: z.union([
      z.string().min(1),
      z.array(z.string().min(1)).min(1).max(maximumEmbeddingInputs),
      tokens,
      z.array(tokens).min(1).max(maximumEmbeddingInputs),
    ]),
    encoding_format: optional(z.enum(['float', 'base64'])),
    dimensions: optional(z.int().min(1).max(maximumDimensions)),
    user: optional(z.string().max(maximumUserLength)),
    input_type: optional(z.enum(['document', 'query'])).describe('For models that embed questions differently.'),
  })
  .meta({ id: 'EmbeddingRequest' })

const usage = z.object({ prompt_tokens: z.int(), total_tokens: z.int() })

export const embeddingListSchema = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z
          .union([z.array(z.number()), z.string()])
          .describe('With `encoding_format: base64`: 32-bit floats, little-endian.'),
      }),
    ),
    model: z.string(),
    usage,
  })
  .meta({ id: 'EmbeddingList' })

export const rerankRequestSchema = z
  .object({
    model,
    query: z.string().min(1),
    documents: z
      .array(z.union([z.string(), z.object({ text: z.string() })]))
      .min(1)
      .max(maximumRerankDocuments),
    top_n: optional(z.int().min(1)),
    return_documents: optional(z.boolean()),
    user: optional(z.string().max(maximumUserLength)),
  })
  .meta({ id: 'RerankRequest' })

export const rerankSchema = z
  .object({
    id: z.string(),
    model: z.string(),
    results: z.array(
      z.object({
        index: z.int().describe('Place of the document in the request.'),
        relevance_score: z.number().describe('Comparable within one answer only.'),
        document: z.object({ text: z.string() }).optional(),
      }),
    ),
    usage,
  })
  .meta({ id: 'RerankResult' })
