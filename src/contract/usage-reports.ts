import { z } from 'zod'
import { alertSchema } from './alerts.ts'
import { queryInteger } from './query-integer.ts'
import { settingsVersionSchema } from './settings-version.ts'
import { budgetSchema, day, maximumUsageDays, percentiles, usd } from './usage.ts'

/** The console's usage page: one report of a range of days, a table of it as CSV, and single requests. */

export const usageSurfaces = ['gateway', 'space_chat', 'embeddings'] as const

/** Ends of a call as the ledger records them; docs/understand/ledger.md explains each. */
export const usageEndings = [
  'completed',
  'client_closed',
  'provider_failed',
  'budget_ended',
  'shutdown',
  'crashed',
  'unanswered',
] as const

/** Rows of the table in a report; the CSV file has more. */
export const maximumReportRows = 100
/** Rows of the CSV file. */
export const maximumExportRows = 10_000
/** Lines of a chart, without the one of all other values. */
export const maximumSeries = 8
/** Days of latencies in a report: the last ones of its range. */
export const latencyDays = 92

/** Documents, Spaces and questions in a report. */
export const maximumInsightRows = 20

/** Limits of tags: `user` and `metadata` of completions. */
export const usageTagLimits = {
  /** Longer values are cut. */
  valueCharacters: 128,
  keyCharacters: 64,
  /** Different keys of one organisation, `user` included. Later ones are not recorded. */
  keysPerOrganisation: 20,
  /** Different values of one key within one day. Later ones are counted together. */
  valuesPerKeyAndDay: 1_000,
  /** A report by a tag covers at most these days. */
  reportDays: 92,
} as const

const count = z.int().min(0)
const surface = z.enum(usageSurfaces)
/** `user`, or `metadata.` and the key of a pair. */
const tagKey = z
  .string()
  .regex(/^(?:user|metadata\.[^\0]+)$/, 'must be `user` or `metadata.` with a key')
  .max('metadata.'.length + usageTagLimits.keyCharacters)

const split = z.union([z.enum(['model', 'surface', 'space']), tagKey], {
  error: 'must be model, surface, space, user, or `metadata.` with a key',
})

const filters = {
  from: day
    .optional()
    .describe('First day, in the time zone of the organisation. Default: the first day of the current budget period.'),
  to: day.optional().describe(`Last day, inclusive. Default: today. At most ${maximumUsageDays} days.`),
  model: z.string().max(200).optional(),
  surface: surface.optional(),
  spaceId: z
    .union([z.uuid(), z.literal('none')])
    .optional()
    .describe('`none`: calls outside of Spaces.'),
  tagKey: tagKey.optional().describe('Only calls with this tag; needs `tagValue`.'),
  tagValue: z.string().max(usageTagLimits.valueCharacters).optional(),
}

function hasBothTagFields({ tagKey, tagValue }: { tagKey?: string | undefined; tagValue?: string | undefined }) {
  return (tagKey === undefined) === (tagValue === undefined)
}
const bothTagFields = { error: '`tagKey` and `tagValue` belong together', path: ['tagValue'] }

export const usageReportParamsSchema = z.object({ id: z.string() })

export const usageReportQuerySchema = z
  .object({ ...filters, split: split.default('model') })
  .refine(hasBothTagFields, bothTagFields)

export const usageRequestsQuerySchema = z
  .object({
    ...filters,
    ending: z
      .enum([...usageEndings, 'failed'])
      .optional()
      .describe('`failed`: every ending with a failure.'),
    cursor: z.string().max(200).optional().describe('`nextCursor` of the previous page.'),
    limit: queryInteger(1, 100).default(50),
  })
  .refine(hasBothTagFields, bothTagFields)

const figures = {
  requests: count.describe('Calls with a receipt.'),
  failed: count.describe('Of these, calls that failed at a provider or in Portico.'),
  promptTokens: count,
  completionTokens: count,
  cachedTokens: count,
  reasoningTokens: count,
  billedUsd: usd,
}

const usageBudgetSchema = budgetSchema
  .omit({ organisationId: true })
  .extend({ period: day, periodStartsAt: z.iso.datetime() })
  .meta({ id: 'UsageBudget' })

const forecastSchema = z
  .object({
    expectedUsd: usd.describe('Spent so far, plus the usual spend of each day until the end of the period.'),
    lowUsd: usd.describe('80 % of the outcomes are expected between `lowUsd` and `highUsd`.'),
    highUsd: usd,
    historyDays: count.describe('Complete days behind the forecast, at most 28.'),
    exhaustedOn: day.nullable().describe('Day on which the budget is expected to end; null: not in this period.'),
  })
  .meta({ id: 'UsageForecast' })

const paceSchema = z.object({
  spentUsd: usd,
  usualUsd: usd
    .nullable()
    .describe('The mean of the same hours on the days before, at most 28; null with less than 3 days of history.'),
  ratio: z.number().nullable().describe('`spentUsd` divided by `usualUsd`.'),
})

const velocitySchema = z
  .object({
    level: z
      .enum(['normal', 'elevated', 'alarm'])
      .describe(
        '`elevated`: the last hour or the last 24 hours cost more than 3 times what is usual. `alarm`: more than 6 times. Both only if that is more than 1 % of the budget. Also `alarm`: the budget ends within 24 hours, and before its period does, at the rate of the last hour.',
      ),
    lastHour: paceSchema,
    lastDay: paceSchema,
    exhaustedAt: z.iso
      .datetime()
      .nullable()
      .describe('When the budget ends at the rate of the last hour; null: not in this period.'),
  })
  .meta({ id: 'UsageVelocity' })

/** A value of the dimension: a model, a surface, a Space or the value of a tag. */
const valueSchema = z.object({
  id: z.string().nullable().describe('null: calls without a value, such as calls outside of Spaces.'),
  label: z.string().nullable().describe('The name of a Space; null where there is none.'),
})

const tableRowSchema = valueSchema.extend(figures).meta({ id: 'UsageTableRow' })

export const latencyFigures = { requests: count, firstTokenMs: percentiles, totalMs: percentiles }

const options = z
  .object({
    models: z.array(z.string()).max(maximumReportRows),
    spaces: z.array(z.object({ id: z.uuid(), name: z.string().nullable() })).max(maximumReportRows),
    tagKeys: z.array(z.string()).max(usageTagLimits.keysPerOrganisation),
  })
  .describe('What the range can be filtered by.')

export const usageReportSchema = z
  .object({
    organisationId: z.uuid(),
    from: day,
    to: day,
    timeZone: z.string(),
    split: z.string(),
    complete: z.boolean().describe('False while calls from before an upgrade are still being counted.'),
    budget: usageBudgetSchema.nullable().describe('null for a removed organisation.'),
    forecast: forecastSchema.nullable().describe('null without a budget period or without a complete day of usage.'),
    velocity: velocitySchema.nullable(),
    totals: z.object(figures),
    previous: z.object(figures).describe('The same number of days before the range.'),
    series: z.object({
      values: z.array(valueSchema).max(maximumSeries).describe('The values with the highest cost, highest first.'),
      days: z.array(
        z.object({
          day,
          billedUsd: usd,
          requests: count,
          parts: z
            .array(z.object({ billedUsd: usd, requests: count }))
            .describe('In the order of `values`. The rest of the day belongs to all other values.'),
        }),
      ),
    }),
    table: z.object({
      rows: z.array(tableRowSchema).max(maximumReportRows).describe('Highest cost first.'),
      other: z
        .object({ values: count.nullable().describe('Number of other values, where it is known.'), ...figures })
        .nullable()
        .describe('Everything that is not in `rows`; null: nothing.'),
    }),
    latency: z.object({
      from: day.describe(`Latencies are those of the last ${latencyDays} days of the range.`),
      days: z.array(z.object({ day, ...latencyFigures })),
      models: z.array(z.object({ model: z.string(), ...latencyFigures })).max(maximumReportRows),
    }),
    errors: z.object({
      days: z.array(
        z.object({
          day,
          calls: count.describe('Calls with a receipt, and refused calls.'),
          failed: count.describe('Calls with a receipt that failed.'),
          refused: count.describe('Calls that were refused before they reached a provider.'),
        }),
      ),
      codes: z.array(z.object({ code: z.string(), refused: z.boolean(), requests: count })).max(maximumReportRows),
      models: z
        .array(z.object({ model: z.string().nullable(), failed: count, refused: count }))
        .max(maximumReportRows)
        .describe('`model` null: calls with a name that is not that of a model.'),
    }),
    options,
    alerts: z.array(alertSchema).describe('Open budget alerts of the organisation.'),
    recordsTags: z.boolean().describe('False: `user` and `metadata` of calls are not recorded.'),
    settingsVersion: settingsVersionSchema.nullable().describe('Of the organisation’s settings; null: it was removed.'),
    topDocuments: z
      .array(
        z.object({
          documentId: z.uuid(),
          spaceId: z.uuid(),
          spaceName: z.string().nullable(),
          name: z.string(),
          citations: count,
        }),
      )
      .max(maximumInsightRows)
      .describe('How many answers of published chats had the document as a reference. Most first.'),
    unanswered: z
      .array(
        z.object({
          spaceId: z.uuid(),
          spaceName: z.string().nullable(),
          answers: count.describe('Complete answers of the published chat.'),
          unanswered: count.describe('Of these, answers without a reference.'),
        }),
      )
      .max(maximumInsightRows)
      .describe('Most unanswered first.'),
    unansweredQuestions: z
      .array(
        z.object({
          spaceId: z.uuid(),
          spaceName: z.string().nullable(),
          question: z.string(),
          count: count.describe('How often it was asked in the last 90 days.'),
          lastAskedAt: z.iso.datetime(),
        }),
      )
      .max(maximumInsightRows)
      .describe('Only of Spaces with the setting `keepUnansweredQuestions`. Newest first.'),
  })
  .meta({ id: 'UsageReport' })

export const usageRequestSchema = z
  .object({
    requestId: z.string(),
    startedAt: z.iso.datetime(),
    durationMs: count,
    firstTokenMs: count.nullable(),
    surface,
    spaceId: z.uuid().nullable(),
    spaceName: z.string().nullable(),
    model: z.string(),
    hosting: z.string().nullable(),
    promptTokens: count,
    completionTokens: count,
    billedUsd: usd,
    estimated: z.boolean(),
    ending: z.string(),
    failure: z.string().nullable().describe('Error code of a call that failed.'),
    schemaMismatch: z
      .string()
      .nullable()
      .describe('Keyword of the JSON Schema of the request that the answer breaks; `json`: it is no JSON.'),
    tags: z.array(z.object({ key: z.string(), value: z.string() })),
  })
  .meta({ id: 'UsageRequest' })

export const usageRequestPageSchema = z
  .object({
    items: z.array(usageRequestSchema).max(100).describe('Newest first.'),
    options: options.optional().describe('On the first page only.'),
    nextCursor: z
      .string()
      .nullable()
      .describe(
        'null: there are no more. A page can be short, and even empty, although more follow: a search reads a bounded number of calls.',
      ),
    searchedTo: z.iso.datetime().describe('Every matching call since this time was listed by now.'),
    removedTo: z.iso
      .datetime()
      .nullable()
      .describe(
        'Single calls that began before this time are removed (`ledger.keepEntriesDays`); the sums of reports still have them. null: no call of the range is.',
      ),
  })
  .meta({ id: 'UsageRequestPage' })

export type UsageReportQuery = z.output<typeof usageReportQuerySchema>
export type UsageRequestsQuery = z.output<typeof usageRequestsQuerySchema>
export type UsageReport = z.output<typeof usageReportSchema>
export type UsageRequest = z.output<typeof usageRequestSchema>
export type UsageRequestPage = z.output<typeof usageRequestPageSchema>
