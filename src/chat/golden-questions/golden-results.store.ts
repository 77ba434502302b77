import type { GoldenResultBody, GoldenResultsQuery } from '../../contract/golden-runs.ts'
import { countRows, type OwnedDatabase } from '../../platform/database/index.ts'
import type { NamedDocument } from '../../documents/documents/index.ts'
import type { GoldenContent } from './golden-question.ts'
import type { MeasuredAnswer } from './measure-answer.ts'
import type { MeasuredQuestion } from './summarise-run.ts'

export type GoldenResultStore = ReturnType<typeof createGoldenResultStore>

/** A question that a run asks now. */
export interface BegunQuestion {
  /** How often it was begun, this time included. */
  attempts: number
  content: GoldenContent
}

/** What an answer left, apart from its text. */
export interface ResultDetail extends MeasuredAnswer {
  retrieved: NamedDocument[]
  cited: NamedDocument[]
}

export type NewResult = { costPicoUsd: bigint } & (
  | { outcome: 'passed' | 'failed'; answer: string; detail: ResultDetail }
  | { outcome: 'error'; error: string }
)

export interface GoldenResult {
  questionId: string
  content: GoldenContent
  outcome: GoldenResultBody['outcome']
  previous: Exclude<GoldenResultBody['outcome'], 'pending'> | null
  error: string | null
  answer: string | null
  detail: ResultDetail | null
  costPicoUsd: bigint
  requestId: string | null
}

export function createGoldenResultStore(database: OwnedDatabase) {
  return {
    /** The places of the questions without a result, in order. */
    async loadPending(runId: string): Promise<number[]> {
      const rows = await database.query<{ place: number }>(
        `SELECT place FROM golden_results WHERE run_id = $1 AND outcome = 'pending' ORDER BY place`,
        [runId],
      )
      return rows.map(({ place }) => place)
    },
    /** The money that the results of a run have cost so far. */
    async loadCost(runId: string): Promise<bigint> {
      const [row] = await database.query<{ cost: bigint }>(
        `SELECT coalesce(sum(cost_pico_usd), 0)::int8 AS cost FROM golden_results WHERE run_id = $1`,
        [runId],
      )
      return row!.cost
    },
    /** Undefined: the question has a result, or its run has ended. */
    async begin(runId: string, place: number, requestId: string): Promise<BegunQuestion | undefined> {
      const [row] = await database.query<BegunQuestion>(
        `UPDATE golden_results SET attempts = attempts + 1, request_id = $3
          WHERE run_id = $1 AND place = $2 AND outcome = 'pending' RETURNING attempts, content`,
        [runId, place, requestId],
      )
      return row
    },
    /** False: the question has a result already, or its run has ended. */
    async record(runId: string, place: number, result: NewResult): Promise<boolean> {
      const isAnswered = result.outcome !== 'error'
      const updated = await database.execute(
        `UPDATE golden_results SET outcome = $3, error = $4, answer = $5, detail = $6::jsonb, cost_pico_usd = $7
          WHERE run_id = $1 AND place = $2 AND outcome = 'pending'`,
        [
          runId,
          place,
          result.outcome,
          isAnswered ? null : result.error,
          isAnswered ? result.answer : null,
          isAnswered ? JSON.stringify(result.detail) : null,
          result.costPicoUsd,
        ],
      )
      return updated > 0
    },
    async loadMeasured(runId: string): Promise<MeasuredQuestion[]> {
      const rows = await database.query<{
        outcome: string
        mustAbstain: boolean
        measures: MeasuredQuestion['measures']
      }>(
        `SELECT outcome, (content->>'mustAbstain')::bool AS "mustAbstain", detail->'measures' AS measures
           FROM golden_results WHERE run_id = $1 ORDER BY place`,
        [runId],
      )
      return rows.map(({ outcome, ...row }) => ({ isPassed: outcome === 'passed', ...row }))
    },
    loadPage: (runId: string, query: GoldenResultsQuery) => loadPage(database, runId, query),
  }
}

async function loadPage(database: OwnedDatabase, runId: string, { limit, offset, only = null }: PageQuery) {
  const matching = `golden_results c
      JOIN golden_runs r ON r.id = c.run_id
      LEFT JOIN golden_results b ON b.run_id = r.previous_run_id AND b.question_id = c.question_id AND r.ended_at IS NOT NULL
    WHERE c.run_id = $1 AND ($2::text IS NULL OR ($2::text = 'not_passed' AND c.outcome <> 'passed')
      OR ($2::text = 'worse' AND c.outcome IN ('failed', 'error') AND b.outcome = 'passed'))`
  const total = await countRows(database, matching, [runId, only])
  const results = await database.query<GoldenResult>(
    `SELECT c.question_id AS "questionId", c.content, c.outcome, b.outcome AS previous, c.error, c.answer, c.detail,
       c.cost_pico_usd AS "costPicoUsd", c.request_id AS "requestId"
     FROM ${matching} ORDER BY c.place LIMIT $3 OFFSET $4`,
    [runId, only, limit, offset],
  )
  return { total, results }
}

type PageQuery = Omit<GoldenResultsQuery, 'only'> & { only?: GoldenResultsQuery['only'] | null }
