import type { Database, Queryable } from '../database/index.ts'
import {
  type Clock,
  createInstanceId,
  describeError,
  type Log,
  raceSignal,
  sharedOwner,
  type Telemetry,
} from '../kernel/index.ts'
import {
  cancelJob,
  cancelledChannel,
  insertJob,
  jobExists,
  type JobRow,
  jobsChannel,
  JobStore,
  longestDelayMs,
  type Turn,
} from './job.store.ts'
import { noteRun } from './queue-places.store.ts'
import type { Job, JobHandler, JobQueue, NewJob, WorkOptions } from './port.ts'
import { clearlyLessMs, createUsedTime, type UsedTime } from './used-time.ts'

// A server has many instances: one that has not renewed its leases for this long is presumed dead. A job whose end could not be written
// down runs again after this time, on the embedded engine too.
const leaseSeconds = 30
const renewEveryMs = 5_000
// Finds due and cancelled jobs when a notification was lost; keeps "cancelled within a second".
const pollMs = 500
// Longest wait at shutdown for handlers that ignore their signal.
const closeGraceMs = 10_000
// Most organisations whose position in their round of Spaces is kept.
const maximumRememberedTurns = 10_000

export interface JobQueueOptions {
  /** The corpus database. */
  database: Database
  clock: Clock
  log: Log
  /** null or absent: jobs are not traced. */
  telemetry?: Telemetry | null
  /** Randomness of the backoff, 0 to 1; tests give their own. */
  random?: () => number
  /** True where no other process can hold jobs, so that those of an earlier run come back at once; default: embedded. */
  soleOwner?: boolean
}

interface Worker {
  kind: string
  options: WorkOptions
  handler: JobHandler
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

/** A queue in the corpus database's table `job`; workers start at the first `work`. */
export function createJobQueue(options: JobQueueOptions): JobQueue {
  return new DatabaseJobQueue(options)
}

class DatabaseJobQueue implements JobQueue {
  private readonly options: Required<JobQueueOptions>
  private readonly store: JobStore
  private readonly used: UsedTime
  private readonly workers = new Map<string, Worker>()
  private readonly running = new Map<bigint, RunningJob>()
  private readonly stops: (() => unknown)[] = []
  private readonly poll: () => Promise<void>
  private readonly renew: () => Promise<void>
  private started: Promise<void> | undefined
  private closing: Promise<void> | undefined
  private leaseEndsMs = Infinity

  constructor(options: JobQueueOptions) {
    const { database, log } = options
    const { random = Math.random, soleOwner = database.engine === 'embedded', telemetry = null } = options
    this.options = { ...options, telemetry, random, soleOwner }
    this.store = new JobStore(database, createInstanceId())
    this.used = createUsedTime(options.clock)
    this.poll = oneAtATime(log, 'jobs could not be polled', () => this.findChanges())
    this.renew = oneAtATime(log, 'leases of jobs could not be renewed', () => this.renewLeases())
  }

  enqueue(transaction: Queryable, job: NewJob): Promise<void> {
    const { clock, telemetry } = this.options
    const traceparent = telemetry?.current()
    const traced = traceparent === undefined ? job : { ...job, payload: { ...job.payload, traceparent } }
    return insertJob(transaction, traced, clock.now())
  }

  cancel(transaction: Queryable, key: string): Promise<void> {
    return cancelJob(transaction, key)
  }

  exists(key: string): Promise<boolean> {
    return jobExists(this.options.database.for(sharedOwner), key)
  }

  work(kind: string, options: WorkOptions, handler: JobHandler): void {
    if (this.workers.has(kind)) throw new Error(`jobs of the kind ${kind} already have a worker`)
    this.workers.set(kind, {
      kind,
      options,
      handler,
      running: 0,
      turn: { organisationId: '', spaceId: '' },
      spaceTurns: new Map(),
      filling: undefined,
      fillAgain: false,
    })
    this.started ??= this.start()
    this.started.then(
      () => this.fill(kind),
      (error: unknown) =>
        this.options.log.error({ reason: describeError(error) }, 'the job queue could not be started'),
    )
  }

  close(): Promise<void> {
    this.closing ??= this.closeNow()
    return this.closing
  }

  private async start(): Promise<void> {
    const { database, clock, log, soleOwner } = this.options
    const { stops } = this
    const recovered = soleOwner ? await this.store.recoverAll() : await this.store.recover([], leaseSeconds)
    if (recovered > 0) log.info({ jobs: recovered }, 'jobs of an earlier run are taken up again')
    stops.push(await database.listen(jobsChannel, (kind) => (kind === '' ? this.fillAll() : this.fill(kind))))
    stops.push(await database.listen(cancelledChannel, (key) => this.stopWhere((job) => job.key === key, 'cancelled')))
    database.onReconnect(() => void this.poll())
    stops.push(clock.every(pollMs, () => void this.poll()))
    stops.push(clock.every(renewEveryMs, () => void this.renew()))
    this.fillAll()
  }

  private async findChanges(): Promise<void> {
    await this.store.promote(new Date(this.options.clock.now()))
    if (this.running.size > 0) {
      const cancelled = new Set(await this.store.cancelledIds())
      this.stopWhere((job) => cancelled.has(job.id), 'cancelled')
    }
    for (const kind of await this.store.readyKinds([...this.workers.keys()])) this.fill(kind)
  }

  private async renewLeases(): Promise<void> {
    if (!this.options.soleOwner) await this.renewOwn()
    const recovered = await this.store.recover([...this.running.keys()], leaseSeconds)
    if (recovered > 0) this.options.log.info({ jobs: recovered }, 'jobs whose worker is gone are taken up again')
  }

  private async renewOwn(): Promise<void> {
    const { clock } = this.options
    const before = clock.monotonicMs()
    try {
      const held = [...this.running.keys()]
      const ours = await this.store.renew(held, leaseSeconds)
      this.leaseEndsMs = before + leaseSeconds * 1_000
      this.stopWhere((job) => held.includes(job.id) && !ours.has(job.id), 'lease_lost')
    } finally {
      // Without the database the owner is unknown: after the lease has expired, another instance may have taken the jobs.
      if (clock.monotonicMs() > this.leaseEndsMs) this.stopWhere(() => true, 'lease_lost')
    }
  }

  private stopWhere(matches: (job: RunningJob) => boolean, why: StopReason): void {
    for (const job of this.running.values()) if (matches(job)) job.abort.abort(new JobStop(why))
  }

  private fillAll(): void {
    for (const kind of this.workers.keys()) this.fill(kind)
  }

  /** Takes jobs until all places of the kind are busy or nothing is ready. */
  private fill(kind: string): void {
    const worker = this.workers.get(kind)
    if (!worker || this.closing) return
    if (worker.filling) {
      worker.fillAgain = true
      return
    }
    worker.filling = this.fillPlaces(worker)
      .catch((error: unknown) =>
        this.options.log.warn({ kind, reason: describeError(error) }, 'no job could be taken; trying again'),
      )
      .finally(() => {
        worker.filling = undefined
        if (worker.fillAgain) {
          worker.fillAgain = false
          this.fill(kind)
        }
      })
  }

  private async fillPlaces(worker: Worker): Promise<void> {
    const { clock, random } = this.options
    const taking = {
      kind: worker.kind,
      spaceTurnOf: (organisationId: string) => worker.spaceTurns.get(organisationId) ?? '',
      choose: (ids: readonly string[]) => (worker.options.isMeasured ? this.used.least(ids) : ids[0]),
    }
    for (;;) {
      if (this.closing || worker.running >= worker.options.concurrency) return
      const taken = await this.store.take({ ...taking, turn: worker.turn }, leaseSeconds)
      if (!taken) return
      if ('contended' in taken) {
        // Other instances have taken the rest of this organisation's jobs: continue with the next one.
        worker.turn = { organisationId: taken.contended, spaceId: '' }
        await clock.sleep(random() * 10)
        continue
      }
      passTurn(worker, taken)
      this.run(worker, taken)
    }
  }

  private run(worker: Worker, row: JobRow): void {
    const abort = new AbortController()
    if (this.closing) abort.abort(new JobStop('shutdown'))
    worker.running++
    const startedMs = this.options.clock.monotonicMs()
    const endRun = worker.options.isMeasured ? this.used.begin(row.organisationId) : undefined
    const done = runJob({ store: this.store, used: this.used, ...this.options }, worker, row, abort.signal)
      .catch((error: unknown) =>
        this.options.log.error(
          { kind: row.kind, reason: describeError(error) },
          'the end of a job was not written down',
        ),
      )
      .finally(() => {
        endRun?.()
        if (worker.options.isMeasured) this.noteRun(worker, startedMs)
        this.running.delete(row.id)
        worker.running--
        this.fill(worker.kind)
      })
    this.running.set(row.id, { id: row.id, key: row.key, abort, done })
  }

  /** A mean that misses a run is still a mean. */
  private noteRun({ kind, options }: Worker, startedMs: number): void {
    const { database, clock, log } = this.options
    noteRun(database, kind, clock.monotonicMs() - startedMs, options.concurrency).catch((error: unknown) =>
      log.debug({ kind, reason: describeError(error) }, 'the run of a job was not counted'),
    )
  }

  private async closeNow(): Promise<void> {
    await this.started?.catch(() => {})
    for (const stop of this.stops.splice(0)) await stop()
    this.stopWhere(() => true, 'shutdown')
    // Jobs that are being taken now also belong to this instance; `run` stops them at once.
    await Promise.all([...this.workers.values()].map((worker) => worker.filling))
    const grace = AbortSignal.timeout(closeGraceMs)
    const ends = Promise.all([...this.running.values()].map((job) => job.done))
    await raceSignal(ends, grace).catch(() =>
      this.options.log.warn({ jobs: this.running.size }, 'jobs did not stop in time'),
    )
    if (this.started) await this.store.giveBackAll()
  }
}

function passTurn(worker: Worker, row: JobRow): void {
  worker.turn = { organisationId: row.organisationId, spaceId: row.spaceId }
  if (worker.spaceTurns.size >= maximumRememberedTurns) worker.spaceTurns.clear()
  worker.spaceTurns.set(row.organisationId, row.spaceId)
}

/** A task that never runs twice at a time and whose failures are logged. */
function oneAtATime(log: Log, message: string, task: () => Promise<void>): () => Promise<void> {
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

/** `onExhausted` that fails this often is given up, so that it does not run for ever. */
const maximumExhaustedAttempts = 5

type StopReason = 'cancelled' | 'shutdown' | 'lease_lost'

/** The reason of a job's signal. */
class JobStop extends Error {
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
async function runJob(
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
