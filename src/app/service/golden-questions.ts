import type { AnswerDependencies } from '../../chat/chat/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { createDocumentNames } from '../../documents/documents/index.ts'
import {
  createGoldenQuestions,
  createGoldenQuestionStore,
  createGoldenResultStore,
  createGoldenRuns,
  createGoldenRunStore,
  createGoldenSettings,
  createGoldenSettingsStore,
  createGoldenTransferStore,
  createRunSchedule,
  createRunWorker,
  goldenRunJob,
  runLimits,
} from '../../chat/golden-questions/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import { createInsightStore } from '../../chat/insights/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import type { Organisations } from '../../tenants/organisations/index.ts'
import type { Space, Spaces } from '../../chat/spaces/index.ts'
import type { PartContext } from './foundation.ts'

interface GoldenQuestionsDependencies extends PartContext {
  control: Database
  corpus: Database
  organisations: Pick<Organisations, 'get'>
  jobs: JobQueue
  metrics: Pick<Metrics, 'goldenRuns'>
}

/** Golden questions of Spaces, and their runs, which begin with `start`. */
export function openGoldenQuestions(dependencies: GoldenQuestionsDependencies) {
  const { control, corpus, organisations, jobs, metrics, clock, log, onStop } = dependencies
  const documentNames = createDocumentNames(corpus)
  const questions = createGoldenQuestionStore(control)
  const settings = createGoldenSettingsStore(control)
  const runs = createGoldenRunStore(control)
  const results = createGoldenResultStore(control)
  const timeZoneOf = ({ organisationId }: Space) => organisations.get(organisationId)?.timeZone ?? 'UTC'
  const insights = createInsightStore(control)
  const transfers = createGoldenTransferStore(control)
  const stores = { questions, transfers, settings, runs, results }
  const goldenRuns = createGoldenRuns({ ...stores, documentNames, corpus, jobs, clock, log })
  let schedule: ReturnType<typeof createRunSchedule> | undefined
  onStop(() => schedule?.close())
  return {
    goldenTransfers: transfers,
    goldenQuestions: createGoldenQuestions({
      store: questions,
      transfers,
      runs,
      documentNames,
      insights,
      clock,
    }),
    goldenSettings: createGoldenSettings({ store: settings, timeZoneOf, clock }),
    goldenRuns,
    /** Works on runs, also on those that an earlier process left, and starts them by their schedules. */
    start({ answers, spaces }: { answers: AnswerDependencies; spaces: Pick<Spaces, 'get'> }): void {
      const getSpace = (id: string) => spaces.get(id)
      const getOrganisation = (id: string) => organisations.get(id)
      const observe = (labels: { trigger: string; outcome: string }) => metrics.goldenRuns.inc(labels)
      const worker = createRunWorker({ runs, results, answers, getSpace, getOrganisation, observe, clock, log })
      const options = { concurrency: runLimits.runsPerInstance, maximumAttempts: 20, backoffMs: 1_000 }
      jobs.work(goldenRunJob, { ...options, onExhausted: worker.giveUp }, worker.run)
      schedule = createRunSchedule({ settings, runs: goldenRuns, getSpace, timeZoneOf, clock, log })
      schedule.start()
    },
  }
}
