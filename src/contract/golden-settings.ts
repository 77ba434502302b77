import { z } from 'zod'
import { metadataFilterSchema } from './metadata-filter.ts'
import { settingsVersionSchema } from './settings-version.ts'

/** How the golden questions of a Space run, and the gate before publishing. docs/use/golden-questions.md defines the measures. */

const share = z.number().min(0).max(1)

/** What a question must reach to pass; the others of its measures are for information. */
export const passingMeasures = ['retrievalRecall', 'citationPrecision', 'citationRecall', 'factShare'] as const
/** What the gate may require of a run. */
export const gateMeasures = [
  'passedShare',
  'retrievalHitRate',
  'retrievalRecall',
  'citationPrecision',
  'citationRecall',
  'factShare',
  'abstentionAccuracy',
] as const

const passing = z
  .strictObject({
    retrievalRecall: share.describe('Default 1: all expected documents are among the passages.'),
    citationPrecision: share.describe('Default 0: other documents may be cited as well.'),
    citationRecall: share.describe('Default 1: all expected documents are cited.'),
    factShare: share.describe('Default 1: the answer has all expected facts.'),
  })
  .describe('What a question must reach to pass.')

const time = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 02:30')

const schedule = z
  .union([
    z.strictObject({
      every: z.literal('day'),
      time,
    }),
    z.strictObject({
      every: z.literal('week'),
      weekday: z.int().min(1).max(7).describe('1: Monday.'),
      time,
    }),
    z
      .strictObject({ every: z.literal('change') })
      .describe('After a change of a published Space, once nothing has changed for half a minute.'),
  ])
  .nullable()
  .describe('When a run begins, in the time zone of the organisation. null (default): by hand only.')

const gate = z
  .strictObject({
    passedShare: share.describe('Share of the questions that passed.'),
    retrievalHitRate: share,
    retrievalRecall: share,
    citationPrecision: share,
    citationRecall: share,
    factShare: share,
    abstentionAccuracy: share,
  })
  .partial()
  .refine((minimums) => Object.values(minimums).some((value) => value !== undefined), {
    error: 'must have at least one measure',
  })
  .nullable()
  .describe(
    'Least values of a run before the Space may be published; a measure without a value in the run fails. null (default): no gate.',
  )

const settingsFields = {
  schedule,
  maximumCostUsd: z
    .number()
    .min(0)
    .max(1_000)
    .nullable()
    .describe('US dollars: a run that has cost this much begins no further question. Default 10; null: no limit.'),
  agentic: z.boolean().describe('Runs use the agentic workflow. Default false.'),
  filter: metadataFilterSchema
    .nullable()
    .describe(
      'The only documents that runs may use, as `service-document-filter`; needed in a Space with `requiredFilter`. Default null.',
    ),
  passing,
  gate,
}

export const updateGoldenSettingsSchema = z
  .strictObject({ ...settingsFields, passing: passing.partial() })
  .partial()
  .refine((body) => Object.values(body).some((value) => value !== undefined), { error: 'must have at least one field' })
  .meta({ id: 'UpdateGoldenSettings' })

export const goldenSettingsSchema = z
  .object({
    ...settingsFields,
    nextRunAt: z.iso.datetime().nullable().describe('By the schedule; null without a time.'),
    version: settingsVersionSchema,
  })
  .meta({ id: 'GoldenSettings' })

export type GoldenSettingsBody = z.output<typeof goldenSettingsSchema>
export type GoldenSettingsUpdate = z.output<typeof updateGoldenSettingsSchema>
