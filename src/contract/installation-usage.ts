import { z } from 'zod'
import { day, percentiles, usd } from './usage.ts'
import { latencyFigures, maximumReportRows, maximumSeries } from './usage-reports.ts'

/** What operators see of the whole installation: spend, calls, errors and latency by day, organisation, provider, model and hosting. */

/** Longest range of a report. */
export const maximumInstallationDays = 92

export const installationSplits = ['organisation', 'provider', 'model', 'hosting'] as const
export type InstallationSplit = (typeof installationSplits)[number]

const count = z.int().min(0)
const name = z.string().max(200)

const filters = {
  from: day.optional().describe('First day. Default: 29 days before `to`.'),
  to: day
    .optional()
    .describe(`Last day, inclusive. Default: today in UTC. A report covers at most ${maximumInstallationDays} days.`),
  organisationId: z.uuid().optional(),
  provider: name.optional().describe('Empty: calls that reached no provider.'),
  model: name.optional(),
  hosting: name.optional(),
}

export const installationUsageQuerySchema = z.object({
  ...filters,
  split: z.enum(installationSplits).default('organisation'),
})

export const installationExportQuerySchema = z.object(filters)

const figures = {
  requests: count.describe('Calls with a receipt.'),
  failed: count.describe('Of these, calls that failed at a provider or in Portico.'),
  promptTokens: count,
  completionTokens: count,
  billedUsd: usd,
}

const valueSchema = z.object({
  id: z.string().nullable().describe('null: calls that reached no provider.'),
  label: z.string().nullable().describe('The name of an organisation; null: it was removed, or the split is another.'),
})

export const installationUsageSchema = z
  .object({
    from: day,
    to: day,
    split: z.enum(installationSplits),
    complete: z.boolean().describe('False while calls from before an upgrade are still being counted.'),
    totals: z.object(figures),
    previous: z.object(figures).describe('The same number of days before the range.'),
    month: z
      .object({
        startsOn: day,
        endsOn: day,
        spentUsd: usd,
        forecast: z
          .object({ expectedUsd: usd, lowUsd: usd, highUsd: usd, historyDays: count })
          .nullable()
          .describe(
            'At the end of the month; 80 % of the outcomes are expected between `lowUsd` and `highUsd`. null without a complete day.',
          ),
      })
      .describe('The running calendar month (UTC) of the whole installation, whatever the filters are.'),
    series: z.object({
      values: z.array(valueSchema).max(maximumSeries).describe('The values with the highest cost, highest first.'),
      days: z.array(
        z.object({
          day,
          billedUsd: usd,
          requests: count,
          failed: count,
          parts: z.array(z.object({ billedUsd: usd, requests: count })).describe('In the order of `values`.'),
        }),
      ),
    }),
    table: z.object({
      rows: z
        .array(
          valueSchema.extend({
            ...figures,
            totalMs: percentiles.describe('Until the end of an answer; null where it is not recorded.'),
          }),
        )
        .max(maximumReportRows)
        .describe('Highest cost first.'),
      other: z
        .object({ values: count, ...figures })
        .nullable()
        .describe('Everything that is not in `rows`.'),
    }),
    latency: z
      .object({ days: z.array(z.object({ day, ...latencyFigures })), all: z.object(latencyFigures) })
      .nullable()
      .describe('null: latencyFigures are not recorded by organisation together with provider or hosting.'),
    options: z
      .object({
        providers: z.array(z.string()).max(maximumReportRows),
        models: z.array(z.string()).max(maximumReportRows),
        hostings: z.array(z.string()).max(maximumReportRows),
      })
      .describe('What the range can be filtered by.'),
  })
  .meta({ id: 'InstallationUsage' })

export type InstallationUsage = z.output<typeof installationUsageSchema>
export type InstallationUsageQuery = z.output<typeof installationUsageQuerySchema>
export type InstallationExportQuery = z.output<typeof installationExportQuerySchema>
