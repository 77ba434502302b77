import { z } from 'zod'
import {
  completionChunkSchema,
  completionRequestSchema,
  completionSchema,
  maximumMessages,
  maximumPartsPerMessage,
  maximumUserLength,
  optional,
} from './gateway.ts'

/** Answers to one prompt, as in the compatible API. */
export const maximumChoices = 128
export const maximumTopLogprobs = 20
const maximumBiases = 1_024

const { shape: version1 } = completionRequestSchema

/**
 * The fields of a request whose values are single: numbers, words, short lists. src/gateway/apis/chat-completions reads messages, tools and the
 * response format itself, because long texts in them stay bytes.
 */
export const chatSettingsSchema = z.object({
  model: version1.model.describe('A model id of GET /v2/gateway/models. `eu/` selects EU-hosted deployments only.'),
  temperature: version1.temperature,
  max_completion_tokens: version1.max_completion_tokens,
  max_tokens: version1.max_tokens,
  stream: version1.stream,
  stream_options: version1.stream_options,
  top_p: version1.top_p,
  top_k: optional(z.int().min(1)),
  presence_penalty: version1.presence_penalty,
  frequency_penalty: version1.frequency_penalty,
  seed: version1.seed,
  stop: version1.stop,
  n: optional(z.int().min(1).max(maximumChoices)),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(z.int().min(0).max(maximumTopLogprobs)),
  logit_bias: optional(
    z
      .record(z.string(), z.number().min(-100).max(100))
      .refine((pairs) => Object.keys(pairs).length <= maximumBiases, `must have at most ${maximumBiases} pairs`),
  ),
  user: version1.user,
  safety_identifier: optional(z.string().max(maximumUserLength)).describe('Used as `user` where that is absent.'),
  prompt_cache_key: optional(z.string().max(maximumUserLength)),
  metadata: version1.metadata,
  reasoning_effort: version1.reasoning_effort,
  reasoning: optional(
    z.object({
      effort: optional(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
      max_tokens: optional(z.int().min(0)),
      enabled: optional(z.boolean()),
      exclude: optional(z.boolean()).describe('True: the answer has no `reasoning_content`.'),
      summary: optional(z.string().max(32)),
    }),
  ).describe('Reasoning in the form of OpenRouter.'),
  verbosity: optional(z.enum(['low', 'medium', 'high'])),
  parallel_tool_calls: optional(z.boolean()),
  service_tier: version1.service_tier,
  store: version1.store,
})

const functionCall = z.object({ name: z.string(), arguments: z.string() })
const toolCall = z.object({ id: z.string(), type: z.literal('function'), function: functionCall })
const cacheControl = z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })

const part = z.union([
  z.object({ type: z.literal('text'), text: z.string(), cache_control: cacheControl.optional() }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.object({ url: z.string(), detail: z.enum(['auto', 'low', 'high']).optional() }),
  }),
  z.object({
    type: z.literal('file'),
    file: z.object({ file_data: z.string().describe('A data URL.'), filename: z.string().optional() }),
  }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: z.string(), format: z.enum(['wav', 'mp3']) }),
  }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
])

const message = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.union([z.string(), z.array(part).max(maximumPartsPerMessage)]).nullish(),
  name: z.string().optional(),
  tool_calls: z.array(toolCall).optional().describe('Of assistant turns.'),
  tool_call_id: z.string().optional().describe('Of tool messages: the call that it answers.'),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish().describe('Of assistant turns: the reasoning of an earlier answer.'),
  reasoning_details: z.array(z.record(z.string(), z.unknown())).nullish().describe('As the earlier answer had it.'),
  cache_control: cacheControl.optional(),
})

const functionDefinition = z.object({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of the arguments.'),
  strict: z.boolean().nullish(),
})

const namedTool = z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) })

/** For the API page. */
export const chatRequestSchema = chatSettingsSchema
  .extend({
    messages: z.array(message).min(1).max(maximumMessages),
    tools: z.array(z.object({ type: z.literal('function'), function: functionDefinition })).optional(),
    tool_choice: z
      .union([
        z.enum(['none', 'auto', 'required']),
        namedTool,
        z.object({
          type: z.literal('allowed_tools'),
          allowed_tools: z.object({ mode: z.enum(['auto', 'required']), tools: z.array(namedTool) }),
        }),
      ])
      .optional(),
    response_format: z
      .union([
        z.object({ type: z.enum(['text', 'json_object']) }),
        z.object({
          type: z.literal('json_schema'),
          json_schema: z.object({
            name: z.string(),
            description: z.string().optional(),
            schema: z.record(z.string(), z.unknown()),
            strict: z.boolean().nullish(),
          }),
        }),
      ])
      .optional(),
  })
  .meta({ id: 'ChatCompletionRequestV2' })

const tokenLogprob = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()).nullable() })
const logprobs = z.object({
  content: z.array(tokenLogprob.extend({ top_logprobs: z.array(tokenLogprob) })).nullable(),
  refusal: z.null(),
})

const choice = completionSchema.shape.choices.element
const finishReason = z.enum(['stop', 'length', 'content_filter', 'tool_calls', 'function_call'])
const reasoningFields = {
  reasoning_content: z.string().optional(),
  reasoning_details: z
    .array(z.record(z.string(), z.unknown()))
    .optional()
    .describe('Send it back unchanged with the tool calls of the answer.'),
}

export const chatCompletionSchema = completionSchema
  .extend({
    choices: z.array(
      choice.extend({
        message: choice.shape.message.extend({
          tool_calls: z.array(toolCall).optional(),
          function_call: functionCall.optional(),
          ...reasoningFields,
        }),
        logprobs: logprobs.nullable(),
        finish_reason: finishReason,
      }),
    ),
  })
  .meta({ id: 'ChatCompletionV2' })

const chunkChoice = completionChunkSchema.shape.choices.element
const toolCallDelta = z.object({
  index: z.int(),
  id: z.string().optional(),
  type: z.literal('function').optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
})

/** One data line of a stream; `data: [DONE]` follows the last. */
export const chatChunkSchema = completionChunkSchema
  .extend({
    choices: z.array(
      chunkChoice.extend({
        delta: chunkChoice.shape.delta.extend({
          tool_calls: z.array(toolCallDelta).optional(),
          function_call: functionCall.partial().optional(),
          ...reasoningFields,
        }),
        logprobs: logprobs.nullable(),
        finish_reason: finishReason.nullable(),
      }),
    ),
  })
  .meta({ id: 'ChatCompletionChunkV2' })
