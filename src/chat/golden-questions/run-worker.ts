import type { Receipt } from '../../gateway/billing/index.ts'
import { answer, type AnswerDependencies, prepareAnswer, removeMarkers } from '../chat/index.ts'
import type { GoldenStopReason } from '../../contract/golden-runs.ts'
import type { StoreOf } from '../../platform/database/index.ts'
import type { Job } from '../../platform/jobs/index.ts'
import {
  AppError,
  type Clock,
  createRequestId,
  describeError,
  type ErrorCode,
  type Log,
  type RequestId,
  toStorable,
} from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { Space } from '../spaces/index.ts'
import type { GoldenRun } from './golden-run.ts'
import type { GoldenResultStore, NewResult } from './golden-results.store.ts'
import { type GoldenRunStore, isRegression, type RunEnding } from './golden-runs.store.ts'
import { type GivenAnswer, measureAnswer } from './measure-answer.ts'
import { summariseRun } from './summarise-run.ts'
import type { MetadataFilter } from '../../contract/metadata-filter.ts'
import type { NamedDocument } from '../../documents/documents/index.ts'
import type { GoldenContent } from './golden-question.ts'

export interface RunWorkerDependencies {
  runs: StoreOf<Pick<GoldenRunStore, 'begin' | 'end'>>
  results: StoreOf<GoldenResultStore>
  answers: AnswerDependencies
  getSpace: (id: string) => Space | undefined
  getOrganisation: (id: string) => Organisation | undefined
  /** Receives each run at its end. `worse`: completed, and a question that passed in the run before did not pass. */
  observe: (run: { trigger: GoldenRun['trigger']; outcome: 'worse' | RunEnding['state'] }) => void
  clock: Clock
  log: Log
}

export const runLimits = {
  /** Questions of one run that are answered at the same time. */
  concurrency: 2,
  /** Jobs of one instance at the same time: with `concurrency`, most answers next to those of live chats. */
  runsPerInstance: 2,
  /** A question during which the process ended or the service failed this often gets an error. */
  attempts: 5,
  /** Longest time of one answer. */
  answerMs: 300_000,
  /** Pause before the second and last try of a question whose provider failed. */
  retryAfterMs: 2_000,
  /** Of an answer that are kept, UTF-16 units. */
  answerCharacters: 4_000,
} as const

/** A limit that ends the run. */
class RunStop extends Error {
  readonly code: GoldenStopReason
  constructor(code: GoldenStopReason, message: string) {
    super(message)
    this.name = 'RunStop'
    this.code = code
  }
}

/** Works on the jobs of runs. A run continues where an earlier attempt ended; a question that has a result is not asked again. */
export function createRunWorker(dependencies: RunWorkerDependencies) {
  const { runs, results, observe, clock, log } = dependencies
  const end = async (owner: string, id: string, ending: Pick<RunEnding, 'state' | 'reason'>) => {
    const measures = summariseRun(await results(owner).loadMeasured(id))
    const ended = await runs(owner).end(id, { ...ending, measures, nowMs: clock.now() })
    if (!ended) return
    const { spaceId, trigger, worse } = ended
    observe({ trigger, outcome: worse !== null && worse > 0 ? 'worse' : ending.state })
    if (isRegression(ended)) log.warn({ runId: id, spaceId, worse }, 'a scheduled run of golden questions got worse')
  }
  return {
    async run(job: Job): Promise<void> {
      const id = String(job.payload.runId)
      const run = await runs(job.organisationId).begin(id, clock.now())
      if (!run) return
      try {
        await askPending(dependencies, run, job.signal)
      } catch (error) {
        if (!(error instanceof RunStop)) throw error
        const { code, message } = error
        await end(job.organisationId, id, { state: 'stopped', reason: { code, message } })
        log.info({ runId: id, reason: code }, 'a run of golden questions was stopped')
        return
      }
      await end(job.organisationId, id, { state: 'completed', reason: null })
    },
    /** The run is given up after many failed attempts. */
    async giveUp(job: Job, error: unknown): Promise<void> {
      const id = String(job.payload.runId)
      log.error({ runId: id, reason: describeError(error) }, 'a run of golden questions failed')
      const message = 'The service failed too often during this run. Start another one.'
      await end(job.organisationId, id, { state: 'failed', reason: { code: 'internal_error', message } })
    },
  }
}

/** Asks the questions without a result, some at a time. Throws RunStop at a limit, and what fails in the service. */
async function askPending(dependencies: RunWorkerDependencies, run: GoldenRun, signal: AbortSignal): Promise<void> {
  const results = dependencies.results(run.organisationId)
  const { maximumCostUsd } = run.settings
  const pending = await results.loadPending(run.id)
  let costPicoUsd = await results.loadCost(run.id)
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const askNext = async () => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      either.throwIfAborted()
      if (maximumCostUsd !== null && costPicoUsd >= toPicoUsd(maximumCostUsd))
        throw new RunStop('cost_limit', `The run has cost its limit of ${maximumCostUsd} US dollars.`)
      // In two steps: another question may end during this one.
      const cost = await ask(dependencies, run, next, either)
      costPicoUsd += cost
    }
  }
  const end = (error: unknown) => {
    // The other answer ends too, except at a limit: it is paid for and counts.
    if (!(error instanceof RunStop)) failed.abort(error)
    pending.length = 0
    throw error
  }
  const ends = await Promise.allSettled(Array.from({ length: runLimits.concurrency }, () => askNext().catch(end)))
  signal.throwIfAborted()
  const reasons = ends.flatMap((ending) => (ending.status === 'rejected' ? [ending.reason as unknown] : []))
  if (reasons.length > 0) throw reasons.find((reason) => !(reason instanceof RunStop)) ?? reasons[0]
}

/** Asks one question and writes its result. Returns what it has cost. */
async function ask(
  { results, answers, getSpace, getOrganisation, clock }: RunWorkerDependencies,
  run: GoldenRun,
  place: number,
  signal: AbortSignal,
): Promise<bigint> {
  const organisation = getOrganisation(run.organisationId)
  const live = getSpace(run.spaceId)
  // Its rows are deleted with it.
  if (!organisation || !live) throw new RunStop('internal_error', 'The Space was deleted.')
  const receipts: Receipt[] = []
  const askOnce = async (): Promise<NewResult | undefined> => {
    const requestId = createRequestId()
    const begun = await results(run.organisationId).begin(run.id, place, requestId)
    if (!begun) return undefined
    const { attempts, content } = begun
    if (attempts > runLimits.attempts) return { outcome: 'error', error: 'internal_error', costPicoUsd: 0n }
    const space = { ...live, ...run.space }
    const given = await answerInTime(signal, (limited) =>
      answerQuestion(answers, {
        requestId,
        organisation,
        space,
        content,
        agentic: run.settings.agentic,
        // Of a run that is older than the setting: none.
        filter: run.settings.filter ?? null,
        receipts,
        signal: limited,
      }),
    )
    const measured = measureAnswer(content, given, run.settings.passing)
    return {
      outcome: measured.failedMeasures.length === 0 ? 'passed' : 'failed',
      answer: toStorable(given.textWithMarkers.slice(0, runLimits.answerCharacters)),
      detail: { ...measured, retrieved: [...given.retrieved], cited: [...given.cited] },
      costPicoUsd: 0n,
    }
  }
  const result = await withRetry(askOnce, signal, clock)
  const costPicoUsd = receipts.reduce((sum, { billedPicoUsd }) => sum + billedPicoUsd, 0n)
  if (result) await results(run.organisationId).record(run.id, place, { ...result, costPicoUsd })
  return costPicoUsd
}

async function answerInTime<Answer>(signal: AbortSignal, work: (limited: AbortSignal) => Promise<Answer>) {
  const deadline = AbortSignal.timeout(runLimits.answerMs)
  try {
    return await work(AbortSignal.any([signal, deadline]))
  } catch (error) {
    if (!deadline.aborted) throw error
    throw new AppError('upstream_timeout', 'The answer took too long.', { cause: error })
  }
}

/** Failures that another call may not have. */
const temporary: readonly ErrorCode[] = ['upstream_error', 'upstream_timeout', 'rate_limit_exceeded', 'request_timeout']
/** Failures of this service: the job is tried again. */
const ofService: readonly ErrorCode[] = ['overloaded', 'shutting_down', 'client_closed', 'internal_error']
const stopReasons: Partial<Record<ErrorCode, GoldenStopReason>> = {
  insufficient_quota: 'insufficient_quota',
  subscription_required: 'subscription_required',
  model_not_found: 'model_not_found',
}

/** The result of a question, with the code of its error after the second failure. Throws what ends the run or its job. */
async function withRetry(
  askOnce: () => Promise<NewResult | undefined>,
  signal: AbortSignal,
  clock: Clock,
): Promise<NewResult | undefined> {
  for (let isRetry = false; ; isRetry = true) {
    try {
      return await askOnce()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError) || ofService.includes(error.code)) throw error
      const { code, message } = error
      const reason = stopReasons[code]
      if (reason) throw new RunStop(reason, message)
      if (isRetry || !temporary.includes(code)) return { outcome: 'error', error: code, costPicoUsd: 0n }
      await clock.sleep(runLimits.retryAfterMs, signal)
    }
  }
}

const toPicoUsd = (usd: number) => BigInt(Math.round(usd * 1e12))

interface QuestionCall {
  requestId: RequestId
  organisation: Organisation
  space: Space
  content: GoldenContent
  agentic: boolean
  filter: MetadataFilter | null
  /** Receives a receipt for each call of the model, also of an answer that fails later. */
  receipts: Receipt[]
  signal: AbortSignal
}

/** Most documents of an answer that are kept: an agentic answer can list many. */
const maximumDocuments = 100

/** Answers a question exactly as the published chat does, with inline sources. Throws AppError; what was generated is billed. */
async function answerQuestion(
  dependencies: AnswerDependencies,
  { requestId, organisation, space, content, agentic, filter, receipts, signal }: QuestionCall,
): Promise<GivenAnswer & { textWithMarkers: string }> {
  const startMs = performance.now()
  const call = {
    requestId,
    organisation,
    space,
    messages: content.messages,
    filter,
    inlineSources: true,
    passageReferences: false,
    agentic,
    // A run repeats its questions, also at night: it must change nothing.
    ownTools: 'reading' as const,
    receipts,
    signal,
  }
  const prepared = await prepareAnswer(dependencies, call)
  let textWithMarkers = ''
  const retrieved = new Map<string, NamedDocument>()
  const cited: NamedDocument[] = []
  for await (const event of answer(dependencies, call, prepared)) {
    if (event.type === 'assistant_write') textWithMarkers += event.delta
    else if (event.type === 'references') {
      cited.push(...event.references.map(({ documentId, title }) => ({ id: documentId, name: title })))
    } else if (event.type === 'message_source') {
      for (const { id, title } of event.search.documents)
        if (retrieved.size < maximumDocuments && !retrieved.has(id)) retrieved.set(id, { id, name: title })
    }
  }
  return {
    text: await removeMarkers(textWithMarkers, signal),
    textWithMarkers,
    retrieved: [...retrieved.values()],
    cited,
    milliseconds: performance.now() - startMs,
  }
}
