import { z } from 'zod'
import { maximumMessages, maximumModelIdLength, maximumPartsPerMessage, optional } from './gateway.ts'

/**
 * Requests and answers of `/v2/gateway/anthropic/v1`: the Messages API. The shapes and names are those of its published
 * TypeScript types (@anthropic-ai/sdk).
 */

export const maximumTools = 1_000
const maximumStopSequences = 256
const maximumToolNameLength = 128
const maximumCallIdLength = 256
const maximumUserIdLength = 512

const json = z.unknown()
const jsonObject = z.record(z.string(), z.unknown())

const cacheControl = optional(z.object({ type: z.literal('ephemeral'), ttl: optional(z.enum(['5m', '1h'])) }))

const textBlock = z.object({
  type: z.literal('text'),
  text: z.string(),
  citations: optional(z.array(json)),
  cache_control: cacheControl,
})

const base64Source = (mediaTypes: z.ZodType<string>) =>
  z.object({ type: z.literal('base64'), media_type: mediaTypes, data: z.string().min(1) })
const urlSource = z.object({ type: z.literal('url'), url: z.string().min(1).max(8_192) })
/** Refused with a sentence: files of the provider's account are not separate between organisations. */
const fileSource = z.object({ type: z.literal('file'), file_id: z.string() })

const imageBlock = z.object({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    base64Source(z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])),
    urlSource,
    fileSource,
  ]),
  cache_control: cacheControl,
})

const citationsSetting = optional(z.object({ enabled: optional(z.boolean()) }))

const documentBlock = z.object({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    base64Source(z.literal('application/pdf')),
    urlSource,
    z.object({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
    z.object({
      type: z.literal('content'),
      content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textBlock, imageBlock]))]),
    }),
    fileSource,
  ]),
  title: optional(z.string()),
  context: optional(z.string()),
  citations: citationsSetting,
  cache_control: cacheControl,
})

const searchResultBlock = z.object({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlock),
  citations: citationsSetting,
  cache_control: cacheControl,
})

const callId = z.string().min(1).max(maximumCallIdLength)

const toolUseBlock = z.object({
  type: z.literal('tool_use'),
  id: callId,
  name: z.string().min(1).max(maximumToolNameLength),
  input: jsonObject,
  caller: optional(jsonObject),
  toolset_name: optional(z.string()),
  cache_control: cacheControl,
})

const toolResultBlock = z.object({
  type: z.literal('tool_result'),
  tool_use_id: callId,
  content: optional(
    z.union([
      z.string(),
      z
        .array(
          z.discriminatedUnion('type', [
            textBlock,
            imageBlock,
            documentBlock,
            searchResultBlock,
            z.object({ type: z.literal('tool_reference'), tool_name: z.string(), cache_control: cacheControl }),
          ]),
        )
        .max(maximumPartsPerMessage),
    ]),
  ),
  is_error: optional(z.boolean()),
  toolset_name: optional(z.string()),
  cache_control: cacheControl,
})

const thinkingBlock = z.object({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: optional(z.string()),
})
const redactedThinkingBlock = z.object({ type: z.literal('redacted_thinking'), data: z.string() })

/** Calls and results of tools that Anthropic ran in an earlier turn. */
const serverCall = (type: 'server_tool_use' | 'mcp_tool_use') =>
  z.object({
    type: z.literal(type),
    id: callId,
    name: z.string().max(maximumToolNameLength),
    input: json,
    caller: optional(jsonObject),
    server_name: optional(z.string()),
    cache_control: cacheControl,
  })
export const serverResultTypes = [
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_result',
] as const
const serverResultBlock = z.object({
  type: z.enum(serverResultTypes),
  tool_use_id: callId,
  content: json,
  is_error: optional(z.boolean()),
  caller: optional(jsonObject),
  cache_control: cacheControl,
})
const compactionBlock = z.object({ type: z.literal('compaction'), content: json, cache_control: cacheControl })

const contentBlock = z.discriminatedUnion('type', [
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
  toolUseBlock,
  toolResultBlock,
  thinkingBlock,
  redactedThinkingBlock,
  serverCall('server_tool_use'),
  serverCall('mcp_tool_use'),
  serverResultBlock,
  compactionBlock,
])

const message = z.object({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(contentBlock).max(maximumPartsPerMessage)]),
})

const toolName = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'must have 1 to 128 letters, digits or the characters _ . : -')

const customTool = z.object({
  type: optional(z.literal('custom')),
  name: toolName,
  description: optional(z.string()),
  input_schema: jsonObject,
  strict: optional(z.boolean()),
  eager_input_streaming: optional(z.boolean()),
  input_examples: optional(z.array(jsonObject)),
  defer_loading: optional(z.boolean()),
  allowed_callers: optional(z.array(z.string())),
  cache_control: cacheControl,
})

/** A tool that Anthropic defines: `bash_20250124`, `web_search_20250305` … Its settings are sent on as they are. */
const vendorTool = z
  .looseObject({
    type: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'is not a type of tool'),
    name: optional(z.string().max(maximumToolNameLength)),
    cache_control: cacheControl,
  })
  .refine(({ type }) => type !== 'custom', 'is not a custom tool')

const parallel = { disable_parallel_tool_use: optional(z.boolean()) }

const toolChoice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('auto'), ...parallel }),
  z.object({ type: z.literal('any'), ...parallel }),
  z.object({ type: z.literal('tool'), name: z.string().min(1).max(maximumToolNameLength), ...parallel }),
  z.object({ type: z.literal('none') }),
])

const display = { display: optional(z.enum(['summarized', 'omitted'])) }

const thinking = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enabled'), budget_tokens: z.int().min(1), ...display }),
  z.object({ type: z.literal('adaptive'), ...display }),
  z.object({ type: z.literal('disabled') }),
])

const outputFormat = z.object({ type: z.literal('json_schema'), schema: jsonObject })

const prompt = {
  model: z
    .string()
    .min(1)
    .max(maximumModelIdLength)
    .describe('A model id or alias of GET /v2/gateway/anthropic/v1/models. `eu/` selects EU-hosted deployments only.'),
  messages: z.array(message).min(1).max(maximumMessages),
  system: optional(z.union([z.string(), z.array(textBlock).max(maximumPartsPerMessage)])),
  tools: optional(z.array(z.union([customTool, vendorTool])).max(maximumTools)),
  tool_choice: optional(toolChoice),
  thinking: optional(thinking),
  output_config: optional(
    z.object({ effort: optional(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])), format: optional(outputFormat) }),
  ),
  output_format: optional(outputFormat).describe('The earlier name of `output_config.format`.'),
  cache_control: cacheControl,
  context_management: optional(jsonObject),
  mcp_servers: optional(z.array(jsonObject)).describe('Servers that the provider calls, for models that can.'),
}

export const messagesRequestSchema = z
  .object({
    ...prompt,
    max_tokens: z.int().min(1),
    metadata: optional(z.object({ user_id: optional(z.string().max(maximumUserIdLength)) })),
    stop_sequences: optional(z.array(z.string()).max(maximumStopSequences)),
    stream: optional(z.boolean()),
    temperature: optional(z.number().min(0).max(1)),
    // Some clients send -1 for "not set".
    top_k: optional(z.int().min(-1)),
    top_p: optional(z.number().min(-1).max(1)),
    service_tier: optional(z.enum(['auto', 'standard_only'])),
  })
  .meta({ id: 'MessagesRequest' })

export const countTokensRequestSchema = z.object(prompt).meta({ id: 'CountTokensRequest' })

export type MessagesBody = z.output<typeof messagesRequestSchema>
export type PromptBody = z.output<typeof countTokensRequestSchema>
export type MessageBody = MessagesBody['messages'][number]
export type ContentBlockBody = z.output<typeof contentBlock>
export type BlockOf<Type extends ContentBlockBody['type']> = Extract<ContentBlockBody, { type: Type }>

export const countTokensSchema = z.object({ input_tokens: z.int() }).meta({ id: 'MessageTokensCount' })

const count = z.int()

export const messagesUsageSchema = z
  .object({
    input_tokens: count.describe('Without tokens that were read from or written to the cache.'),
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    cache_creation: z.object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
    output_tokens: count,
    output_tokens_details: z.object({ thinking_tokens: count }),
    server_tool_use: jsonObject.nullable(),
    service_tier: z.string().nullable(),
  })
  .meta({ id: 'MessagesUsage' })

export type MessagesUsageBody = z.infer<typeof messagesUsageSchema>

const stopReason = z.enum([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
])

export type StopReason = z.infer<typeof stopReason>

export const messageSchema = z
  .object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string().describe('The canonical model id; may differ from the requested one.'),
    content: z
      .array(jsonObject)
      .describe('Blocks of text, thinking and calls of tools, in the shapes of the Messages API.'),
    stop_reason: stopReason,
    stop_sequence: z.string().nullable(),
    container: jsonObject.nullable(),
    usage: messagesUsageSchema,
  })
  .meta({ id: 'MessagesAnswer' })

/** One event of a stream. The names and fields are those of the Messages API. */
export const messageEventSchema = z
  .looseObject({
    type: z.enum([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'ping',
      'error',
    ]),
  })
  .meta({ id: 'MessagesEvent' })

export const messagesModelSchema = z
  .object({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string(),
    max_input_tokens: count.nullable(),
    max_tokens: count.nullable(),
  })
  .meta({ id: 'MessagesModel' })

export const messagesModelListSchema = z
  .object({
    data: z.array(messagesModelSchema),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ id: 'MessagesModelList' })

/** The error body of the Messages API. */
export const messagesErrorSchema = z
  .object({
    type: z.literal('error'),
    error: z.object({
      type: z.string().describe('Class of the error, for instance `invalid_request_error`.'),
      message: z.string().describe('What is wrong and what to do.'),
      details: jsonObject.optional().describe('Of refused threads: what SDKs need to continue without them.'),
    }),
    request_id: z.string(),
  })
  .meta({ id: 'MessagesError' })

export type MessagesErrorBody = z.infer<typeof messagesErrorSchema>

/** The statuses of `codes` with the error body, for a route's `response` schema. */
export function messagesErrors<Status extends number>(...codes: Status[]): Record<Status, typeof messagesErrorSchema> {
  return Object.fromEntries(codes.map((status) => [status, messagesErrorSchema])) as Record<
    Status,
    typeof messagesErrorSchema
  >
}
