import { z } from 'zod'
import { integer, megabyte } from './fields.ts'
import { hostedToolKinds } from '../../contract/hosted-tools.ts'
import { modelKinds } from '../../contract/model-kinds.ts'
import { modelTraitsSchema } from '../../contract/model-traits.ts'
import { headerName, providerAddress } from '../../contract/provider-address.ts'
import { providerFormats } from '../../contract/provider-formats.ts'
import { parsePicoUsd } from '../../platform/kernel/index.ts'

/** The settings `providers` and `models`. */

const price = z
  .union([z.string(), z.number()])
  .refine(isPrice, { error: 'must be a decimal of at least 0 with at most 12 decimals' })
  .describe('US dollars per million tokens, as a decimal.')

type UsePrices = Record<(typeof hostedToolKinds)[number], z.ZodOptional<typeof price>>

const tokenPrices = {
  input: price,
  output: price.default('0'),
  cacheRead: price.optional(),
  cacheWrite: price.optional(),
  cacheWriteHour: price.optional(),
  reasoning: price.optional(),
}
const perThousandUses = z
  .strictObject(Object.fromEntries(hostedToolKinds.map((kind) => [kind, price.optional()])) as UsePrices)
  .optional()
  .describe('US dollars per 1,000 uses of a tool that the provider runs, by kind.')
const prices = z.strictObject({
  ...tokenPrices,
  perThousandUses,
  contextSteps: z
    .array(
      z.strictObject({
        abovePromptTokens: integer(1, 100_000_000).describe('The step applies to longer prompts.'),
        ...tokenPrices,
        output: price.optional(),
      }),
    )
    .optional()
    .describe('Other prices for the whole request when its prompt is longer.'),
})

export const provider = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'lower-case letters, digits, - and _')
    .describe('Lower-case letters, digits, `-` and `_`.'),
  format: z.enum(providerFormats).default('openai').describe('API of the provider, see docs/operate/providers.md.'),
  flavour: z
    .string()
    .optional()
    .describe('Preset of an OpenAI-compatible host: openai, mistral, groq, deepseek, xai, together, openrouter, …'),
  baseUrl: providerAddress.optional().describe('Address of the API; default by format, flavour and region.'),
  apiKey: z.string().min(1).optional().describe('The key in plain text; prefer apiKeyEnv or apiKeyFile.'),
  apiKeyEnv: z.string().min(1).optional().describe('Name of the environment variable that holds the key.'),
  apiKeyFile: z.string().min(1).optional().describe('File that holds the key.'),
  credentialsEnv: z
    .string()
    .min(1)
    .optional()
    .describe('Variable with AWS `accessKeyId:secretAccessKey[:sessionToken]` or a Google service account as JSON.'),
  credentialsFile: z
    .string()
    .min(1)
    .optional()
    .describe('File with the same content. Without either, the default credential chain is used.'),
  headers: z.record(headerName, z.string()).optional().describe('Further headers of each call.'),
  models: z
    .enum(['snapshot', 'discovered', 'declared'])
    .optional()
    .describe('Where its models come from; default by format, see docs/operate/models.md.'),
  priceLists: z.array(z.string()).optional().describe('Lists of the price snapshot that apply to it.'),
  discoveredPrices: prices.optional().describe('Prices of models that only the listing of the provider names.'),
  region: z.string().optional().describe('Region of Bedrock or Vertex AI.'),
  project: z.string().optional().describe('Google Cloud project of Vertex AI.'),
  apiVersion: z.string().optional().describe('API version of Azure OpenAI.'),
  hosting: z.string().optional().describe('Where its deployments run by default: eu, us, global, local.'),
  quirks: z
    .strictObject({
      temperatureFactor: z
        .number()
        .positive()
        .optional()
        .describe('The temperature of the client is multiplied by it.'),
      capField: z
        .enum(['max_tokens', 'max_completion_tokens'])
        .optional()
        .describe('Field that limits the output tokens.'),
      systemRole: z.enum(['system', 'developer']).optional().describe('Role of instructions.'),
      rejects: z.array(z.string()).optional().describe('Public names of fields that are never sent.'),
      streamOptions: z.boolean().optional().describe('false: `stream_options` is never sent.'),
      promptCaching: z
        .boolean()
        .optional()
        .describe('Marks the beginning of long prompts for the cache of the provider (Claude).'),
    })
    .optional(),
  limits: z
    .strictObject({
      connectTimeoutMs: integer(100, 600_000).optional().describe('Longest time for a connection; default 10 s.'),
      headersTimeoutMs: integer(100, 3_600_000).optional().describe('Longest wait for an answer; default 10 minutes.'),
      idleTimeoutMs: integer(100, 3_600_000)
        .optional()
        .describe('Longest silence inside an answer; default 5 minutes.'),
      maximumConnections: integer(1, 100_000).optional().describe('Connections to the provider; default 512.'),
      maximumResponseBytes: integer(1024, 1024 * megabyte)
        .optional()
        .describe('Largest decoded answer; default 64 MiB.'),
    })
    .optional(),
})

const deployment = z.strictObject({
  provider: z.string().describe('Id of the provider.'),
  wireId: z.string().optional().describe('Id or deployment name at the provider; default: the model id.'),
  hosting: z.string().optional().describe('Where it runs: eu, us, global, local; default: that of the provider.'),
  region: z.string().optional().describe('Region of Bedrock or Vertex AI; default: that of the provider.'),
  weight: z.number().positive().default(1).describe('Share of first attempts among the deployments of the model.'),
  prices: prices.optional().describe('Default: the price snapshot.'),
  traits: modelTraitsSchema.optional().describe('What it accepts, see docs/operate/model-traits.md.'),
})

export const model = z.strictObject({
  id: z.string().min(1).max(256).describe('Name that clients send, without `eu/`.'),
  kind: z.enum(modelKinds).default('chat').describe('What the model does.'),
  aliases: z.array(z.string()).default([]).describe('Further names.'),
  ownedBy: z.string().optional().describe('`owned_by` in the list of models.'),
  tier: z.enum(['base', 'premium']).default('premium').describe('Base-tier models serve `baseTierFallback` of Spaces.'),
  plans: z
    .array(z.enum(['free', 'team', 'enterprise']))
    .default(['free', 'team', 'enterprise'])
    .describe('Plans whose organisations may call it.'),
  contextTokens: integer(1, 100_000_000).optional().describe('Context window in tokens.'),
  maxOutputTokens: integer(1, 10_000_000).optional().describe('Most tokens of an answer.'),
  dimensions: integer(1, 65_536).optional().describe('Length of the vectors of an embedding model.'),
  acceptsTemperature: z.boolean().optional().describe('false: `temperature` is not sent.'),
  reasoning: z.boolean().optional().describe('true: the model reasons before it answers.'),
  baseModel: z.string().optional().describe('Name in the price snapshot, for an id of your choice.'),
  traits: modelTraitsSchema.optional().describe('What it accepts, see docs/operate/model-traits.md.'),
  deployments: z.array(deployment).min(1).describe('Where it can be called.'),
})

function isPrice(value: string | number): boolean {
  try {
    return parsePicoUsd(value) >= 0n
  } catch {
    return false
  }
}
