import { z } from 'zod'
import { modelKinds } from './model-kinds.ts'
import { shownTraitsSchema } from './model-traits.ts'
import { modelSchema, priceSchema, providerSchema, providerTestSchema, shownPrices } from './models.ts'
import { paging, queryInteger } from './query-integer.ts'
import { settingsVersionSchema } from './settings-version.ts'

/** Views of the console for providers, deployments and models. Lists are pages of the catalogue in memory. */

const page = {
  search: z.string().max(200).optional().describe('Part of an id; upper and lower case are equal.'),
  ...paging(100, { maximumLimit: 200, maximumOffset: 1_000_000 }),
}

const source = z.enum(['built-in', 'snapshot', 'discovered', 'configuration', 'operator'])
const moment = z.iso.datetime().nullable()

export const providersViewQuerySchema = z.object(page)

const connectionsView = z
  .object({
    maximum: z.int(),
    inUse: z.int(),
    waiting: z.int(),
    organisations: z
      .array(z.object({ id: z.string().nullable(), name: z.string().nullable(), held: z.int(), waiting: z.int() }))
      .describe('The five with the most connections. id null: calls of the service itself.'),
  })
  .describe('Of this instance.')

const providerViewSchema = providerSchema
  .extend({
    declaredIn: z
      .enum(['built-in', 'configuration', 'environment', 'detected', 'operator'])
      .describe('Only a declaration of the operator can be edited here.'),
    replaces: source.nullable().describe('The declaration that the operator’s replaces.'),
    isSwitched: z.boolean().describe('The operator has enabled or disabled a provider that is declared elsewhere.'),
    credentialState: z.enum(['api_key', 'credentials', 'headers', 'machine', 'not_needed', 'missing']),
    connections: connectionsView.nullable().describe('null: no call since the start.'),
    deployments: z.object({
      total: z.int(),
      callable: z.int(),
      open: z.int().describe('Circuit of this instance not closed.'),
      failing: z.int().describe('At least one instance fails to call it: an open circuit, or an account error.'),
    }),
    lastTest: providerTestSchema.extend({ at: z.iso.datetime() }).nullable(),
  })
  .meta({ id: 'ProviderView' })

export const providersViewSchema = z
  .object({ total: z.int(), items: z.array(providerViewSchema) })
  .meta({ id: 'ProvidersView' })

const percentiles = z.object({ p50: z.int(), p95: z.int() }).nullable()

const trafficView = z
  .object({
    requests: z.int(),
    errors: z.int(),
    rateLimited: z.int(),
    rejected: z.int().describe('Refused by the provider as invalid, too long or filtered.'),
    latencyMs: percentiles.describe('Until the end of an answer.'),
    firstBytesMs: percentiles.describe('Until the first bytes of a stream.'),
    outputTokensPerSecond: z.number().nullable(),
    lastCallAt: moment,
    slots: z
      .array(z.object({ requests: z.int(), errors: z.int(), rateLimited: z.int() }))
      .describe('Oldest first; empty if the window has no requests.'),
  })
  .describe('Calls that this instance sent within the window, without tests and cancelled calls.')

export const deploymentStates = [
  'open',
  'half_open',
  'rate_limited',
  'problem',
  'avoided',
  'serving',
  'idle',
  'disabled',
] as const

const deploymentViewSchema = z
  .object({
    id: z.string(),
    model: z.string(),
    kind: z.enum(modelKinds),
    provider: z.string(),
    wireId: z.string(),
    declaredIn: source,
    isOverridden: z.boolean().describe('The operator has changed fields of a deployment that is declared elsewhere.'),
    enabled: z.boolean(),
    state: z
      .enum(deploymentStates)
      .describe(
        'The most severe: `problem` cannot be called; `avoided`: others are preferred after an account error; `serving` had requests in the window.',
      ),
    problem: z.string().nullable(),
    hosting: z.string(),
    side: z.enum(['eu', 'other']).nullable().describe('`eu` serves `eu/` ids and no others. null: ambiguous.'),
    region: z.string().nullable(),
    weight: z.number(),
    version: settingsVersionSchema,
    share: z
      .number()
      .nullable()
      .describe('Share of the first attempts among the deployments of this model and side; null: cannot be called.'),
    price: shownPrices.nullable().describe('In force now, US dollars per million tokens.'),
    health: z.object({
      circuit: z.enum(['closed', 'open', 'half_open']),
      since: moment,
      openUntil: moment,
      rateLimitedUntil: moment,
      avoidedUntil: moment,
      recentFailures: z.int(),
      recentCalls: z.int(),
      lastError: z
        .object({ class: z.string(), status: z.int().nullable(), message: z.string(), at: z.iso.datetime() })
        .nullable(),
    }),
    traffic: trafficView.nullable().describe('null: no call since the start.'),
  })
  .meta({ id: 'DeploymentView' })

export const deploymentsViewQuerySchema = z.object({
  ...page,
  provider: z.string().max(63).optional(),
  model: z.string().max(120).optional(),
  state: z.enum(['all', 'trouble', 'serving', 'disabled']).default('all'),
  limit: queryInteger(1, 100).default(50),
})

export const deploymentsViewSchema = z
  .object({
    instance: z
      .object({ name: z.string(), startedAt: z.iso.datetime() })
      .describe('Health and traffic are observations of this instance.'),
    now: z.iso.datetime(),
    windowSeconds: z.int(),
    slotSeconds: z.int(),
    total: z.int(),
    counts: z
      .object({ all: z.int(), trouble: z.int(), serving: z.int(), disabled: z.int() })
      .describe('Of the search, for each value of `state`.'),
    items: z.array(deploymentViewSchema).describe('Trouble first, then by requests, then by id.'),
  })
  .meta({ id: 'DeploymentsView' })

const pricedRange = z
  .object({ input: z.string(), output: z.string() })
  .describe('US dollars per million tokens, exact decimals.')

export const modelsViewQuerySchema = z.object({
  ...page,
  kind: z.enum(modelKinds).optional(),
  availability: z.enum(['all', 'callable', 'eu', 'not_callable']).default('all'),
})

const modelRowSchema = modelSchema
  .omit({ deployments: true })
  .extend({
    deployments: z.object({ total: z.int(), callable: z.int() }),
    price: z
      .object({ from: pricedRange, to: pricedRange, sources: z.array(z.string()).max(20) })
      .nullable()
      .describe('Lowest and highest price in force of its callable deployments.'),
    nextPriceAt: moment.describe('The next price change of a deployment.'),
    disabledBy: z.int().describe('Organisations that have disabled it.'),
  })
  .meta({ id: 'ModelRow' })

export const modelsViewSchema = z
  .object({
    snapshotDate: z.string(),
    problems: z.array(z.string()).max(50),
    counts: z.object({ all: z.int(), callable: z.int(), eu: z.int(), not_callable: z.int() }),
    total: z.int(),
    items: z.array(modelRowSchema),
  })
  .meta({ id: 'ModelsView' })

const timelinePrice = priceSchema.extend({
  phase: z.enum(['past', 'current', 'future']),
  sourceKind: z.enum(['snapshot', 'configuration', 'operator', 'built-in']),
  validTo: moment.describe('null: until further notice.'),
})

export const modelViewSchema = modelRowSchema
  .extend({
    snapshotDate: z.string(),
    isDeclaredByOperator: z.boolean(),
    disablingOrganisations: z.array(z.object({ id: z.string(), name: z.string() })).max(20),
    deploymentsList: z.array(
      deploymentViewSchema.extend({
        baseModel: z.string(),
        acceptsTemperature: z.boolean(),
        reasoning: z.boolean(),
        traits: shownTraitsSchema,
        prices: z.array(timelinePrice).describe('Newest first.'),
        snapshotPrice: shownPrices
          .extend({ list: z.string(), date: z.string() })
          .nullable()
          .describe('The price list’s price today, to compare with; null: no list has the model.'),
      }),
    ),
  })
  .meta({ id: 'ModelView' })

export type ProviderView = z.output<typeof providerViewSchema>
export type ProvidersView = z.output<typeof providersViewSchema>
export type DeploymentView = z.output<typeof deploymentViewSchema>
export type DeploymentState = DeploymentView['state']
export type DeploymentsView = z.output<typeof deploymentsViewSchema>
export type DeploymentsViewQuery = z.output<typeof deploymentsViewQuerySchema>
export type ModelRow = z.output<typeof modelRowSchema>
export type ModelsView = z.output<typeof modelsViewSchema>
export type ModelsViewQuery = z.output<typeof modelsViewQuerySchema>
export type ModelView = z.output<typeof modelViewSchema>
export type TimelinePrice = z.output<typeof timelinePrice>
