import { z } from 'zod'

/** Usage, receipts and budgets: what was spent, on what, at which prices. */

export const maximumUsageDays = 400
export const usageDimensions = ['day', 'model', 'surface', 'space'] as const

const decimalUsd = z.string().describe('US dollars as an exact decimal.')
const surface = z.enum(['gateway', 'space_chat', 'embeddings'])
const tokens = {
  promptTokens: z.int().describe('Counts cached and cache-written tokens.'),
  completionTokens: z.int().describe('Counts reasoning tokens.'),
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
    period: z.string().describe('First day of the budget period that the request counts in.'),
    usage: z.object(tokens),
    unitPricesUsdPerToken: z.object({
      input: decimalUsd,
      output: decimalUsd,
      cacheRead: decimalUsd,
      cacheWrite: decimalUsd,
      reasoning: decimalUsd,
    }),
    priceSource: z.string(),
    costBasis: z
      .enum(['tokens', 'stated', 'billed_units'])
      .describe('Tokens times prices, the cost that the provider states, or the units that it bills times prices.'),
    rawUsage: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe("The provider's own numbers, where they say more than `usage`."),
    baseCostUsd: decimalUsd.describe('Before markup; rounded up for display, billing rounds only the total.'),
    markupPercent: z.string(),
    billedUsd: decimalUsd,
    writtenOffUsd: decimalUsd.describe('Cost above what the budget could bear; carried by the operator.'),
    estimated: z.boolean().describe('The tokens were counted here, because the provider sent no count.'),
    ending: z
      .string()
      .describe('completed, client_closed, provider_failed, budget_ended, shutdown, crashed or unanswered.'),
    finishReason: z.string().nullable(),
  })
  .meta({ id: 'Receipt' })

const day = z.iso.date({ error: 'must be a day, YYYY-MM-DD' })

export const usageParamsSchema = z.object({ id: z.string() })

export const usageQuerySchema = z.object({
  from: day
    .optional()
    .describe('First day, in the time zone of the organisation; default: the first of the running period.'),
  to: day.optional().describe('Last day, included; default: today.'),
  by: z
    .string()
    .default('day')
    .transform((text) => text.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(usageDimensions)).min(1).max(usageDimensions.length))
    .describe('Any of day, model, surface and space, separated by commas.'),
  format: z.enum(['json', 'csv']).optional().describe('Default: what the Accept header asks for, else JSON.'),
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
    billedUsd: decimalUsd,
    writtenOffUsd: decimalUsd,
  })
  .meta({ id: 'UsageRow' })

export const usageSchema = z
  .object({
    organisationId: z.uuid(),
    from: day,
    to: day,
    timeZone: z.string(),
    by: z.array(z.enum(usageDimensions)),
    rows: z.array(usageRowSchema),
    totals: usageRowSchema,
  })
  .meta({ id: 'Usage' })

export const budgetSchema = z
  .object({
    organisationId: z.uuid(),
    period: z.string(),
    periodEndsAt: z.iso.datetime(),
    budgetUsd: decimalUsd,
    spentUsd: decimalUsd,
    heldUsd: decimalUsd.describe('Set aside for calls that run now.'),
    leftUsd: decimalUsd.describe('Budget less what was spent; never below zero.'),
    spentPercent: z.number().nullable().describe('Null where the budget is zero.'),
  })
  .meta({ id: 'Budget' })

export type ReceiptBody = z.infer<typeof receiptSchema>
export type UsageRow = z.infer<typeof usageRowSchema>
export type UsageBody = z.infer<typeof usageSchema>
export type BudgetBody = z.infer<typeof budgetSchema>
export type UsageDimension = (typeof usageDimensions)[number]
