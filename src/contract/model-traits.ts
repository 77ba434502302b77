import { z } from 'zod'

const words = z.record(z.string().max(40), z.string().max(40))
const publicFields = z.array(z.string().max(60)).max(50)

/** What an operator can say of a model beyond what is known of it; the fields are those of src/providers/model-traits/traits.ts. */
export const modelTraitsSchema = z
  .strictObject({
    fixedTemperature: z.number().min(0).max(2).optional().describe('The only temperature it takes; never sent.'),
    fixedTopP: z.number().min(0).max(1).optional().describe('The only `top_p` it takes; never sent.'),
    temperatureOrTopP: z.boolean().optional().describe('It refuses both in one request.'),
    refuses: publicFields.optional().describe('Request fields that it refuses, as clients name them.'),
    refusesBlankStop: z.boolean().optional().describe('It refuses stop sequences of white space only.'),
    efforts: words.optional().describe('Words of `reasoning_effort`: asked for → sent. A missing word is dropped.'),
    thinkingBudgets: z.record(z.string().max(40), z.int().min(-1)).optional().describe('Gemini: tokens for each word.'),
    effortField: z.literal('output_config').optional().describe('Bedrock: where the effort goes.'),
    effortWithTools: z.string().max(40).optional().describe('Effort that every request with tools carries.'),
    serviceTiers: words.optional().describe('Words of `service_tier`: asked for → sent.'),
    tools: z.boolean().optional().describe('false: it takes no tools.'),
    streamedTools: z.boolean().optional().describe('false: calls with tools are made unstreamed.'),
    reasoningReplay: z.enum(['reasoning_content', 'reasoning_details']).optional(),
    signedToolCalls: z.boolean().optional().describe('Gemini: tool calls go back with a signature.'),
    turns: z.enum(['any', 'alternating']).optional(),
    blankTurns: z.boolean().optional().describe('false: it refuses messages without text.'),
    textWithToolCalls: z.boolean().optional().describe('false: a turn has text or tool calls, never both.'),
    systemRole: z
      .enum(['system', 'developer', 'user'])
      .optional()
      .describe('Who speaks instructions; `user`: the model knows none, and they stand before its first question.'),
    capField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    maxOutputTokens: z.int().min(1).optional(),
    contextTokens: z.int().min(1).optional(),
    cachePrefixTokens: z.int().min(1).optional().describe('Smallest prefix that is cached at a mark (Claude).'),
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
  .describe('What the model accepts; each field wins over what Portico knows of it.')
  .meta({ id: 'ModelTraits' })

/** What is in force, with its sources. */
export const shownTraitsSchema = modelTraitsSchema
  .extend({
    sources: z
      .array(z.object({ source: z.string(), checked: z.string() }))
      .describe('References, and the day they were read.'),
  })
  .describe('What the model accepts, as Portico knows it and as the operator declared it.')
  .meta({ id: 'ShownModelTraits' })
