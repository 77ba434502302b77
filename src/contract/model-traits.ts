import { z } from 'zod'
import { hostedToolKinds } from './hosted-tools.ts'

const words = z.record(z.string().max(40), z.string().max(40))
const publicFields = z.array(z.string().max(60)).max(50)

/** What an operator can declare about a model. */
export const modelTraitsSchema = z
  .strictObject({
    fixedTemperature: z
      .number()
      .min(0)
      .max(2)
      .optional()
      .describe('The only temperature that the model accepts; it is not sent.'),
    fixedTopP: z.number().min(0).max(1).optional().describe('The only `top_p` that the model accepts; it is not sent.'),
    // The temperature of such a request is kept.
    temperatureOrTopP: z.boolean().optional().describe('The model rejects requests with both.'),
    // Also fields whose values have no effect.
    refuses: publicFields.optional().describe('Request fields that the model rejects, by the names that clients use.'),
    refusesBlankStop: z.boolean().optional().describe('The model rejects stop sequences that are white space only.'),
    efforts: words.optional().describe('Values of `reasoning_effort`: requested → sent. A missing value is not sent.'),
    thinkingBudgets: z
      .record(z.string().max(40), z.int().min(-1))
      .optional()
      .describe('Gemini: tokens for each effort.'),
    // Absent: one of the model's additional fields.
    effortField: z.literal('output_config').optional().describe('Bedrock: the field for the effort.'),
    // Whatever the client requested.
    effortWithTools: z.string().max(40).optional().describe('Effort of every request with tools.'),
    serviceTiers: words.optional().describe('Values of `service_tier`: requested → sent.'),
    // Tools of a request are then omitted.
    tools: z.boolean().optional().describe('false: the model does not support tools.'),
    images: z.boolean().optional().describe('false: the model does not read images.'),
    files: z.boolean().optional().describe('false: the model does not read PDF files.'),
    audio: z.boolean().optional().describe('false: the model does not hear audio.'),
    forcedTools: z
      .union([z.boolean(), z.literal('one')])
      .optional()
      .describe('false: the client cannot require a tool call. one: it can require the call of one certain tool.'),
    api: z
      .enum(['chat', 'responses'])
      .optional()
      .describe('OpenAI and Azure: the API that serves the model. Absent: chat completions.'),
    hostedTools: z
      .array(z.enum(hostedToolKinds))
      .optional()
      .describe('Tools that the provider runs during an answer. Absent: none.'),
    singleToolCall: z.boolean().optional().describe('false: the client cannot limit an answer to one tool call.'),
    severalChoices: z.boolean().optional().describe('false: one answer for each request.'),
    logprobs: z.boolean().optional().describe('false: no probabilities of tokens.'),
    // `schema`: natively; `tool`: a forced tool; `json_object`: the JSON mode of the host, and the schema in the instructions.
    structured: z
      .enum(['schema', 'tool', 'json_object'])
      .optional()
      .describe('How the model is given the JSON Schema of its answer.'),
    searchUses: z
      .enum(['answer', 'query'])
      .optional()
      .describe('Gemini: what a use of `web_search` is, an answer with searches or each query. Absent: each query.'),
    toolsWithHosted: z
      .boolean()
      .optional()
      .describe('false: a request has tools of the client or tools that the provider runs, not both.'),
    toolsWithSchema: z.boolean().optional().describe('false: a request has tools or a schema, not both.'),
    thinking: z
      .enum(['budget', 'adaptive'])
      .optional()
      .describe('Claude: thinking has a budget of tokens, or the model decides.'),
    streamedTools: z.boolean().optional().describe('false: calls with tools are not streamed.'),
    // Field of an assistant turn that sends its reasoning back in a conversation with tools.
    reasoningReplay: z.enum(['reasoning_content', 'reasoning_details']).optional(),
    signedToolCalls: z.boolean().optional().describe('Gemini: tool calls are sent back with a signature.'),
    // `alternating`: user and assistant must take turns, and the user begins.
    turns: z.enum(['any', 'alternating']).optional(),
    blankTurns: z.boolean().optional().describe('false: the model rejects messages without text.'),
    // The text is then omitted.
    textWithToolCalls: z.boolean().optional().describe('false: a message has text or tool calls, not both.'),
    systemRole: z
      .enum(['system', 'developer', 'user'])
      .optional()
      .describe(
        'Role of instructions. `user`: the model has no such role, so instructions precede the first question.',
      ),
    capField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    // This and the next apply if the price list does not contain the model.
    maxOutputTokens: z.int().min(1).optional(),
    contextTokens: z.int().min(1).optional(),
    // Absent: no markers are sent.
    cachePrefixTokens: z.int().min(1).optional().describe('Smallest prefix that a cache marker caches (Claude).'),
    // Several texts at once, a text without options, or the content of a message; for hosts with several forms.
    embeddingForm: z.enum(['texts', 'text_only', 'content']).optional(),
    embeddingBatch: z.int().min(1).max(10_000).optional().describe('Most texts of one embedding call.'),
    // Ids of other providers are replaced.
    toolCallIds: z
      .strictObject({
        characters: z.enum(['alphanumeric', 'word']),
        least: z.int().min(1).max(64),
        most: z.int().min(1).max(64),
      })
      .optional()
      .describe('Form of the ids of tool calls.'),
    userCharacters: z.int().min(1).max(10_000).optional().describe('Longest `user`.'),
  })
  .describe('What the model accepts. Each field overrides the built-in value.')
  .meta({ id: 'ModelTraits' })

/** The effective values with their sources. */
export const shownTraitsSchema = modelTraitsSchema
  .extend({
    sources: z
      .array(z.object({ source: z.string(), checked: z.string() }))
      .describe('References with the date of access.'),
  })
  .describe('What the model accepts: built-in values with the declarations of the operator.')
  .meta({ id: 'ShownModelTraits' })
