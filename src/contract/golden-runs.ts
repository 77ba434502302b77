import { z } from 'zod'
import { goldenRegressionSchema } from './golden-questions.ts'
import { gateMeasures, passingMeasures } from './golden-settings.ts'
import { queryInteger } from './query-integer.ts'

/** Runs of golden questions: state, measures, results and the gate before publishing. docs/use/golden-questions.md defines the measures. */

const share = z.number().min(0).max(1)

export const goldenRunStates = ['queued', 'running', 'completed', 'cancelled', 'stopped', 'failed'] as const
/** Why a run ended before its last question. */
export const goldenStopReasons = [
  'cost_limit',
  'insufficient_quota',
  'subscription_required',
  'model_not_found',
  'internal_error',
] as const

const usd = z.string().describe('US dollars as an exact decimal.')
const average = (text: string) => share.nullable().describe(`${text} null: no question has it.`)

const runMeasuresSchema = z
  .object({
    passedShare: share.describe('Passed questions of all questions of the run.'),
    retrievalHitRate: average('Share of questions with an expected document among the passages.'),
    retrievalRecall: average('Mean share of the expected documents among the passages.'),
    meanReciprocalRank: average('Mean of 1 / rank of the first expected document among the documents of the passages.'),
    citationPrecision: average('Mean share of the cited documents that are expected.'),
    citationRecall: average('Mean share of the expected documents that are cited.'),
    factShare: average('Mean share of the expected facts that the answer has.'),
    tokenF1: average('Mean F1 of the words of the answer and of the expected facts.'),
    abstentionAccuracy: average('Share of questions that abstain exactly when they must.'),
    latencyP50Ms: z.int().nullable(),
    latencyP95Ms: z.int().nullable(),
  })
  .meta({ id: 'GoldenRunMeasures' })

export const goldenRunSchema = z
  .object({
    id: z.uuid(),
    spaceId: z.uuid(),
    state: z
      .enum(goldenRunStates)
      .describe('`stopped`: ended by a limit; `failed`: ended by an error of the service. `reason` states which.'),
    reason: z
      .object({ code: z.enum(goldenStopReasons), message: z.string() })
      .nullable()
      .describe('Why a run is `stopped` or `failed`.'),
    trigger: z.enum(['manual', 'schedule']).describe('`schedule`: by its time or after a change.'),
    startedBy: z.string().describe('The email of a person, `operator` or, by a schedule, `service`.'),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    endedAt: z.iso.datetime().nullable(),
    model: z.string().describe('The model of the Space when the run was created.'),
    agentic: z.boolean(),
    maximumCostUsd: z.number().nullable(),
    costUsd: usd,
    questions: z
      .object({ total: z.int(), pending: z.int(), passed: z.int(), failed: z.int(), error: z.int(), skipped: z.int() })
      .describe('`error`: no answer was made; `skipped`: the run ended before them.'),
    measures: runMeasuresSchema.nullable().describe('null until the run has ended.'),
    isCurrent: z
      .boolean()
      .describe(
        'The instructions, the model, the settings, the documents and the golden questions are as they were at its start.',
      ),
    comparison: z
      .object({
        runId: z.uuid(),
        worse: z.int().describe('Questions that passed in that run and not in this one.'),
        better: z.int().describe('Questions that pass in this run and did not in that one.'),
        measures: runMeasuresSchema,
      })
      .nullable()
      .describe('With the completed run before this one; null if there is none, or the run has not ended.'),
  })
  .meta({ id: 'GoldenRun' })

export const listGoldenRunsQuerySchema = z.object({
  limit: queryInteger(1, 50).default(20),
  offset: queryInteger(0, 1_000).default(0),
})

export const goldenRunPageSchema = z
  .object({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    regression: goldenRegressionSchema,
    items: z.array(goldenRunSchema).describe('Newest first.'),
  })
  .meta({ id: 'GoldenRunPage' })

export const goldenRunParamsSchema = z.object({ id: z.string(), runId: z.string() })

export const goldenResultsQuerySchema = z.object({
  limit: queryInteger(1, 100).default(50),
  offset: queryInteger(0, 1_000).default(0),
  only: z
    .enum(['not_passed', 'worse'])
    .optional()
    .describe('`worse`: passed in the run of the comparison and not in this one.'),
})

const namedDocument = z.object({ id: z.uuid(), name: z.string() })

export const goldenResultSchema = z
  .object({
    questionId: z.uuid().describe('The golden question may have been changed or deleted since.'),
    messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() })),
    mustAbstain: z.boolean(),
    outcome: z.enum(['pending', 'passed', 'failed', 'error', 'skipped']),
    failedMeasures: z
      .array(z.enum(['abstention', ...passingMeasures]))
      .describe('What the question did not reach; not empty if it failed.'),
    error: z.string().nullable().describe('The code of the error, if no answer was made.'),
    previous: z
      .enum(['passed', 'failed', 'error', 'skipped'])
      .nullable()
      .describe('The outcome in the run of the comparison; null if the question was not in it.'),
    answer: z.string().nullable().describe('At most 4000 characters of it, with markers.'),
    expectedDocuments: z.array(
      namedDocument.extend({
        rank: z.int().nullable().describe('Among the documents of the passages, from 1; null: not found.'),
        isCited: z.boolean(),
      }),
    ),
    expectedFacts: z.array(z.object({ text: z.string(), isFound: z.boolean() })),
    retrievedDocuments: z.array(namedDocument).describe('In the order of their best passage; at most 100.'),
    citedDocuments: z.array(namedDocument),
    measures: z
      .object({
        retrievalHit: z.boolean().nullable(),
        retrievalRecall: share.nullable(),
        reciprocalRank: share.nullable(),
        citationPrecision: share.nullable(),
        citationRecall: share.nullable(),
        factShare: share.nullable(),
        tokenF1: share.nullable(),
        isAbstention: z.boolean(),
        milliseconds: z.int(),
      })
      .nullable()
      .describe('null where no answer was made. A null in it: the question has nothing to measure.'),
    costUsd: usd,
    requestId: z.string().nullable().describe('Of the receipt of the first call of the model.'),
  })
  .meta({ id: 'GoldenResult' })

export const goldenResultPageSchema = z
  .object({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    items: z.array(goldenResultSchema).describe('In the order of the golden questions.'),
  })
  .meta({ id: 'GoldenResultPage' })

export const publicationGateSchema = z
  .object({
    isPassed: z.boolean().describe('Publishing is possible without an override. Also true without a gate.'),
    problem: z.string().nullable().describe('What publishing would report.'),
    runId: z.uuid().nullable().describe('The last completed run of the current configuration.'),
    measures: z.array(
      z.object({ measure: z.enum(gateMeasures), value: share.nullable(), minimum: share, isPassed: z.boolean() }),
    ),
  })
  .meta({ id: 'PublicationGate' })

export type GoldenRunBody = z.output<typeof goldenRunSchema>
export type GoldenRunMeasures = z.output<typeof runMeasuresSchema>
export type GoldenRunState = (typeof goldenRunStates)[number]
export type GoldenStopReason = (typeof goldenStopReasons)[number]
export type GoldenResultBody = z.output<typeof goldenResultSchema>
export type GoldenResultsQuery = z.output<typeof goldenResultsQuerySchema>
export type PublicationGateBody = z.output<typeof publicationGateSchema>
