import { z } from 'zod'

const words = z.record(z.string().max(40), z.string().max(40))
const publicFields = z.array(z.string().max(60)).max(50)

/** What an operator can declare about a model; the fields are those of src/providers/model-traits/traits.ts. */
export const modelTraitsSchema = z
  .strictObject({
    fixedTemperature: z
      .number()
      .min(0)
      .max(2)
      .optional()
      .describe('The only temperature that the model accepts; it is not sent.'),
    fixedTopP: z.number().min(0).max(1).optional().describe('The only `top_p` that the model accepts; it is not sent.'),
    temperatureOrTopP: z.boolean().optional().describe('The model rejects requests with both.'),
    refuses: publicFields.optional().describe('Request fields that the model rejects, by the names that clients use.'),
    refusesBlankStop: z.boolean().optional().describe('The model rejects stop sequences that are white space only.'),
    efforts: words.optional().describe('Values of `reasoning_effort`: requested → sent. A missing value is not sent.'),
    thinkingBudgets: z
      .record(z.string().max(40), z.int().min(-1))
      .optional()
      .describe('Gemini: tokens for each effort.'),
    effortField: z.literal('output_config').optional().describe('Bedrock: the field for the effort.'),
    effortWithTools: z.string().max(40).optional().describe('Effort of every request with tools.'),
    serviceTiers: words.optional().describe('Values of `service_tier`: requested → sent.'),
    tools: z.boolean().optional().describe('false: the model does not support tools.'),
    streamedTools: z.boolean().optional().describe('false: calls with tools are not streamed.'),
    reasoningReplay: z.enum(['reasoning_content', 'reasoning_details']).optional(),
    signedToolCalls: z.boolean().optional().describe('Gemini: tool calls are sent back with a signature.'),
    turns: z.enum(['any', 'alternating']).optional(),
    blankTurns: z.boolean().optional().describe('false: the model rejects messages without text.'),
    textWithToolCalls: z.boolean().optional().describe('false: a message has text or tool calls, not both.'),
    systemRole: z
      .enum(['system', 'developer', 'user'])
      .optional()
      .describe(
        'Role of instructions. `user`: the model has no such role, so instructions precede the first question.',
      ),
    capField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    maxOutputTokens: z.int().min(1).optional(),
    contextTokens: z.int().min(1).optional(),
    cachePrefixTokens: z.int().min(1).optional().describe('Smallest prefix that a cache marker caches (Claude).'),
    embeddingForm: z.enum(['texts', 'text_only', 'content']).optional(),
    embeddingBatch: z.int().min(1).max(10_000).optional().describe('Most texts of one embedding call.'),
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
