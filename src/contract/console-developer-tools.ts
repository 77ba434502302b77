import { z } from 'zod'
import { dollarsPerMillion } from './console-spaces.ts'
import { keyDisplaySchema, modelIdsSchema } from './operator.ts'
import { settingsVersionSchema } from './settings-version.ts'

/** The view of Team Settings > Developer Tools and of the gateway's playground. */

/** The view has at most this many models; the longest lists of providers have some hundreds. */
export const maximumViewModels = 2_000

const tokenPrices = z.object({
  input: dollarsPerMillion,
  output: dollarsPerMillion,
  cacheRead: dollarsPerMillion,
  cacheWrite: dollarsPerMillion,
  reasoning: dollarsPerMillion,
})

/** What a completion of one id costs. */
const offeredIdSchema = z.object({
  id: z.string().describe('For the field `model` of a completion. The EU side begins with `eu/`.'),
  hostings: z.array(z.string()),
  capabilities: z
    .array(z.string())
    .describe('What the model can do beyond text, as `capabilities` of GET /v2/gateway/models.'),
  prices: tokenPrices.describe('Of the dearest deployment; a receipt has the prices that applied.'),
  lowestPrices: tokenPrices.nullable().describe('Of the cheapest deployment; null if all cost the same.'),
  longPrompts: z
    .array(tokenPrices.extend({ abovePromptTokens: z.int() }))
    .describe('Prices of requests whose prompt has more tokens, ascending.'),
})

const offeredModelSchema = z.object({
  id: z.string().describe('Canonical id. Disabling it disables its EU id as well.'),
  ownedBy: z.string(),
  tier: z.enum(['base', 'premium']),
  contextTokens: z.int(),
  maxOutputTokens: z.int(),
  retiresAt: z.iso.datetime().nullable(),
  enabled: z.boolean(),
  standard: offeredIdSchema
    .nullable()
    .describe('The id without prefix; null if only deployments in the EU serve the model.'),
  eu: offeredIdSchema.nullable().describe('Null if no deployment in the EU serves the model.'),
})

export const gatewayRequirements = ['plan', 'enablement', 'opt_in', 'subscription', 'budget', 'api_key'] as const

export const developerToolsParamsSchema = z.object({ id: z.string() })

export const developerToolsViewSchema = z
  .object({
    organisation: z.object({
      id: z.uuid(),
      name: z.string(),
      plan: z.enum(['free', 'team', 'enterprise']),
      subscription: z.object({
        active: z.boolean(),
        startsAt: z.iso.datetime(),
        endsAt: z.iso.datetime().nullable(),
      }),
      gatewayEnabled: z.boolean(),
      gatewayOptIn: z.boolean(),
      markupPercent: z.string(),
      version: settingsVersionSchema,
    }),
    missing: z
      .array(z.enum(gatewayRequirements))
      .describe('What a completion with the API key still needs, in the order in which the gateway checks it.'),
    apiKey: keyDisplaySchema.nullable(),
    baseUrl: z.string().describe('Of the gateway, for SDKs of the compatible API.'),
    models: z.array(offeredModelSchema).max(maximumViewModels),
    modelsTotal: z.int(),
  })
  .meta({ id: 'DeveloperToolsView' })

export const switchModelsSchema = z
  .strictObject({ enable: modelIdsSchema.optional(), disable: modelIdsSchema.optional() })
  .refine(({ enable = [], disable = [] }) => enable.length + disable.length > 0, {
    error: 'must name at least one model in `enable` or `disable`',
  })
  .meta({ id: 'SwitchModels' })

export type DeveloperToolsView = z.output<typeof developerToolsViewSchema>
export type OfferedModelView = z.output<typeof offeredModelSchema>
export type OfferedIdView = z.output<typeof offeredIdSchema>
export type TokenPricesView = z.output<typeof tokenPrices>
export type GatewayRequirement = (typeof gatewayRequirements)[number]
