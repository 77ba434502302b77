import { z } from 'zod'
import { hostedToolKinds } from './hosted-tools.ts'
import { modelKinds } from './model-kinds.ts'
import { modelTraitsSchema, shownTraitsSchema } from './model-traits.ts'
import { headerName, providerAddress } from './provider-address.ts'
import { providerFormats } from './provider-formats.ts'
import { headerValueRule, isHeaderValue, isKey, keyRule } from './secret-text.ts'
import { settingsVersionSchema } from './settings-version.ts'

/** The operator API of providers, models, deployments and prices, and their stored form. */

/** Canonical ids and names on the wire; `eu/` is not part of an id. */
const modelId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,119}$/, 'letters, digits and . _ : @ + / -, at most 120')
  .refine((id) => !id.startsWith('eu/'), { error: 'must not begin with eu/: the prefix chooses the hosting' })
const providerId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'lower-case letters, digits, - and _, at most 63')
  .describe('Identifies the provider in the log and in receipts.')
const deploymentId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@+/#-]{0,159}$/, 'letters, digits and . _ : @ + / # -, at most 160')
const hosting = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'lower-case letters, digits and -')
  .refine((value) => value === 'eu' || !value.startsWith('eu'), {
    error: 'use exactly eu for the European Union; the region is a separate field',
  })
  .describe(
    'Where the deployment runs: `eu`, `us`, `global`, `local` or another word. `eu` serves `eu/` ids and no others.',
  )
const plan = z.enum(['free', 'team', 'enterprise'])
const tokens = z.int().min(1).max(100_000_000)

/** Exact decimals as text; a number counts as its printed form. */
const usdPerMillionTokens = z
  .union([z.string().regex(/^\d{1,7}(\.\d{1,12})?$/, 'a decimal such as 0.15'), z.number().min(0).max(1_000_000)])
  .describe('US dollars per million tokens, an exact decimal. 0 is free. The default of a cache price is `input`.')

const usdPerThousandUses = z
  .union([z.string().regex(/^\d{1,7}(\.\d{1,12})?$/, 'a decimal such as 10'), z.number().min(0).max(1_000_000)])
  .describe('US dollars per 1,000 uses, an exact decimal. 0 is free.')
type UsePrices = Record<(typeof hostedToolKinds)[number], z.ZodOptional<typeof usdPerThousandUses>>

const tokenPrices = {
  input: usdPerMillionTokens,
  output: usdPerMillionTokens.optional().describe('Default 0, for embedding models.'),
  cacheRead: usdPerMillionTokens.optional(),
  cacheWrite: usdPerMillionTokens.optional(),
  cacheWriteHour: usdPerMillionTokens
    .optional()
    .describe(
      'Writes that the cache keeps for an hour. Default: twice `input` if `cacheWrite` is set, otherwise `input`.',
    ),
  reasoning: usdPerMillionTokens.optional().describe('If reasoning tokens have another price than output.'),
}
const perThousandUses = z
  .strictObject(Object.fromEntries(hostedToolKinds.map((kind) => [kind, usdPerThousandUses.optional()])) as UsePrices)
  .optional()
  .describe('US dollars per 1,000 uses of a tool that the provider runs. A kind without a price is not offered.')

export const statedPricesSchema = z.strictObject({
  ...tokenPrices,
  perThousandUses,
  contextSteps: z
    .array(z.strictObject({ abovePromptTokens: tokens, ...tokenPrices }))
    .max(10)
    .optional()
    .describe('The step with the largest `abovePromptTokens` below the prompt’s tokens applies to the whole request.'),
})

/** The part of a provider that is stored unencrypted. */
export const providerDeclarationSchema = z.strictObject({
  format: z.enum(providerFormats),
  flavour: z
    .string()
    .max(40)
    .optional()
    .describe('Preset of an OpenAI-compatible host: openai, mistral, groq, deepseek, xai, together, openrouter …'),
  baseUrl: providerAddress.max(2000).optional(),
  region: z.string().max(100).optional(),
  project: z.string().max(200).optional(),
  apiVersion: z.string().max(60).optional(),
  hosting: hosting.optional(),
  models: z
    .enum(['snapshot', 'discovered', 'declared'])
    .optional()
    .describe('All models of its price lists, the models of the provider’s listing, or declared deployments only.'),
  priceLists: z
    .array(z.string().max(60))
    .max(5)
    .optional()
    .describe('Lists of the price snapshot. The default depends on format, flavour and hosting.'),
  discoveredPrices: statedPricesSchema.optional().describe('Prices of the models of the provider’s listing.'),
  quirks: z
    .strictObject({
      temperatureFactor: z.number().positive().max(10).optional(),
      capField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
      systemRole: z.enum(['system', 'developer']).optional(),
      rejects: z.array(z.string().max(60)).max(50).optional(),
      streamOptions: z.boolean().optional(),
      promptCaching: z
        .boolean()
        .optional()
        .describe('Marks the start of long prompts for the provider’s cache (Claude).'),
    })
    .optional(),
  limits: z
    .strictObject({
      connectTimeoutMs: z.int().min(100).max(600_000).optional(),
      headersTimeoutMs: z.int().min(100).max(3_600_000).optional(),
      idleTimeoutMs: z.int().min(100).max(3_600_000).optional(),
      maximumConnections: z.int().min(1).max(100_000).optional(),
      maximumResponseBytes: z.int().min(1024).max(1_073_741_824).optional(),
    })
    .optional(),
})

/** Write-only: shown as the last four characters, or not at all. Absent keeps the stored value, null removes it. */
const secrets = {
  apiKey: z.string().min(1).max(10_000).refine(isKey, { error: keyRule }).nullable().optional(),
  headers: z
    .record(headerName, z.string().max(10_000).refine(isHeaderValue, { error: headerValueRule }))
    .nullable()
    .optional()
    .describe('Extra headers; values are secrets.'),
  credentials: z
    .string()
    .min(1)
    .max(20_000)
    .refine((text) => text.trim().startsWith('{') || isKey(text), { error: keyRule })
    .nullable()
    .optional()
    .describe('AWS: `accessKeyId:secretAccessKey[:sessionToken]`. Google: the service account’s JSON.'),
}

export const putProviderSchema = providerDeclarationSchema
  .partial({ format: true })
  .extend({ enabled: z.boolean().default(true), ...secrets })
  .refine((body) => body.format !== undefined || Object.keys(body).every((key) => key === 'enabled'), {
    error: 'format is required, unless only `enabled` is given for a provider of the configuration',
    path: ['format'],
  })
  .meta({ id: 'PutProvider' })

/** A provider that is not stored. */
export const probeProviderSchema = providerDeclarationSchema.extend(secrets).meta({ id: 'ProbeProvider' })

const { format: _format, ...changeable } = providerDeclarationSchema.shape

export const patchProviderSchema = z
  .strictObject({
    ...changeable,
    flavour: changeable.flavour.nullable(),
    baseUrl: changeable.baseUrl.nullable(),
    region: changeable.region.nullable(),
    project: changeable.project.nullable(),
    apiVersion: changeable.apiVersion.nullable(),
    hosting: changeable.hosting.nullable(),
    models: changeable.models.nullable(),
    enabled: z.boolean().optional(),
    ...secrets,
  })
  .refine((body) => Object.keys(body).length > 0, { error: 'at least one field is required' })
  .describe('Absent fields keep their value, null removes it. A provider of the configuration accepts only `enabled`.')
  .meta({ id: 'PatchProvider' })

export const putModelSchema = z
  .strictObject({
    enabled: z.boolean().optional().describe('false: not listed and not callable for any organisation.'),
    kind: z.enum(modelKinds).optional(),
    aliases: z.array(modelId).max(50).optional(),
    ownedBy: z.string().min(1).max(100).optional(),
    tier: z.enum(['base', 'premium']).optional(),
    plans: z.array(plan).max(3).optional().describe('Plans whose organisations may call it.'),
    contextTokens: tokens.optional(),
    maxOutputTokens: tokens.optional(),
    dimensions: z.int().min(1).max(65_536).optional(),
    retiresAt: z.iso
      .datetime()
      .nullable()
      .optional()
      .describe('From this time on not listed and not callable; null: never.'),
  })
  .describe('Absent fields have the values of the configuration or the snapshot.')
  .meta({ id: 'PutModel' })

export const putDeploymentSchema = z
  .strictObject({
    model: modelId.optional().describe('Canonical id. Optional if the deployment exists already.'),
    provider: providerId.optional(),
    enabled: z.boolean().optional(),
    wireId: z.string().min(1).max(500).optional().describe('Id or deployment name on the wire.'),
    baseModel: modelId.optional().describe('The model behind a custom name; selects facts and prices in the snapshot.'),
    acceptsTemperature: z.boolean().optional(),
    reasoning: z.boolean().optional(),
    traits: modelTraitsSchema.optional(),
    hosting: hosting.optional(),
    region: z.string().max(100).nullable().optional(),
    weight: z.number().positive().max(1_000_000).optional(),
  })
  .meta({ id: 'PutDeployment' })

export const patchModelSchema = putModelSchema
  .refine((body) => Object.keys(body).length > 0, { error: 'at least one field is required' })
  .describe('Absent fields keep the operator’s earlier value.')
  .meta({ id: 'PatchModel' })

export const patchDeploymentSchema = putDeploymentSchema
  .omit({ model: true, provider: true })
  .refine((body) => Object.keys(body).length > 0, { error: 'at least one field is required' })
  .describe('Absent fields keep the operator’s earlier value.')
  .meta({ id: 'PatchDeployment' })

/** Most deployments that one request adds. */
export const maximumAddedDeployments = 100

export const addDeploymentsSchema = z
  .strictObject({
    deployments: z
      .array(
        z.strictObject({
          wireId: z.string().min(1).max(500).describe('Id on the wire, as the provider lists it.'),
          model: modelId.optional().describe('Id for clients. Default: the id on the wire.'),
          kind: z.enum(modelKinds).optional().describe('Of a model that no price list contains.'),
          prices: statedPricesSchema.optional().describe('In force from now on. Default: those of the price list.'),
        }),
      )
      .min(1)
      .max(maximumAddedDeployments),
  })
  .meta({ id: 'AddDeployments' })

export const postPriceSchema = statedPricesSchema
  .extend({ validFrom: z.iso.datetime().optional().describe('Not in the past; default now.') })
  .meta({ id: 'NewPrice' })

export const providerParamsSchema = z.object({ id: providerId })
export const modelParamsSchema = z.object({ id: z.string().describe('Canonical id, URL-encoded (`/` as `%2F`).') })
export const deploymentParamsSchema = z.object({ id: z.string().describe('URL-encoded (`/` as `%2F`).') })
export const priceParamsSchema = deploymentParamsSchema.extend({ priceId: z.uuid() })
export const newModelParamsSchema = z.object({ id: modelId })
export const newDeploymentParamsSchema = z.object({ id: deploymentId })

const origin = z
  .enum(['built-in', 'snapshot', 'discovered', 'configuration', 'operator'])
  .describe('The source with the highest precedence.')

export const providerSchema = providerDeclarationSchema
  .extend({
    id: z.string(),
    origin,
    enabled: z.boolean(),
    format: z.string(),
    hosting: z.string(),
    baseUrl: z.string().optional(),
    apiKeyLastFour: z.string().nullable(),
    headerNames: z.array(z.string()),
    hasCredentials: z.boolean(),
    version: settingsVersionSchema,
  })
  .meta({ id: 'Provider' })

export const shownPrices = z.object({
  input: z.string(),
  output: z.string(),
  cacheRead: z.string().optional(),
  cacheWrite: z.string().optional(),
  cacheWriteHour: z.string().optional(),
  reasoning: z.string().optional(),
})
export const priceSchema = shownPrices
  .extend({
    id: z.string().nullable().describe('null: not set by the operator.'),
    source: z.string(),
    validFrom: z.iso.datetime().nullable().describe('null: no start.'),
    inForce: z.boolean(),
    perThousandUses: z.record(z.string(), z.string()).optional().describe('US dollars per 1,000 uses, by kind.'),
    contextSteps: z.array(shownPrices.extend({ abovePromptTokens: z.int() })),
  })
  .describe('US dollars per million tokens, exact decimals.')
  .meta({ id: 'Price' })

export const deploymentSchema = z
  .object({
    id: z.string(),
    model: z.string(),
    provider: z.string(),
    origin,
    problem: z.string().nullable().describe('Why it cannot be called; null if it can.'),
    wireId: z.string(),
    baseModel: z.string(),
    acceptsTemperature: z.boolean(),
    reasoning: z.boolean(),
    traits: shownTraitsSchema,
    hosting: z.string(),
    region: z.string().nullable(),
    weight: z.number(),
    version: settingsVersionSchema,
    prices: z.array(priceSchema).describe('Newest first.'),
    health: z
      .object({
        circuit: z.enum(['closed', 'open', 'half_open']),
        blockedUntil: z.iso.datetime().nullable(),
        recentFailures: z.int(),
        recentCalls: z.int(),
        lastError: z.object({ class: z.string(), status: z.int().nullable(), at: z.iso.datetime() }).nullable(),
      })
      .describe('Recent observations of this instance.'),
  })
  .meta({ id: 'Deployment' })

export const modelSchema = z
  .object({
    id: z.string(),
    origin,
    enabled: z.boolean(),
    kind: z.enum(modelKinds),
    aliases: z.array(z.string()),
    ownedBy: z.string(),
    tier: z.enum(['base', 'premium']),
    plans: z.array(plan),
    contextTokens: z.int(),
    maxOutputTokens: z.int(),
    dimensions: z.int().nullable(),
    retiresAt: z.iso.datetime().nullable(),
    callableIds: z.array(z.string()).describe('The id and its `eu/` form, as far as a deployment serves them now.'),
    version: settingsVersionSchema,
    deployments: z.array(deploymentSchema),
  })
  .meta({ id: 'ModelDetails' })

export const testProviderSchema = z
  .strictObject({ model: z.string().min(1).max(500).optional().describe('Model id, deployment id or id on the wire.') })
  .meta({ id: 'TestProvider' })

const providerErrorSchema = z
  .object({
    class: z.string(),
    status: z.int().nullable(),
    message: z.string(),
    code: z.string().nullable().describe('Code of a failed connection, such as `ENOTFOUND` or `ECONNREFUSED`.'),
  })
  .describe('The response of the provider, without secrets.')

export const providerTestSchema = z
  .object({
    ok: z.boolean().describe('No step failed.'),
    provider: z.string(),
    deployment: z.string().nullable().describe('null: the provider has no deployment, so no answer was requested.'),
    model: z.string().nullable(),
    durationMs: z.int(),
    steps: z
      .array(
        z.object({
          step: z.enum(['connection', 'credentials', 'listing', 'answer']),
          result: z
            .enum(['passed', 'failed', 'skipped'])
            .describe('`skipped`: not tried, or the earlier steps prove nothing about it.'),
          durationMs: z.int().nullable(),
          models: z.int().nullable().describe('Models of the listing.'),
        }),
      )
      .describe(
        'The server answers; it accepts the credentials; it lists its models (if the format has a listing); it answers a small call.',
      ),
    error: providerErrorSchema.nullable(),
  })
  .meta({ id: 'ProviderTest' })

export const discoveredModelsSchema = z
  .object({
    data: z
      .array(
        z.object({
          wireId: z.string(),
          kind: z.enum(modelKinds).describe('From the price list, else guessed from the name.'),
          model: z.string().describe('The id that clients would use.'),
          contextTokens: z.int().nullable(),
          prices: shownPrices.nullable().describe('Of the provider’s price lists; null: none of them has the model.'),
          deployments: z.array(z.string()).max(20).describe('Deployments of this provider that serve it.'),
        }),
      )
      .max(1000),
    total: z.int().describe('Models of the listing; at most 1,000 are returned.'),
    durationMs: z.int(),
    error: providerErrorSchema.nullable().describe('Why there is no listing.'),
  })
  .meta({ id: 'DiscoveredModels' })

export const providersSchema = z.object({ data: z.array(providerSchema) })
export const modelsSchema = z.object({
  data: z.array(modelSchema),
  snapshotDate: z.string().describe('Date of the included price snapshot.'),
  problems: z.array(z.string()).describe('Reasons why declared models cannot be called.'),
})
export const deploymentsSchema = z.object({ data: z.array(deploymentSchema) })
export const pricesSchema = z.object({ data: z.array(priceSchema) })

export type PutProvider = z.output<typeof putProviderSchema>
export type ProviderDeclarationBody = z.output<typeof providerDeclarationSchema>
export type ProbeProvider = z.output<typeof probeProviderSchema>
export type PatchProvider = z.output<typeof patchProviderSchema>
export type AddDeployments = z.output<typeof addDeploymentsSchema>
export type DiscoveredModels = z.output<typeof discoveredModelsSchema>
export type PutModel = z.output<typeof putModelSchema>
export type PutDeployment = z.output<typeof putDeploymentSchema>
export type StatedPricesBody = z.output<typeof statedPricesSchema>
export type NewPrice = z.output<typeof postPriceSchema>
export type ProviderBody = z.output<typeof providerSchema>
export type ProviderTest = z.output<typeof providerTestSchema>
export type PriceBody = z.output<typeof priceSchema>
export type DeploymentBody = z.output<typeof deploymentSchema>
export type ModelBody = z.output<typeof modelSchema>
