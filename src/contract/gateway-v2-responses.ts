import { z } from 'zod'
import { maximumMetadataPairs, maximumModelIdLength, maximumUserLength, optional } from './gateway.ts'

/** Requests and answers of the Responses API under /v2/gateway. */

const includes = z.enum([
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
])

const textFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string().min(1).max(64),
    description: optional(z.string()),
    schema: z.record(z.string(), z.unknown()),
    strict: optional(z.boolean()),
  }),
])

const summary = z.enum(['auto', 'concise', 'detailed'])

/** The fields other than `input`, `tools` and `tool_choice`, which src/gateway/apis/responses reads with errors that name the item. */
export const responsesSettingsSchema = z.object({
  model: z
    .string()
    .min(1)
    .max(maximumModelIdLength)
    .describe('A model id of GET /v2/gateway/models. `eu/` selects EU-hosted deployments only.'),
  instructions: optional(z.string()).describe('The system message.'),
  parallel_tool_calls: optional(z.boolean()),
  text: optional(z.object({ format: optional(textFormat), verbosity: optional(z.enum(['low', 'medium', 'high'])) })),
  reasoning: optional(
    z.object({
      effort: optional(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
      summary: optional(summary),
      generate_summary: optional(summary).describe('Former name of `summary`.'),
    }),
  ),
  max_output_tokens: optional(z.int().min(1)),
  max_tool_calls: optional(z.int().min(1)).describe(
    'Limit for all tools that the provider runs together, at most 100. Default 10.',
  ),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  presence_penalty: optional(z.number().min(-2).max(2)),
  frequency_penalty: optional(z.number().min(-2).max(2)),
  top_logprobs: optional(z.int().min(0).max(20)),
  include: optional(z.array(includes).max(includes.options.length * 2)),
  metadata: optional(
    z
      .record(z.string().max(64, 'must have names of at most 64 characters'), z.string().max(512))
      .refine(
        (pairs) => Object.keys(pairs).length <= maximumMetadataPairs,
        `must have at most ${maximumMetadataPairs} pairs`,
      ),
  ),
  user: optional(z.string().max(maximumUserLength)),
  safety_identifier: optional(z.string().max(maximumUserLength)),
  prompt_cache_key: optional(z.string().max(maximumUserLength)),
  prompt_cache_retention: optional(z.string().max(maximumUserLength)),
  prompt_cache_options: optional(z.record(z.string(), z.unknown())),
  service_tier: optional(z.enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'])),
  truncation: optional(z.enum(['auto', 'disabled'])),
  store: optional(z.literal(false)).describe('Portico stores no responses.'),
  background: optional(z.literal(false)),
  stream: optional(z.boolean()),
  stream_options: optional(z.object({ include_obfuscation: optional(z.boolean()) })),
})

export type ResponsesSettings = z.output<typeof responsesSettingsSchema>

/** Its members depend on `type`. */
const typed = z.object({ type: z.string().optional() }).loose()

export const responsesRequestSchema = responsesSettingsSchema
  .extend({
    input: z
      .union([z.string(), z.array(typed)])
      .describe('A text, or items: messages, reasoning, calls of function and custom tools, and their outputs.'),
    tools: z
      .array(typed)
      .optional()
      .describe(
        'Tools of the types `function` and `custom`; and `web_search`, `code_interpreter` and `mcp`, which the provider runs, for models that have them.',
      ),
    tool_choice: z
      .union([z.enum(['auto', 'none', 'required']), typed])
      .optional()
      .describe('Or one tool by type and name, or `allowed_tools` with a mode and tools.'),
  })
  .meta({ id: 'ResponsesRequest' })

export const responsesTokenCountRequestSchema = responsesRequestSchema
  .partial({ model: true })
  .meta({ id: 'ResponsesTokenCountRequest' })

const itemStatus = z.enum(['in_progress', 'completed', 'incomplete'])
const logprob = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) })

const outputItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string(),
    status: itemStatus,
    role: z.literal('assistant'),
    content: z.array(
      z.discriminatedUnion('type', [
        z.object({
          type: z.literal('output_text'),
          text: z.string(),
          annotations: z.array(
            z.object({
              type: z.literal('url_citation'),
              url: z.string(),
              title: z.string(),
              start_index: z.int(),
              end_index: z.int(),
            }),
          ),
          logprobs: z.array(logprob.extend({ top_logprobs: z.array(logprob) })),
        }),
        z.object({ type: z.literal('refusal'), refusal: z.string() }),
      ]),
    ),
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
    encrypted_content: z.string().optional().describe('Send the item back with the results of the tool calls.'),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status: itemStatus,
  }),
  z.object({
    type: z.literal('custom_tool_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    input: z.string(),
    status: itemStatus,
  }),
])

export const responseSchema = z
  .object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: z.int().nullable(),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
    model: z.string().describe('The canonical model id; may differ from the requested one.'),
    output: z.array(outputItem),
    usage: z
      .object({
        input_tokens: z.int(),
        input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
        output_tokens: z.int(),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
        total_tokens: z.int(),
      })
      .nullable()
      .describe('Null in the events before the end.'),
  })
  .loose()
  .meta({ id: 'Response', description: 'The other fields repeat the request.' })

/** One data line of a stream; `data: [DONE]` follows the last. */
export const responseEventSchema = z
  .object({ type: z.string(), sequence_number: z.int() })
  .loose()
  .meta({ id: 'ResponseEvent', description: 'The fields depend on `type`, as in the Responses API.' })

export const responsesTokenCountSchema = z
  .object({ object: z.literal('response.input_tokens'), input_tokens: z.int() })
  .meta({ id: 'ResponsesTokenCount' })
