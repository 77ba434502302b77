import type {
  GoldenResultBody,
  GoldenResultsQuery,
  GoldenRunBody,
  GoldenRunMeasures,
  PublicationGateBody,
} from '../../contract/golden-runs.ts'
import type { GoldenRegressionBody } from '../../contract/golden-questions.ts'
import type { Database, StoreOf } from '../../platform/database/index.ts'
import type { DocumentNames } from '../../documents/documents/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import {
  AppError,
  type Clock,
  createUuid,
  describeError,
  formatPicoUsd,
  type Log,
  sharedOwner,
} from '../../platform/kernel/index.ts'
import { type Actor, serviceActor } from '../../tenants/operators/index.ts'
import type { Space } from '../spaces/index.ts'
import { identifyConfiguration, snapshotOf } from './configuration.ts'
import type { GoldenQuestion } from './golden-question.ts'
import type { GoldenQuestionStore } from './golden-questions.store.ts'
import type { GoldenResult, GoldenResultStore } from './golden-results.store.ts'
import { type GoldenRun, goldenRunJob, keyOfRun } from './golden-run.ts'
import type { GoldenRunStore, RunCounts } from './golden-runs.store.ts'
import type { GoldenSettingsStore } from './golden-settings.store.ts'
import { type GoldenTransferStore, questionsPerPart } from './golden-transfer.store.ts'
import { gateMeasures, type GoldenSettingsBody } from '../../contract/golden-settings.ts'

export type GoldenRuns = ReturnType<typeof createGoldenRuns>

export interface GoldenRunsDependencies {
  questions: StoreOf<Pick<GoldenQuestionStore, 'loadStamp'>>
  transfers: StoreOf<Pick<GoldenTransferStore, 'loadIds' | 'loadMany'>>
  settings: StoreOf<Pick<GoldenSettingsStore, 'load'>>
  runs: StoreOf<GoldenRunStore>
  results: StoreOf<Pick<GoldenResultStore, 'loadPage'>>
  documentNames: DocumentNames
  /** Of the corpus database, which has the jobs. */
  corpus: Database
  jobs: Pick<JobQueue, 'enqueue' | 'cancel'>
  clock: Clock
  log: Log
}

/** Starts, reads and cancels runs, and decides whether a Space may be published. */
export function createGoldenRuns(dependencies: GoldenRunsDependencies) {
  const { settings, runs, results, corpus, jobs, clock, log } = dependencies

  async function render(space: Space, found: readonly GoldenRun[]): Promise<GoldenRunBody[]> {
    const ids = found.map(({ id }) => id)
    const [counts, configuration] = await Promise.all([
      runs(space.organisationId).loadCounts(ids),
      identify(dependencies, space),
    ])
    return found.flatMap((run) => {
      const count = counts.get(run.id)
      return count ? [renderRun(run, count, run.configuration === configuration)] : []
    })
  }

  async function find(space: Space, id: string): Promise<GoldenRun> {
    const run = await runs(space.organisationId).find(space.id, id)
    if (!run) throw new AppError('not_found', `The Space has no run ${id} of golden questions.`)
    return run
  }

  /** Throws `not_found`. */
  async function load(space: Space, id: string): Promise<GoldenRunBody> {
    const [body] = await render(space, [await find(space, id)])
    // Removed by a later run in the meantime.
    return body ?? load(space, id)
  }

  return {
    load,
    /** Throws `conflict` without golden questions, and while a run has not ended. */
    async start(space: Space, actor: Actor): Promise<GoldenRunBody> {
      return load(space, await startRun(dependencies, space, 'manual', actor))
    },
    /** Starts the run of a schedule. A Space without questions or with a run in progress is left out. */
    async startScheduled(space: Space): Promise<void> {
      try {
        await startRun(dependencies, space, 'schedule', serviceActor)
      } catch (error) {
        const reason = describeError(error)
        log.warn({ spaceId: space.id, reason }, 'a scheduled run of golden questions did not start')
      }
    },
    /** The configuration of a Space that its newest run did not have; undefined if there is none, or no question, or a run in progress. */
    findUntested: (space: Space) => findUntested(dependencies, space),
    /** Enqueues the jobs of all runs that have not ended; existing jobs stay. */
    async enqueueActive(): Promise<void> {
      for (const run of await runs(sharedOwner).loadActive()) await enqueue(dependencies, run)
    },
    async loadPage(space: Space, { limit, offset }: { limit: number; offset: number }) {
      const page = await runs(space.organisationId).loadPage(space.id, { limit, offset })
      const items = await render(space, page.runs)
      return { total: page.total, limit, offset, regression: await loadRegression(runs, space), items }
    },
    /** Throws `not_found`. */
    async loadResults(space: Space, id: string, query: GoldenResultsQuery) {
      const run = await find(space, id)
      const page = await results(space.organisationId).loadPage(run.id, query)
      const items: GoldenResultBody[] = page.results.map(renderResult)
      return { total: page.total, limit: query.limit, offset: query.offset, items }
    },
    /** Throws `not_found`, and `conflict` for a run that has ended. Answers in progress are cut off and billed. */
    async cancel(space: Space, id: string, actor: Actor): Promise<GoldenRunBody> {
      const run = await find(space, id)
      if (!(await runs(space.organisationId).cancel(run, actor, clock.now())))
        throw new AppError('conflict', 'The run has ended already.')
      await jobs.cancel(corpus.for(space.organisationId), keyOfRun(id))
      return load(space, id)
    },
    /** Whether the Space may be published, by its last completed run of the current configuration. */
    async loadGate(space: Space): Promise<PublicationGateBody> {
      const { gate } = (await settings(space.organisationId).load(space.id)).settings
      if (!gate) return { isPassed: true, problem: null, runId: null, measures: [] }
      const run = await runs(space.organisationId).findCompleted(space.id, await identify(dependencies, space))
      const counts = run && (await runs(space.organisationId).loadCounts([run.id])).get(run.id)
      return judgeGate(gate, run && counts ? { id: run.id, measures: run.measures, errors: counts.error } : undefined)
    },
  }
}

/** What people have to look at, as a body of the API. */
export async function loadRegression(
  runs: StoreOf<Pick<GoldenRunStore, 'loadRegression'>>,
  space: Space,
): Promise<GoldenRegressionBody | null> {
  const found = await runs(space.organisationId).loadRegression(space.id)
  return found ? { ...found, endedAt: new Date(found.endedAt).toISOString() } : null
}

/** The current configuration of a Space. */
async function identify({ settings, documentNames, questions }: GoldenRunsDependencies, space: Space): Promise<string> {
  const [golden, documentStamp, questionStamp] = await Promise.all([
    settings(space.organisationId).load(space.id),
    documentNames.loadStamp(placeOf(space)),
    questions(space.organisationId).loadStamp(space.id),
  ])
  return identifyConfiguration({ space, golden: golden.settings, documents: documentStamp, questions: questionStamp })
}

async function findUntested(dependencies: GoldenRunsDependencies, space: Space): Promise<string | undefined> {
  const { runs, transfers } = dependencies
  const configuration = await identify(dependencies, space)
  const [newest] = (await runs(space.organisationId).loadPage(space.id, { limit: 1, offset: 0 })).runs
  if (newest && (newest.endedAt === null || newest.configuration === configuration)) return undefined
  return (await transfers(space.organisationId).loadIds(space.id)).length === 0 ? undefined : configuration
}

/** Returns the id of the run. Throws `conflict`. */
async function startRun(
  dependencies: GoldenRunsDependencies,
  space: Space,
  trigger: GoldenRun['trigger'],
  actor: Actor,
): Promise<string> {
  const { settings, runs, clock } = dependencies
  // Before the questions are read: a change in between makes the run outdated, not wrong.
  const configuration = await identify(dependencies, space)
  const questions = await loadQuestions(dependencies, space)
  if (questions.length === 0) throw new AppError('conflict', 'The Space has no golden questions. Add one before a run.')
  const run = {
    id: createUuid(clock.now()),
    spaceId: space.id,
    organisationId: space.organisationId,
    trigger,
    space: snapshotOf(space),
    settings: (await settings(space.organisationId).load(space.id)).settings,
    configuration,
    questions,
    createdAt: clock.now(),
  }
  await runs(space.organisationId).insert(run, actor)
  // A crash before this line leaves a run without a job, which `enqueueActive` repairs.
  await enqueue(dependencies, run)
  return run.id
}

/** All questions of the Space, the oldest first, with its current documents. */
async function loadQuestions(
  { transfers, documentNames }: Pick<GoldenRunsDependencies, 'transfers' | 'documentNames'>,
  space: Space,
): Promise<GoldenQuestion[]> {
  const ids = await transfers(space.organisationId).loadIds(space.id)
  const questions: GoldenQuestion[] = []
  for (let start = 0; start < ids.length; start += questionsPerPart) {
    const part = await transfers(space.organisationId).loadMany(space.id, ids.slice(start, start + questionsPerPart))
    questions.push(...(await withCurrentDocuments(documentNames, space, part)))
  }
  return questions
}

function enqueue(
  { jobs, corpus }: GoldenRunsDependencies,
  { id, spaceId, organisationId }: { id: string; spaceId: string; organisationId: string },
): Promise<void> {
  const fairnessKeys = { organisationId, spaceId }
  return jobs.enqueue(corpus.for(organisationId), {
    kind: goldenRunJob,
    key: keyOfRun(id),
    payload: { runId: id },
    fairnessKeys,
  })
}

const placeOf = ({ organisationId, id }: Space) => ({ organisationId, spaceId: id })

/** A document that was deleted and uploaded again is found by its name. */
async function withCurrentDocuments(
  documentNames: DocumentNames,
  space: Space,
  questions: readonly GoldenQuestion[],
): Promise<GoldenQuestion[]> {
  const expected = questions.flatMap(({ expectedDocuments }) => expectedDocuments)
  const ids = [...new Set(expected.map(({ id }) => id))]
  const names = [...new Set(expected.map(({ name }) => name))]
  const existing = await documentNames.find(placeOf(space), { ids, names })
  const byId = new Map(existing.map((document) => [document.id, document]))
  // The newest of a name comes first.
  const byName = new Map(existing.toReversed().map((document) => [document.name, document]))
  return questions.map((question) => ({
    ...question,
    expectedDocuments: question.expectedDocuments.map(
      (document) => byId.get(document.id) ?? byName.get(document.name) ?? document,
    ),
  }))
}

type Gate = NonNullable<GoldenSettingsBody['gate']>

/** The completed run of the current configuration; undefined if there is none. */
type GateRun = { id: string; measures: GoldenRunMeasures | null; errors: number } | undefined

/** Compares a run with the minimums of a gate. A measure that the run does not have fails. */
function judgeGate(gate: Gate, run: GateRun): PublicationGateBody {
  const measures = gateMeasures.flatMap((measure) => {
    const minimum = gate[measure]
    if (minimum === undefined) return []
    const value = run?.measures?.[measure] ?? null
    return [{ measure, value, minimum, isPassed: value !== null && value >= minimum }]
  })
  const problem = problemOf(run, measures)
  return { isPassed: problem === null, problem, runId: run?.id ?? null, measures }
}

function problemOf(run: GateRun, measures: PublicationGateBody['measures']): string | null {
  if (!run) {
    return 'There is no completed run of the golden questions with the current instructions, model, settings, documents and questions. Start one.'
  }
  if (run.errors > 0) return `${run.errors} golden questions have no answer in the run ${run.id}. Start another one.`
  const missed = measures.filter(({ isPassed }) => !isPassed)
  if (missed.length === 0) return null
  const texts = missed.map(({ measure, value, minimum }) =>
    value === null
      ? `\`${measure}\` has no value and must be at least ${minimum}`
      : `\`${measure}\` is ${value} and must be at least ${minimum}`,
  )
  return `The golden questions did not pass in the run ${run.id}: ${texts.join('; ')}.`
}

function renderRun(run: GoldenRun, counts: RunCounts, isCurrent: boolean): GoldenRunBody {
  const { comparison, costPicoUsd, ...questions } = counts
  const { id, spaceId, state, reason, trigger, startedBy, space, settings, measures } = run
  return {
    id,
    spaceId,
    state,
    reason,
    trigger,
    startedBy,
    createdAt: new Date(run.createdAt).toISOString(),
    startedAt: timeOf(run.startedAt),
    endedAt: timeOf(run.endedAt),
    model: space.model,
    agentic: settings.agentic,
    maximumCostUsd: settings.maximumCostUsd,
    costUsd: formatPicoUsd(costPicoUsd),
    questions,
    measures,
    isCurrent,
    comparison,
  }
}

const timeOf = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString())

function renderResult(result: GoldenResult): GoldenResultBody {
  const { questionId, content, outcome, previous, error, answer, detail, costPicoUsd, requestId } = result
  const retrieved = detail?.retrieved ?? []
  const cited = detail?.cited ?? []
  return {
    questionId,
    messages: content.messages,
    mustAbstain: content.mustAbstain,
    outcome,
    failedMeasures: detail?.failedMeasures ?? [],
    error,
    previous,
    answer,
    expectedDocuments: content.expectedDocuments.map(({ id, name }) => {
      const index = retrieved.findIndex((document) => document.id === id)
      return { id, name, rank: index < 0 ? null : index + 1, isCited: cited.some((document) => document.id === id) }
    }),
    expectedFacts: content.expectedFacts.map((text, index) => ({ text, isFound: detail?.facts[index] ?? false })),
    retrievedDocuments: retrieved,
    citedDocuments: cited,
    measures: detail?.measures ?? null,
    costUsd: formatPicoUsd(costPicoUsd),
    requestId,
  }
}
