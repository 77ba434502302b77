import { z } from 'zod'
import { hostedToolKinds } from './hosted-tools.ts'
import { queryInteger } from './query-integer.ts'

/** Usage, receipts and budgets. */

export const maximumUsageDays = 400
/** Rows of one page of usage. */
export const maximumUsageRows = 5_000
export const usageDimensions = ['day', 'model', 'surface', 'space'] as const

export const usd = z.string().describe('US dollars as an exact decimal.')
export const day = z.iso.date({ error: 'must be a day, YYYY-MM-DD' })
export const percentiles = z
  .object({ p50: z.number(), p95: z.number() })
  .nullable()
  .describe('Milliseconds, from a histogram: at most 10 % away from the exact value. null: nothing was measured.')
const surface = z.enum(['gateway', 'space_chat', 'embeddings'])
const tokens = {
  promptTokens: z.int().describe('Includes cached and cache-written tokens.'),
  completionTokens: z.int().describe('Includes reasoning tokens.'),
  cachedTokens: z.int(),
  cacheWriteTokens: z.int(),
  reasoningTokens: z.int(),
}

export const receiptParamsSchema = z.object({ requestId: z.string() })

export const receiptSchema = z
  .object({
    requestId: z.string(),
    organisationId: z.uuid(),
    surface,
    spaceId: z.uuid().nullable(),
    model: z.string(),
    deploymentId: z.string().nullable(),
    providerId: z.string().nullable(),
    hosting: z.string().nullable(),
    startedAt: z.iso.datetime(),
    settledAt: z.iso.datetime(),
    period: z.string().describe('First day of the budget period of the request.'),
    usage: z.object(tokens),
    unitPricesUsdPerToken: z.object({
      input: usd,
      output: usd,
      cacheRead: usd,
      cacheWrite: usd,
      reasoning: usd,
    }),
    toolUses: z
      .array(z.object({ kind: z.enum(hostedToolKinds), uses: z.int(), unitPriceUsd: usd, costUsd: usd }))
      .describe('Uses of tools that the provider ran, before markup. They are part of the cost.'),
    priceSource: z.string(),
    costBasis: z
      .enum(['tokens', 'stated', 'billed_units'])
      .describe('Tokens times prices, the cost stated by the provider, or billed units times prices.'),
    rawUsage: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe("The provider's numbers, if they have more detail than `usage`."),
    computation: z
      .object({
        lines: z.array(
          z.object({
            tokenClass: z.enum(['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning']),
            tokens: z.int().describe('Each token counts in one class.'),
            unitPriceUsd: usd,
            costUsd: usd,
          }),
        ),
        baseCostUsd: usd.describe('The sum of the lines, exact.'),
        markupUsd: usd.describe('Exact.'),
        totalUsd: usd.describe('Exact; rounded up to 12 decimals it is billed or written off.'),
      })
      .nullable()
      .describe('How the cost was computed. Null unless it was tokens times prices.'),
    baseCostUsd: usd.describe('Before markup. Rounded up for display; billing rounds only the total.'),
    markupPercent: z.string(),
    billedUsd: usd,
    writtenOffUsd: usd.describe('Cost above the rest of the budget; the operator pays it.'),
    estimated: z.boolean().describe('Portico counted the tokens because the provider sent no count.'),
    ending: z
      .string()
      .describe('completed, client_closed, provider_failed, budget_ended, shutdown, crashed or unanswered.'),
    finishReason: z.string().nullable(),
    firstTokenMs: z.int().nullable().describe('From the start of the call to the first text of a stream.'),
    failure: z.string().nullable().describe('Error code of a call that no provider answered.'),
    schemaMismatch: z
      .string()
      .nullable()
      .describe(
        'Keyword of the JSON Schema of the request that the answer breaks, such as `required`; `json`: the answer is no JSON.',
      ),
  })
  .meta({ id: 'Receipt' })

export const usageParamsSchema = z.object({ id: z.string() })

export const usageQuerySchema = z.object({
  from: day
    .optional()
    .describe('First day, in the time zone of the organisation. Default: the first day of the current period.'),
  to: day.optional().describe('Last day, inclusive. Default: today.'),
  by: z
    .string()
    .default('day')
    .transform((text) => text.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(usageDimensions)).min(1).max(usageDimensions.length))
    .describe('Any of day, model, surface and space, separated by commas.'),
  limit: queryInteger(1, maximumUsageRows).default(maximumUsageRows).describe('Rows of a page. CSV has all rows.'),
  cursor: z.string().max(2_000).optional().describe('`nextCursor` of the previous page.'),
  format: z.enum(['json', 'csv']).optional().describe('Default: the format in the Accept header, otherwise JSON.'),
})

export const usageRowSchema = z
  .object({
    day: day.optional(),
    model: z.string().optional(),
    surface: surface.optional(),
    spaceId: z.uuid().nullable().optional(),
    requests: z.int(),
    estimatedRequests: z.int(),
    ...tokens,
    billedUsd: usd,
    writtenOffUsd: usd,
  })
  .meta({ id: 'UsageRow' })

export const usageSchema = z
  .object({
    organisationId: z.uuid(),
    from: day,
    to: day,
    timeZone: z.string(),
    by: z.array(z.enum(usageDimensions)),
    rows: z.array(usageRowSchema).max(maximumUsageRows).describe('In the order of day, model, surface and Space.'),
    totals: usageRowSchema.describe('Of the whole range, on each page.'),
    nextCursor: z.string().nullable().describe('null: there are no more rows.'),
  })
  .meta({ id: 'Usage' })

export const budgetSchema = z
  .object({
    organisationId: z.uuid(),
    period: z.string(),
    periodEndsAt: z.iso.datetime(),
    budgetUsd: usd,
    spentUsd: usd,
    heldUsd: usd.describe('Held for calls that are running.'),
    leftUsd: usd.describe('Budget minus spent; not below zero.'),
    spentPercent: z.number().nullable().describe('Null if the budget is zero.'),
  })
  .meta({ id: 'Budget' })

export type ReceiptBody = z.infer<typeof receiptSchema>
export type UsageRow = z.infer<typeof usageRowSchema>
export type UsageBody = z.infer<typeof usageSchema>
export type BudgetBody = z.infer<typeof budgetSchema>
export type UsageDimension = (typeof usageDimensions)[number]
