import type { GoldenRunMeasures, GoldenRunState, GoldenStopReason } from '../contract/golden-runs.ts'
import type { Database, Queryable } from '../database/index.ts'
import { AppError, isUuid, type OrganisationId, type SpaceId } from '../kernel/index.ts'
import { type Actor, recordAdminChange } from '../operators/index.ts'
import type { SpaceSnapshot } from './configuration.ts'
import type { GoldenContent } from './golden-question.ts'
import { type GoldenRun, maximumKeptRuns } from './golden-run.ts'
import { questionsPerPart } from './golden-transfer.store.ts'
import type { GoldenSettingValues } from './settings-change.ts'

export type GoldenRunStore = ReturnType<typeof createGoldenRunStore>

export interface NewGoldenRun {
  id: string
  spaceId: SpaceId
  organisationId: OrganisationId
  trigger: GoldenRun['trigger']
  space: SpaceSnapshot
  settings: GoldenSettingValues
  configuration: string
  questions: (GoldenContent & { id: string })[]
  createdAt: number
}

/** Counts of results by outcome, the cost, and the comparison with the completed run before. */
export interface RunCounts {
  total: number
  pending: number
  passed: number
  failed: number
  error: number
  skipped: number
  costPicoUsd: bigint
  comparison: { runId: string; worse: number; better: number; measures: GoldenRunMeasures } | null
}

export function createGoldenRunStore(database: Database) {
  return {
    /** Throws `space_not_found`, and `conflict` while a run of the Space has not ended. */
    insert: (run: NewGoldenRun, actor: Actor) => database.transaction((transaction) => insert(transaction, run, actor)),
    async find(spaceId: string, id: string): Promise<GoldenRun | undefined> {
      if (!isUuid(id)) return undefined
      const [row] = await database.query<Row>(`SELECT * FROM golden_runs WHERE space_id = $1 AND id = $2`, [
        spaceId,
        id,
      ])
      return row && toRun(row)
    },
    /** Newest first. */
    async loadPage(spaceId: string, { limit, offset }: { limit: number; offset: number }) {
      const [counted] = await database.query<{ total: bigint }>(
        `SELECT count(*) AS total FROM golden_runs WHERE space_id = $1`,
        [spaceId],
      )
      const rows = await database.query<Row>(
        `SELECT * FROM golden_runs WHERE space_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
        [spaceId, limit, offset],
      )
      return { total: Number(counted?.total ?? 0n), runs: rows.map(toRun) }
    },
    /** The newest completed run of a configuration. */
    async findCompleted(spaceId: string, configuration: string): Promise<GoldenRun | undefined> {
      const [row] = await database.query<Row>(
        `SELECT * FROM golden_runs WHERE space_id = $1 AND configuration = $2 AND state = 'completed'
          ORDER BY created_at DESC, id DESC LIMIT 1`,
        [spaceId, configuration],
      )
      return row && toRun(row)
    },
    loadCounts: (runIds: readonly string[]) => loadCounts(database, runIds),
    /** Runs that have not ended; their jobs may be missing after a crash. */
    loadActive: () =>
      database.query<{ id: string; spaceId: string; organisationId: string }>(
        `SELECT id, space_id AS "spaceId", organisation_id AS "organisationId" FROM golden_runs
          WHERE state IN ('queued', 'running') ORDER BY created_at LIMIT 1000`,
      ),
    /** The run, which is `running` from now on; undefined if it has ended or is gone. */
    async begin(id: string, nowMs: number): Promise<GoldenRun | undefined> {
      const [row] = await database.query<Row>(
        `UPDATE golden_runs SET state = 'running', started_at = coalesce(started_at, $2)
          WHERE id = $1 AND state IN ('queued', 'running') RETURNING *`,
        [id, new Date(nowMs)],
      )
      return row && toRun(row)
    },
    end: (id: string, ending: RunEnding) => database.transaction((transaction) => end(transaction, id, ending)),
    /** False: the run has ended or there is none. */
    cancel: ({ id, organisationId }: GoldenRun, actor: Actor, nowMs: number) =>
      database.transaction(async (transaction) => {
        if (!(await end(transaction, id, { state: 'cancelled', reason: null, measures: null, nowMs }))) return false
        await recordAdminChange(transaction, {
          actor,
          atMs: nowMs,
          action: 'golden_run.cancelled',
          subjectType: 'golden_run',
          subjectId: id,
          organisationId,
          before: null,
          after: null,
        })
        return true
      }),
  }
}

export interface RunEnding {
  state: Exclude<GoldenRunState, 'queued' | 'running'>
  reason: { code: GoldenStopReason; message: string } | null
  measures: GoldenRunMeasures | null
  nowMs: number
}

async function insert(transaction: Queryable, run: NewGoldenRun, actor: Actor): Promise<void> {
  const [space] = await transaction.query(`SELECT 1 FROM spaces WHERE id = $1 FOR NO KEY UPDATE`, [run.spaceId])
  if (!space) throw new AppError('space_not_found', `There is no Space ${run.spaceId}.`)
  const [active] = await transaction.query<{ id: string }>(
    `SELECT id FROM golden_runs WHERE space_id = $1 AND state IN ('queued', 'running')`,
    [run.spaceId],
  )
  if (active) {
    throw new AppError('conflict', `The run ${active.id} of this Space has not ended. Wait for it, or cancel it.`)
  }
  await transaction.execute(
    `INSERT INTO golden_runs (id, space_id, organisation_id, state, run_trigger, started_by, space, settings, configuration,
       previous_run_id, created_at)
     SELECT $1, $2, $3, 'queued', $4, $5, $6::jsonb, $7::jsonb, $8,
       (SELECT id FROM golden_runs WHERE space_id = $2 AND state = 'completed' ORDER BY created_at DESC, id DESC LIMIT 1), $9`,
    [
      run.id,
      run.spaceId,
      run.organisationId,
      run.trigger,
      actor.name,
      JSON.stringify(run.space),
      JSON.stringify(run.settings),
      run.configuration,
      new Date(run.createdAt),
    ],
  )
  for (let start = 0; start < run.questions.length; start += questionsPerPart) {
    await transaction.execute(
      `INSERT INTO golden_results (run_id, place, question_id, content, outcome)
       SELECT $1, $3::int4 + place::int4, (question->>'id')::uuid, question - 'id', 'pending'
         FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS given (question, place)`,
      [run.id, JSON.stringify(run.questions.slice(start, start + questionsPerPart)), start],
    )
  }
  await transaction.execute(
    `DELETE FROM golden_runs WHERE id IN (
       SELECT id FROM golden_runs WHERE space_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2)`,
    [run.spaceId, maximumKeptRuns],
  )
  await recordAdminChange(transaction, {
    actor,
    atMs: run.createdAt,
    action: 'golden_run.started',
    subjectType: 'golden_run',
    subjectId: run.id,
    organisationId: run.organisationId,
    before: null,
    after: { spaceId: run.spaceId, trigger: run.trigger, questions: run.questions.length, model: run.space.model },
  })
}

/** False: the run has ended already. Questions that are still pending become `skipped`. */
async function end(transaction: Queryable, id: string, ending: RunEnding): Promise<boolean> {
  const ended = await transaction.execute(
    `UPDATE golden_runs SET state = $2, reason_code = $3, reason = $4, measures = $5::jsonb, ended_at = $6
      WHERE id = $1 AND state IN ('queued', 'running')`,
    [
      id,
      ending.state,
      ending.reason?.code ?? null,
      ending.reason?.message ?? null,
      ending.measures === null ? null : JSON.stringify(ending.measures),
      new Date(ending.nowMs),
    ],
  )
  if (ended === 0) return false
  await transaction.execute(`UPDATE golden_results SET outcome = 'skipped' WHERE run_id = $1 AND outcome = 'pending'`, [
    id,
  ])
  return true
}

async function loadCounts(database: Database, runIds: readonly string[]): Promise<Map<string, RunCounts>> {
  const rows = await database.query<{
    runId: string
    outcomes: Record<string, number>
    cost: bigint
    previousId: string | null
    previous: GoldenRunMeasures | null
    worse: bigint
    better: bigint
  }>(
    `SELECT r.id AS "runId", p.id AS "previousId", p.measures AS previous,
       (SELECT jsonb_object_agg(outcome, n) FROM (
          SELECT outcome, count(*) AS n FROM golden_results WHERE run_id = r.id GROUP BY outcome) counted) AS outcomes,
       (SELECT coalesce(sum(cost_pico_usd), 0)::int8 FROM golden_results WHERE run_id = r.id) AS cost,
       (SELECT count(*) FROM golden_results c JOIN golden_results b ON b.run_id = p.id AND b.question_id = c.question_id
         WHERE c.run_id = r.id AND b.outcome = 'passed' AND c.outcome IN ('failed', 'error')) AS worse,
       (SELECT count(*) FROM golden_results c JOIN golden_results b ON b.run_id = p.id AND b.question_id = c.question_id
         WHERE c.run_id = r.id AND b.outcome IN ('failed', 'error') AND c.outcome = 'passed') AS better
     FROM golden_runs r LEFT JOIN golden_runs p ON p.id = r.previous_run_id AND r.ended_at IS NOT NULL
     WHERE r.id = ANY($1::uuid[])`,
    [runIds],
  )
  return new Map(
    rows.map(({ runId, outcomes, cost, previousId, previous, worse, better }) => {
      const of = (outcome: string) => outcomes[outcome] ?? 0
      const counts = {
        pending: of('pending'),
        passed: of('passed'),
        failed: of('failed'),
        error: of('error'),
        skipped: of('skipped'),
      }
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
      const comparison =
        previousId === null || previous === null
          ? null
          : { runId: previousId, worse: Number(worse), better: Number(better), measures: previous }
      return [runId, { total, ...counts, costPicoUsd: cost, comparison }]
    }),
  )
}

interface Row {
  id: string
  space_id: string
  organisation_id: string
  state: GoldenRunState
  reason_code: GoldenStopReason | null
  reason: string | null
  run_trigger: GoldenRun['trigger']
  started_by: string
  space: SpaceSnapshot
  settings: GoldenSettingValues
  configuration: string
  measures: GoldenRunMeasures | null
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
}

function toRun(row: Row): GoldenRun {
  return {
    id: row.id,
    spaceId: row.space_id as SpaceId,
    organisationId: row.organisation_id as OrganisationId,
    state: row.state,
    reason: row.reason_code === null ? null : { code: row.reason_code, message: row.reason ?? '' },
    trigger: row.run_trigger,
    startedBy: row.started_by,
    space: row.space,
    settings: row.settings,
    configuration: row.configuration,
    measures: row.measures,
    createdAt: row.created_at.getTime(),
    startedAt: row.started_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
  }
}
