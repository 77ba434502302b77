import { type Clock, describeError, type Log, type Telemetry } from '../kernel/index.ts'
import { type JobRow, type JobStore, longestDelayMs } from './job.store.ts'
import type { Job, JobHandler, WorkOptions } from './port.ts'
import { clearlyLessMs, type UsedTime } from './used-time.ts'

/** `onExhausted` that fails this often is given up, so that it does not run for ever. */
const maximumExhaustedAttempts = 5

export type StopReason = 'cancelled' | 'shutdown' | 'lease_lost'

/** The reason of a job's signal. */
export class JobStop extends Error {
  readonly why: StopReason
  constructor(why: StopReason) {
    super(`the job was stopped: ${why}`)
    this.name = 'JobStop'
    this.why = why
  }
}

interface RunDeps {
  store: JobStore
  clock: Clock
  log: Log
  telemetry: Telemetry | null
  used: UsedTime
  /** 0 to 1. */
  random(): number
}

/** Runs a job that was taken, and writes what becomes of it: done, moved, delayed or given up. */
export async function runJob(
  deps: RunDeps,
  { options, handler }: { options: WorkOptions; handler: JobHandler },
  row: JobRow,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log, telemetry, random, used } = deps
  const { kind, key, organisationId, attempt } = row
  // With telemetry, the queue has added the span that enqueued the job.
  const { traceparent, ...payload } = row.payload
  const othersWait = () => store.othersWait(kind, organisationId)
  const lighterWait = async () => {
    const limitMs = used.of(organisationId) - clearlyLessMs
    if (limitMs < 0) return false
    return (await store.readyOrganisations(kind, organisationId)).some(
      (id) => id !== organisationId && used.of(id) <= limitMs,
    )
  }
  const job: Job = { kind, key, organisationId, payload, attempt, signal, othersWait, lighterWait }
  let failure: unknown
  if (attempt > options.maximumAttempts) {
    failure = new Error(`the process ended during each of ${options.maximumAttempts} attempts`)
  } else {
    try {
      signal.throwIfAborted()
      const work = () => handler(job)
      const start = { kind, attempt, traceparent: typeof traceparent === 'string' ? traceparent : undefined }
      const move = await (telemetry ? telemetry.job(start, work) : work())
      if (move) await store.move(row.id, move)
      else await store.remove(row.id)
      return
    } catch (error) {
      failure = error
    }
  }
  if (signal.aborted) {
    // At shutdown the queue gives back all at once; after a lost lease the job belongs to another instance.
    if ((signal.reason as JobStop).why === 'cancelled') await store.remove(row.id)
    return
  }
  if (attempt >= options.maximumAttempts) return exhaust(deps, options, row, job, failure)
  const delayMs = backoffMs(options.backoffMs, attempt, random)
  log.warn({ kind, attempt, delayMs, reason: describeError(failure) }, 'a job failed and will be tried again')
  await store.delay(row.id, new Date(clock.now() + delayMs), describeError(failure))
}

async function exhaust(
  { store, clock, log, random }: RunDeps,
  options: WorkOptions,
  row: JobRow,
  job: Job,
  failure: unknown,
): Promise<void> {
  const { kind, key, attempt } = row
  log.error({ kind, attempt, reason: describeError(failure) }, 'a job is given up')
  try {
    await options.onExhausted(job, failure)
  } catch (error) {
    if (attempt < options.maximumAttempts + maximumExhaustedAttempts) {
      log.error({ kind, reason: describeError(error) }, 'giving up a job failed and will be tried again')
      const runAfter = new Date(clock.now() + backoffMs(options.backoffMs, attempt, random))
      return store.delay(row.id, runAfter, describeError(error))
    }
    log.error({ kind, key, reason: describeError(error) }, 'a job was removed without its last step')
  }
  await store.giveUp(row, describeError(failure), new Date(clock.now()))
}

/** Doubles with each attempt; the upper half is random, so that jobs that failed together do not return together. */
function backoffMs(firstMs: number, attempt: number, random: () => number): number {
  const fullMs = Math.min(firstMs * 2 ** (attempt - 1), longestDelayMs)
  return Math.round(fullMs * (0.5 + random() / 2))
}
