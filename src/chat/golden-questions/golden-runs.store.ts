import { addToOutbox } from '../../gateway/billing/index.ts'
import type { GoldenRunMeasures, GoldenRunState, GoldenStopReason } from '../../contract/golden-runs.ts'
import { countRows, type OwnedDatabase, type Queryable, type Stored } from '../../platform/database/index.ts'
import { AppError, createUuid, isUuid, type OrganisationId, type SpaceId } from '../../platform/kernel/index.ts'
import { type Actor, recordAdminChange } from '../../tenants/operators/index.ts'
import { lockSpace } from '../spaces/index.ts'
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

export function createGoldenRunStore(database: OwnedDatabase) {
  return {
    /** Throws `space_not_found`, and `conflict` while a run of the Space has not ended. */
    insert: (run: NewGoldenRun, actor: Actor) => database.transaction((transaction) => insert(transaction, run, actor)),
    async find(spaceId: string, id: string): Promise<GoldenRun | undefined> {
      if (!isUuid(id)) return undefined
      const [row] = await database.query<Row>(`SELECT ${runColumns} FROM golden_runs WHERE space_id = $1 AND id = $2`, [
        spaceId,
        id,
      ])
      return row && toRun(row)
    },
    /** Newest first. */
    async loadPage(spaceId: string, { limit, offset }: { limit: number; offset: number }) {
      const total = await countRows(database, 'golden_runs WHERE space_id = $1', [spaceId])
      const rows = await database.query<Row>(
        `SELECT ${runColumns} FROM golden_runs WHERE space_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
        [spaceId, limit, offset],
      )
      return { total, runs: rows.map(toRun) }
    },
    /** The newest completed run of a configuration. */
    async findCompleted(spaceId: string, configuration: string): Promise<GoldenRun | undefined> {
      const [row] = await database.query<Row>(
        `SELECT ${runColumns} FROM golden_runs WHERE space_id = $1 AND configuration = $2 AND state = 'completed'
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
          WHERE id = $1 AND state IN ('queued', 'running') RETURNING ${runColumns}`,
        [id, new Date(nowMs)],
      )
      return row && toRun(row)
    },
    /** Ends a run once; undefined: it has ended or there is none. A scheduled run that got worse is an event for the webhook. */
    end: (id: string, ending: RunEnding) => database.transaction((transaction) => end(transaction, id, ending)),
    loadRegression: (spaceId: string) => loadRegression(database, spaceId),
    /** False: the run has ended or there is none. */
    cancel: ({ id, spaceId, organisationId }: GoldenRun, actor: Actor, nowMs: number) =>
      database.transaction(async (transaction) => {
        if (!(await end(transaction, id, { state: 'cancelled', reason: null, measures: null, nowMs }))) return false
        await recordAdminChange(transaction, {
          actor,
          atMs: nowMs,
          action: 'golden_run.cancelled',
          subjectType: 'golden_run',
          subjectId: id,
          organisationId,
          after: { spaceId },
        })
        return true
      }),
  }
}

/** Questions of a scheduled run that got worse and have not passed since. */
export interface Regression {
  runId: string
  endedAt: number
  worse: number
}

export interface EndedRun {
  id: string
  spaceId: SpaceId
  organisationId: OrganisationId
  trigger: GoldenRun['trigger']
  previousRunId: string | null
  /** Questions that passed in the run before and not in this one; null: not compared. */
  worse: number | null
}

/** A scheduled run that nobody watched and that found something. */
export const isRegression = ({ trigger, worse }: Pick<EndedRun, 'trigger' | 'worse'>) =>
  trigger === 'schedule' && worse !== null && worse > 0

export interface RunEnding {
  state: Exclude<GoldenRunState, 'queued' | 'running'>
  reason: { code: GoldenStopReason; message: string } | null
  measures: GoldenRunMeasures | null
  nowMs: number
}

async function insert(transaction: Queryable, run: NewGoldenRun, actor: Actor): Promise<void> {
  await lockSpace(transaction, run.spaceId)
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
    after: { spaceId: run.spaceId, trigger: run.trigger, questions: run.questions.length, model: run.space.model },
  })
}

/** Questions that are still pending become `skipped`. */
async function end(transaction: Queryable, id: string, ending: RunEnding): Promise<EndedRun | undefined> {
  const [ended] = await transaction.query<EndedRun>(
    `UPDATE golden_runs r SET state = $2, reason_code = $3, reason = $4, measures = $5::jsonb, ended_at = $6,
       worse = CASE WHEN $2 = 'completed' AND previous_run_id IS NOT NULL THEN (${countWorse}) END
      WHERE id = $1 AND state IN ('queued', 'running')
      RETURNING id, space_id AS "spaceId", organisation_id AS "organisationId", run_trigger AS trigger, worse,
        previous_run_id AS "previousRunId"`,
    [
      id,
      ending.state,
      ending.reason?.code ?? null,
      ending.reason?.message ?? null,
      ending.measures === null ? null : JSON.stringify(ending.measures),
      new Date(ending.nowMs),
    ],
  )
  if (!ended) return undefined
  await transaction.execute(`UPDATE golden_results SET outcome = 'skipped' WHERE run_id = $1 AND outcome = 'pending'`, [
    id,
  ])
  if (isRegression(ended)) await addToOutbox(transaction, regressionEvent(ended, ending))
  return ended
}

/** Of the run `r`: questions that passed in the run before it and not in this one. */
const countWorse = `SELECT count(*)::int4 FROM golden_results c
   JOIN golden_results b ON b.run_id = r.previous_run_id AND b.question_id = c.question_id
   WHERE c.run_id = r.id AND b.outcome = 'passed' AND c.outcome IN ('failed', 'error')`

/** The signed message to the organisation's webhook; docs/use/golden-questions.md describes it. */
function regressionEvent(run: EndedRun, { measures, nowMs }: RunEnding) {
  const type = 'golden_run.got_worse'
  const eventId = createUuid(nowMs)
  const body = {
    id: eventId,
    type,
    createdAt: new Date(nowMs).toISOString(),
    organisationId: run.organisationId,
    spaceId: run.spaceId,
    runId: run.id,
    previousRunId: run.previousRunId,
    worse: run.worse,
    passedShare: measures?.passedShare ?? null,
  }
  return { eventId, organisationId: run.organisationId, kind: type, body: JSON.stringify(body) }
}

/**
 * The newest scheduled run that got worse, with the questions that have not passed since: those that the newest completed run of the
 * Space has not answered well either.
 */
async function loadRegression(database: OwnedDatabase, spaceId: string): Promise<Regression | undefined> {
  const [row] = await database.query<{ runId: string; endedAt: Date; worse: number }>(
    `SELECT * FROM (
       SELECT r.id AS "runId", r.ended_at AS "endedAt", (${countWorse} AND EXISTS (
           SELECT 1 FROM golden_results l WHERE l.run_id = newest.id AND l.question_id = c.question_id
             AND l.outcome IN ('failed', 'error'))) AS worse
         FROM golden_runs r, (SELECT id FROM golden_runs WHERE space_id = $1 AND state = 'completed'
           ORDER BY created_at DESC, id DESC LIMIT 1) newest
        WHERE r.space_id = $1 AND r.run_trigger = 'schedule' AND r.worse > 0
        ORDER BY r.created_at DESC, r.id DESC LIMIT ${maximumComparedRuns}) compared
      WHERE worse > 0 LIMIT 1`,
    [spaceId],
  )
  return row && { ...row, endedAt: row.endedAt.getTime() }
}

/** Older regressions are not looked for, so that a page of 500 questions loads at once. */
const maximumComparedRuns = 5

async function loadCounts(database: OwnedDatabase, runIds: readonly string[]): Promise<Map<string, RunCounts>> {
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

const runColumns = `id, space_id AS "spaceId", organisation_id AS "organisationId", state, reason_code AS "reasonCode", reason,
  run_trigger AS trigger, started_by AS "startedBy", space, settings, configuration, measures, created_at AS "createdAt",
  started_at AS "startedAt", ended_at AS "endedAt"`

type Row = Stored<Omit<GoldenRun, 'reason'>, 'createdAt' | 'startedAt' | 'endedAt'> & {
  reasonCode: GoldenStopReason | null
  reason: string | null
}

function toRun({ reasonCode, reason, createdAt, startedAt, endedAt, ...run }: Row): GoldenRun {
  return {
    ...run,
    reason: reasonCode === null ? null : { code: reasonCode, message: reason ?? '' },
    createdAt: createdAt.getTime(),
    startedAt: startedAt?.getTime() ?? null,
    endedAt: endedAt?.getTime() ?? null,
  }
}
