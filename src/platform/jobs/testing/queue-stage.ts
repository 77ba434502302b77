import { openTestDatabases } from '../../../../test/harness/database.ts'
import { silentLog, systemClock } from '../../kernel/index.ts'
import { createJobQueue, type Job, type JobQueue, type NewJob, type WorkOptions } from '../index.ts'

export type QueueStage = Awaited<ReturnType<typeof openQueueStage>>

/** Job queues over one real database. */
export async function openQueueStage() {
  const databases = await openTestDatabases()
  const { corpus } = databases
  let queues: JobQueue[] = []
  return {
    corpus,
    openQueue(changes: Partial<Parameters<typeof createJobQueue>[0]> = {}): JobQueue {
      const queue = createJobQueue({
        database: corpus,
        clock: systemClock,
        log: silentLog,
        random: () => 0,
        ...changes,
      })
      queues.push(queue)
      return queue
    },
    enqueue(queue: JobQueue, ...jobs: NewJob[]): Promise<void> {
      return corpus.transaction(async (transaction) => {
        for (const job of jobs) await queue.enqueue(transaction, job)
      })
    },
    /** Every job has ended. */
    async untilEmpty(): Promise<void> {
      while ((await corpus.query('select from job limit 1')).length > 0) await systemClock.sleep(5)
    },
    async endTest(): Promise<void> {
      for (const queue of queues) await queue.close()
      queues = []
      await corpus.execute('delete from job')
    },
    drop: () => databases.drop(),
  }
}

export const options: WorkOptions = { concurrency: 1, maximumAttempts: 3, backoffMs: 1, onExhausted: async () => {} }

export const of = (kind: string, key: string, organisationId = 'o', spaceId = 's'): NewJob => ({
  kind,
  key,
  payload: { key },
  fairnessKeys: { organisationId, spaceId },
})

/** Records what a worker does and lets a test wait for the n-th call. */
export function recorder(handle: (job: Job, call: number) => Promise<void> = async () => {}) {
  const jobs: Job[] = []
  const waiters: { count: number; resolve: () => void }[] = []
  return {
    jobs,
    keys: () => jobs.map((job) => job.key),
    handler: async (job: Job) => {
      jobs.push(job)
      const call = jobs.length
      for (const waiter of waiters) if (call >= waiter.count) waiter.resolve()
      await handle(job, call)
    },
    calls: (count: number) =>
      jobs.length >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            waiters.push({ count, resolve })
          }),
  }
}
