import { z } from 'zod'

/** Limits of the interface. */
export const maximumMessages = 1024
export const maximumCharactersPerMessage = 200_000

/** Limits that the interface does not define; the values of the compatible API. */
export const maximumModelIdLength = 256
export const maximumUserLength = 512
const maximumStopSequences = 4
export const maximumMetadataPairs = 16
/** Text parts of one message: bounds the memory of one request. */
export const maximumPartsPerMessage = 1024

const role = z.enum(['user', 'assistant', 'system', 'developer'])
const textPart = z.object({ type: z.literal('text'), text: z.string() })

const message = z.object({
  role,
  content: z
    .union([z.string(), z.array(textPart).min(1).max(maximumPartsPerMessage)])
    .describe(`Text, or text parts that are joined into one text. At most ${maximumCharactersPerMessage} characters.`),
})

/** As in the compatible API, null counts as absent. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

/** The fields that the gateway forwards. src/gateway/gateway/parse-completion.ts handles rejected and ignored fields. */
export const completionRequestSchema = z
  .object({
    model: z
      .string()
      .min(1)
      .max(maximumModelIdLength)
      .describe('A model id of GET /v1/gateway/models. `eu/` selects EU-hosted deployments only.'),
    messages: z.array(message).min(1).max(maximumMessages),
    temperature: optional(z.number().min(0).max(2)),
    max_completion_tokens: optional(z.int().min(1)),
    max_tokens: optional(z.int().min(1)).describe('Alternative name of max_completion_tokens.'),
    stream: optional(z.boolean()),
    stream_options: optional(
      z.object({ include_usage: optional(z.boolean()), include_obfuscation: optional(z.boolean()) }),
    ),
    top_p: optional(z.number().min(0).max(1)),
    presence_penalty: optional(z.number().min(-2).max(2)),
    frequency_penalty: optional(z.number().min(-2).max(2)),
    seed: optional(z.int()),
    stop: optional(z.union([z.string(), z.array(z.string()).max(maximumStopSequences)])),
    user: optional(z.string().max(maximumUserLength)),
    metadata: optional(
      z
        .record(z.string().max(64, 'must have names of at most 64 characters'), z.string().max(512))
        .refine(
          (pairs) => Object.keys(pairs).length <= maximumMetadataPairs,
          `must have at most ${maximumMetadataPairs} pairs`,
        ),
    ),
    reasoning_effort: optional(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
    service_tier: optional(z.enum(['auto', 'default'])),
    store: optional(z.boolean()),
    n: optional(z.literal(1)),
    logprobs: optional(z.literal(false)),
    response_format: optional(z.object({ type: z.literal('text') })),
  })
  .meta({ id: 'ChatCompletionRequest' })

export const usageSchema = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int() }),
    completion_tokens_details: z.object({ reasoning_tokens: z.int() }),
  })
  .meta({ id: 'CompletionUsage' })

const finishReason = z.enum(['stop', 'length', 'content_filter', 'tool_calls'])

const annotation = z.object({
  type: z.literal('url_citation'),
  url_citation: z.object({ start_index: z.int(), end_index: z.int(), url: z.string(), title: z.string() }),
})

export type AnnotationBody = z.infer<typeof annotation>

export const completionSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string().describe('The canonical model id; may differ from the requested one.'),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.string().nullable(),
          annotations: z.array(annotation).optional().describe('Sources that the provider cites.'),
        }),
        logprobs: z.null(),
        finish_reason: finishReason,
      }),
    ),
    usage: usageSchema,
  })
  .meta({ id: 'ChatCompletion' })

/** One data line of a stream; `data: [DONE]` follows the last. */
export const completionChunkSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int(),
    model: z.string(),
    choices: z
      .array(
        z.object({
          index: z.int(),
          delta: z.object({
            role: z.literal('assistant').optional(),
            content: z.string().optional(),
            refusal: z.string().nullable().optional(),
            annotations: z.array(annotation).optional(),
          }),
          logprobs: z.null(),
          finish_reason: finishReason.nullable(),
        }),
      )
      .describe('Empty in the usage chunk.'),
    usage: usageSchema
      .nullable()
      .optional()
      .describe('With `include_usage`: null in every chunk except the last, whose `choices` are empty.'),
  })
  .meta({ id: 'ChatCompletionChunk' })

export type CompletionUsageBody = z.infer<typeof usageSchema>

export const modelSchema = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })
  .meta({ id: 'Model' })

export const modelListSchema = z
  .object({ object: z.literal('list'), data: z.array(modelSchema) })
  .meta({ id: 'ModelList' })
