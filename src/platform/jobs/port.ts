import type { Queryable } from '../database/index.ts'

/** Durable background work in the corpus database, enqueued in the transaction that causes it. */
export interface JobQueue {
  /** Call with the transaction that causes the job. A second job with the same `key` while one waits or runs is dropped. */
  enqueue(transaction: Queryable, job: NewJob): Promise<void>
  /** Starts workers for one kind. Jobs of one kind are taken fairly: round robin over `fairnessKeys`, oldest first within. */
  work(kind: string, options: WorkOptions, handler: JobHandler): void
  /** Removes waiting jobs by key and aborts a running one (its `signal` fires). */
  cancel(transaction: Queryable, key: string): Promise<void>
  /** True while a job with this key waits or runs. */
  exists(key: string): Promise<boolean>
  /** Stops taking jobs, aborts running ones, and gives them back without counting an attempt. */
  close(): Promise<void>
}

export interface NewJob {
  kind: string
  /** Identity of the work, unique among live jobs. */
  key: string
  payload: Record<string, unknown>
  /** Fairness between organisations, then between Spaces. */
  fairnessKeys?: { organisationId: string; spaceId: string }
  /** At most an hour ahead; a later time counts as an error of the clock, and the job runs at once. */
  runAfter?: Date
}

export interface Job {
  kind: string
  key: string
  /** Of its `fairnessKeys`; empty: it works for all. */
  organisationId: string
  payload: Record<string, unknown>
  /** 1 on the first try. */
  attempt: number
  /** Fires on cancel, on shutdown and when the lease is lost. */
  signal: AbortSignal
  /** True while a job of the same kind of another organisation is ready and waits for a place. */
  othersWait(): Promise<boolean>
  /** The same for an organisation whose measured jobs have lately used clearly less time than those of this one. */
  lighterWait(): Promise<boolean>
}

export type JobHandler = (job: Job) => Promise<void | JobMove>

/**
 * Result of a handler that passes its job to the workers of another kind, or of the same kind after those of other organisations. It waits there
 * as a new job with the same key.
 */
export interface JobMove {
  moveTo: string
  /** Replaces these fields of the payload. */
  payload?: Record<string, unknown>
}

export interface WorkOptions {
  concurrency: number
  /** After this many failed attempts the job is given to `onExhausted` and removed. */
  maximumAttempts: number
  /** First delay; doubles each time with jitter. */
  backoffMs: number
  onExhausted(job: Job, error: unknown): Promise<void>
  /**
   * The time of its runs counts for the estimates of `loadQueuePlaces`. Jobs of the organisation that has lately used the least are
   * taken first, instead of round robin.
   */
  isMeasured?: boolean
}
