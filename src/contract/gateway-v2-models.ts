import { z } from 'zod'
import { modelKinds } from './model-kinds.ts'
import { modelSchema } from './gateway.ts'

const usdPerMillion = z.string().describe('US dollars for a million tokens, markup included, as a decimal number.')

export const modelV2Schema = modelSchema
  .extend({
    kind: z.enum(modelKinds),
    capabilities: z.array(z.string()).describe('What the model can do beyond text, such as `tools` and `images`.'),
    limits: z.object({
      context_tokens: z.int(),
      max_output_tokens: z.int(),
      dimensions: z.int().nullable().describe('Of embedding models.'),
    }),
    prices: z
      .object({
        input_usd_per_million: usdPerMillion,
        output_usd_per_million: usdPerMillion,
        cache_read_usd_per_million: usdPerMillion,
        cache_write_usd_per_million: usdPerMillion,
      })
      .describe('Of the dearest deployment: a call costs at most this for each token.'),
  })
  .meta({ id: 'ModelV2' })

export const modelListV2Schema = z
  .object({ object: z.literal('list'), data: z.array(modelV2Schema) })
  .meta({ id: 'ModelListV2' })

export type ModelV2Body = z.infer<typeof modelV2Schema>
