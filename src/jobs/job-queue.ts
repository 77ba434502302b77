import type { Database } from '../database/index.ts'
import { type Clock, createInstanceId, describeError, type Log, raceSignal } from '../kernel/index.ts'
import {
  cancelJob,
  cancelledChannel,
  createJobStore,
  insertJob,
  jobExists,
  type JobRow,
  jobsChannel,
  type Turn,
} from './job.store.ts'
import type { Job, JobMove, JobQueue, WorkOptions } from './port.ts'

// A server has many instances: one that has not renewed its leases for this long is taken for dead.
const leaseSeconds = 30
const renewEveryMs = 5_000
// Finds due and cancelled jobs when a notification was lost; keeps "cancelled within a second".
const pollMs = 500
const longestBackoffMs = 60 * 60_000
// Handlers that do not heed their signal are not waited for longer than this at shutdown.
const closeGraceMs = 10_000
// `onExhausted` that fails this often is given up, so that it does not run for ever.
const maximumExhaustedAttempts = 5
// Organisations whose place in their round of Spaces is remembered.
const maximumRememberedTurns = 10_000

export interface JobQueueOptions {
  /** The corpus database. */
  database: Database
  clock: Clock
  log: Log
  /** Randomness of the backoff, 0 to 1; tests give their own. */
  random?: () => number
  /** True where no other process can hold jobs, so that those of an earlier run come back at once; default: embedded. */
  soleOwner?: boolean
}

interface Worker {
  kind: string
  options: WorkOptions
  handler(job: Job): Promise<void | JobMove>
  running: number
  turn: Turn
  /** The Space that was served last, by organisation. */
  spaceTurns: Map<string, string>
  /** Taking jobs now, until its places are full or nothing is ready. */
  filling: Promise<void> | undefined
  fillAgain: boolean
}

interface RunningJob {
  id: bigint
  key: string
  abort: AbortController
  done: Promise<void>
}

class JobStop extends Error {
  readonly why: 'cancelled' | 'shutdown' | 'lease_lost'
  constructor(why: JobStop['why']) {
    super(`the job was stopped: ${why}`)
    this.name = 'JobStop'
    this.why = why
  }
}

/** A queue in the corpus database's table `job`; workers start at the first `work`. */
export function createJobQueue(queueOptions: JobQueueOptions): JobQueue {
  const { database, clock, log, random = Math.random, soleOwner = database.engine === 'embedded' } = queueOptions
  const store = createJobStore(database, createInstanceId())
  const workers = new Map<string, Worker>()
  const running = new Map<bigint, RunningJob>()
  const stops: (() => unknown)[] = []
  let started: Promise<void> | undefined
  let closing: Promise<void> | undefined
  let leaseEndsMs = Infinity

  async function start(): Promise<void> {
    const recovered = await store.recover(soleOwner)
    if (recovered > 0) log.info({ jobs: recovered }, 'jobs of an earlier run are taken up again')
    stops.push(await database.listen(jobsChannel, (kind) => (kind === '' ? fillAll() : fill(kind))))
    stops.push(await database.listen(cancelledChannel, (key) => stopWhere((job) => job.key === key, 'cancelled')))
    database.onReconnect(() => void poll())
    stops.push(clock.every(pollMs, () => void poll()))
    if (!soleOwner) stops.push(clock.every(renewEveryMs, () => void renew()))
    fillAll()
  }

  const once = quietly(log)

  const poll = once('jobs could not be polled', async () => {
    await store.promote(new Date(clock.now()))
    if (running.size > 0) {
      const cancelled = new Set(await store.cancelledIds())
      stopWhere((job) => cancelled.has(job.id), 'cancelled')
    }
    fillAll()
  })

  const renew = once('leases of jobs could not be renewed', async () => {
    const before = clock.monotonicMs()
    try {
      const held = [...running.keys()]
      const ours = await store.renew(leaseSeconds)
      leaseEndsMs = before + leaseSeconds * 1_000
      stopWhere((job) => held.includes(job.id) && !ours.has(job.id), 'lease_lost')
      await store.recover(false)
    } finally {
      // Without the database we cannot know; past the lease another instance may have taken them.
      if (clock.monotonicMs() > leaseEndsMs) stopWhere(() => true, 'lease_lost')
    }
  })

  function stopWhere(matches: (job: RunningJob) => boolean, why: JobStop['why']): void {
    for (const job of running.values()) if (matches(job)) job.abort.abort(new JobStop(why))
  }

  function fillAll(): void {
    for (const kind of workers.keys()) fill(kind)
  }

  /** Takes jobs until all places of the kind are busy or nothing is ready. */
  function fill(kind: string): void {
    const worker = workers.get(kind)
    if (!worker || closing) return
    if (worker.filling) {
      worker.fillAgain = true
      return
    }
    worker.filling = fillPlaces(worker)
      .catch((error: unknown) =>
        log.warn({ kind, reason: describeError(error) }, 'no job could be taken; trying again'),
      )
      .finally(() => {
        worker.filling = undefined
        if (worker.fillAgain) {
          worker.fillAgain = false
          fill(kind)
        }
      })
  }

  async function fillPlaces(worker: Worker): Promise<void> {
    for (;;) {
      if (closing || worker.running >= worker.options.concurrency) return
      const taken = await store.take(
        worker.kind,
        worker.turn,
        (organisationId) => worker.spaceTurns.get(organisationId) ?? '',
        leaseSeconds,
      )
      if (!taken) return
      if ('contended' in taken) {
        // Other instances hold what was left of this organisation: on to the next one.
        worker.turn = { organisationId: taken.contended, spaceId: '' }
        await clock.sleep(random() * 10)
        continue
      }
      passTurn(worker, taken)
      run(worker, taken)
    }
  }

  function run(worker: Worker, row: JobRow): void {
    const abort = new AbortController()
    if (closing) abort.abort(new JobStop('shutdown'))
    worker.running++
    const done = runJob(worker, row, abort)
      .catch((error: unknown) =>
        log.error({ kind: row.kind, reason: describeError(error) }, 'the end of a job was not written down'),
      )
      .finally(() => {
        running.delete(row.id)
        worker.running--
        fill(worker.kind)
      })
    running.set(row.id, { id: row.id, key: row.key, abort, done })
  }

  async function runJob(worker: Worker, row: JobRow, abort: AbortController): Promise<void> {
    const { options } = worker
    const { kind, key, payload, attempt } = row
    const job: Job = { kind, key, payload, attempt, signal: abort.signal }
    let failure: unknown
    if (attempt > options.maximumAttempts) {
      failure = new Error(`the process ended during each of ${options.maximumAttempts} attempts`)
    } else {
      try {
        abort.signal.throwIfAborted()
        const move = await worker.handler(job)
        if (move) await store.move(row.id, move.moveTo)
        else await store.remove(row.id)
        return
      } catch (error) {
        failure = error
      }
    }
    if (abort.signal.aborted) return endStopped(row, abort.signal.reason as JobStop)
    if (attempt >= options.maximumAttempts) return exhaust(worker, row, job, failure)
    const delayMs = backoffMs(options.backoffMs, attempt)
    log.warn({ kind, attempt, delayMs, reason: describeError(failure) }, 'a job failed and will be tried again')
    await store.delay(row.id, new Date(clock.now() + delayMs))
  }

  async function endStopped(row: JobRow, { why }: JobStop): Promise<void> {
    if (why === 'cancelled') await store.remove(row.id)
    // At shutdown close() gives back all at once; a lost lease is somebody else's job now.
  }

  async function exhaust(worker: Worker, row: JobRow, job: Job, failure: unknown): Promise<void> {
    log.error({ kind: row.kind, attempt: row.attempt, reason: describeError(failure) }, 'a job is given up')
    try {
      await worker.options.onExhausted(job, failure)
    } catch (error) {
      if (row.attempt < worker.options.maximumAttempts + maximumExhaustedAttempts) {
        log.error({ kind: row.kind, reason: describeError(error) }, 'giving up a job failed and will be tried again')
        return store.delay(row.id, new Date(clock.now() + backoffMs(worker.options.backoffMs, row.attempt)))
      }
      log.error(
        { kind: row.kind, key: row.key, reason: describeError(error) },
        'a job was removed without its last step',
      )
    }
    await store.remove(row.id)
  }

  /** Doubles with each attempt; the upper half is random, so that jobs that failed together do not return together. */
  function backoffMs(firstMs: number, attempt: number): number {
    const fullMs = Math.min(firstMs * 2 ** (attempt - 1), longestBackoffMs)
    return Math.round(fullMs * (0.5 + random() / 2))
  }

  async function closeNow(): Promise<void> {
    await started?.catch(() => {})
    for (const stop of stops.splice(0)) await stop()
    stopWhere(() => true, 'shutdown')
    // What is being taken at this moment is ours too; `run` stops it at once.
    await Promise.all([...workers.values()].map((worker) => worker.filling))
    const grace = AbortSignal.timeout(closeGraceMs)
    const ends = Promise.all([...running.values()].map((job) => job.done))
    await raceSignal(ends, grace).catch(() => log.warn({ jobs: running.size }, 'jobs did not stop in time'))
    if (started) await store.giveBackAll()
  }

  return {
    enqueue: (transaction, job) => insertJob(transaction, job, clock.now()),
    cancel: cancelJob,
    exists: (key) => jobExists(database, key),
    work(kind, options, handler) {
      if (workers.has(kind)) throw new Error(`jobs of the kind ${kind} already have a worker`)
      const turn = { organisationId: '', spaceId: '' }
      const worker: Worker = {
        kind,
        options,
        handler,
        running: 0,
        turn,
        spaceTurns: new Map(),
        filling: undefined,
        fillAgain: false,
      }
      workers.set(kind, worker)
      started ??= start()
      started.then(
        () => fill(kind),
        (error: unknown) => log.error({ reason: describeError(error) }, 'the job queue could not be started'),
      )
    },
    close: () => (closing ??= closeNow()),
  }
}

function passTurn(worker: Worker, row: JobRow): void {
  worker.turn = { organisationId: row.organisationId, spaceId: row.spaceId }
  if (worker.spaceTurns.size >= maximumRememberedTurns) worker.spaceTurns.clear()
  worker.spaceTurns.set(row.organisationId, row.spaceId)
}

/** Makes tasks that never run twice at a time and whose failures are logged. */
function quietly(log: Log) {
  return (message: string, task: () => Promise<void>) => {
    let busy = false
    return async () => {
      if (busy) return
      busy = true
      try {
        await task()
      } catch (error) {
        log.warn({ reason: describeError(error) }, message)
      } finally {
        busy = false
      }
    }
  }
}
