import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import type { Database } from '../database/index.ts'
import { systemClock } from '../kernel/index.ts'
import type { Job, JobQueue } from './index.ts'
import { of, openQueueStage, options, type QueueStage, recorder } from './testing/queue-stage.ts'

let stage: QueueStage
beforeAll(async () => {
  stage = await openQueueStage()
})
afterEach(() => stage.endTest())
afterAll(() => stage.drop())

test('a job runs once with its payload, and its row is gone afterwards', async () => {
  const queue = stage.openQueue()
  const work = recorder()
  queue.work('once', options, work.handler)
  await stage.enqueue(queue, { kind: 'once', key: 'k', payload: { deep: [1, 'ü'] } })
  await work.calls(1)
  await stage.untilEmpty()
  expect(work.jobs).toMatchObject([{ kind: 'once', key: 'k', payload: { deep: [1, 'ü'] }, attempt: 1 }])
})

test('a job of a transaction that rolls back never exists', async () => {
  const queue = stage.openQueue()
  await stage.corpus
    .transaction(async (transaction) => {
      await queue.enqueue(transaction, of('rolled', 'k'))
      throw new Error('no')
    })
    .catch(() => {})
  expect(await queue.exists('k')).toBe(false)
})

test('a second job with the same key is dropped while the first waits or runs, and taken afterwards', async () => {
  const queue = stage.openQueue()
  const hold = Promise.withResolvers<void>()
  const work = recorder(() => hold.promise)
  await stage.enqueue(queue, of('double', 'same'), of('double', 'same'))
  queue.work('double', options, work.handler)
  await work.calls(1)
  await stage.enqueue(queue, of('double', 'same'))
  hold.resolve()
  await stage.untilEmpty()
  expect(work.jobs).toHaveLength(1)
  await stage.enqueue(queue, of('double', 'same'))
  await work.calls(2)
})

test('ten thousand jobs of one organisation or Space do not delay the job of another', async () => {
  const queue = stage.openQueue()
  await stage.corpus.execute(
    `insert into job (kind, key, payload, organisation_id, space_id, state, run_after)
     select 'fair', 'big' || n, '{}', 'big', 's1', 'ready', now() from generate_series(1, 10000) n`,
  )
  await stage.enqueue(queue, of('fair', 'big-other-space', 'big', 's2'), of('fair', 'small', 'small', 's9'))
  const work = recorder()
  queue.work('fair', options, work.handler)
  await work.calls(6)
  await queue.close()
  const first = work.keys().slice(0, 6)
  expect(first).toContain('small')
  expect(first).toContain('big-other-space')
  expect(first.slice(0, 2)).toEqual(['big1', 'small'])
})

test('an organisation that has lately used less time is first, and learns of those that have used clearly less', async () => {
  const clock = createFakeClock()
  const queue = stage.openQueue({ clock })
  const lighter: [string, boolean][] = []
  const work = recorder(async (job) => {
    const minutes = job.organisationId === 'a' ? 1 : 0
    await clock.advance(minutes * 60_000)
    lighter.push([job.key, await job.lighterWait()])
  })
  await stage.enqueue(
    queue,
    ...['a1', 'a2', 'a3'].map((key) => of('used', key, 'a')),
    ...['b1', 'b2', 'b3'].map((key) => of('used', key, 'b')),
    ...['c1', 'c2'].map((key) => of('used', key, 'c')),
  )
  queue.work('used', { ...options, isMeasured: true }, work.handler)
  await work.calls(8)
  await stage.untilEmpty()
  expect(work.keys()).toEqual(['a1', 'b1', 'c1', 'b2', 'c2', 'b3', 'a2', 'a3'])
  expect(lighter.filter(([, waits]) => waits)).toEqual([['a1', true]])
})

test('many jobs of an organisation do not delay one of another that has used a little more time', async () => {
  const clock = createFakeClock()
  const queue = stage.openQueue({ clock })
  const work = recorder(async ({ key }) => {
    if (key === 'a1') await clock.advance(9_000)
  })
  await stage.enqueue(queue, of('used', 'a1', 'a'), of('used', 'a2', 'a'))
  await stage.enqueue(queue, ...['b1', 'b2', 'b3', 'b4'].map((key) => of('used', key, 'b')))
  queue.work('used', { ...options, isMeasured: true }, work.handler)
  await work.calls(6)
  expect(work.keys()).toEqual(['a1', 'b1', 'a2', 'b2', 'b3', 'b4'])
})

test('within one Space the oldest job is first, and organisations take turns', async () => {
  const queue = stage.openQueue()
  await stage.enqueue(
    queue,
    ...['a1', 'a2', 'a3'].map((key) => of('turns', key, 'a')),
    ...['b1', 'b2'].map((key) => of('turns', key, 'b')),
    ...['c1'].map((key) => of('turns', key, 'c')),
  )
  const work = recorder()
  queue.work('turns', options, work.handler)
  await work.calls(6)
  expect(work.keys()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('no more jobs run at once than the concurrency allows', async () => {
  const queue = stage.openQueue()
  const full = Promise.withResolvers<void>()
  let now = 0
  let most = 0
  const work = recorder(async () => {
    most = Math.max(most, ++now)
    if (now === 3) full.resolve()
    // The first jobs wait until all places are taken, however slow the machine is.
    await full.promise
    // Jobs that were wrongly taken meanwhile have begun after it.
    await stage.corpus.query('select 1')
    now--
  })
  await stage.enqueue(queue, ...Array.from({ length: 12 }, (_, index) => of('crowd', `k${index}`)))
  queue.work('crowd', { ...options, concurrency: 3 }, work.handler)
  await work.calls(12)
  expect(most).toBe(3)
})

test('a failing job is tried again and then given to onExhausted once, with the last error', async () => {
  const queue = stage.openQueue()
  const work = recorder(async (_job, call) => {
    throw new Error(`failure ${call}`)
  })
  const exhausted = Promise.withResolvers<{ attempt: number; error: unknown }>()
  const onExhausted = async (job: Job, error: unknown) => exhausted.resolve({ attempt: job.attempt, error })
  queue.work('failing', { ...options, onExhausted }, work.handler)
  await stage.enqueue(queue, of('failing', 'k'))
  expect(await exhausted.promise).toMatchObject({ attempt: 3, error: { message: 'failure 3' } })
  await stage.untilEmpty()
  expect(work.jobs.map((job) => job.attempt)).toEqual([1, 2, 3])
})

test('the delay before the next attempt doubles, with jitter that never exceeds it', async () => {
  const randoms = [0, 0.999_999]
  const delays: number[] = []
  for (const random of randoms) {
    const clock = { ...systemClock, now: () => 1_000_000 }
    const queue = stage.openQueue({ clock, random: () => random })
    for (let attempt = 1; attempt <= 3; attempt++) {
      const work = recorder(async () => {
        throw new Error('no')
      })
      const kind = `backoff${random}-${attempt}`
      await stage.corpus.execute(
        `insert into job (kind, key, payload, state, attempt, run_after) values ($1, $1, '{}', 'ready', $2, now())`,
        [kind, attempt - 1],
      )
      queue.work(kind, { ...options, maximumAttempts: 9, backoffMs: 1_000 }, work.handler)
      await work.calls(1)
      for (;;) {
        const [row] = await stage.corpus.query<{ runAfter: Date }>(
          `select run_after as "runAfter" from job where key = $1 and state = 'delayed'`,
          [kind],
        )
        if (row) {
          delays.push(row.runAfter.getTime() - 1_000_000)
          break
        }
        await systemClock.sleep(2)
      }
    }
  }
  expect(delays).toEqual([500, 1_000, 2_000, 1_000, 2_000, 4_000])
})

test('a job with a later time waits for it', async () => {
  const clock = createFakeClock(Date.now())
  const queue = stage.openQueue({ clock })
  const work = recorder()
  queue.work('later', options, work.handler)
  await stage.enqueue(queue, { ...of('later', 'late'), runAfter: new Date(clock.now() + 60_000) }, of('later', 'soon'))
  await work.calls(1)
  expect(work.keys()).toEqual(['soon'])
  await clock.advance(60_000)
  const next = async () => {
    await clock.advance(500)
    return work.jobs.length
  }
  await expect.poll(next).toBe(2)
  expect(work.keys()).toEqual(['soon', 'late'])
})

test('cancel removes a waiting job and stops a running one, also from another instance', async () => {
  const queue = stage.openQueue()
  await expectCancelled(queue, async () => {})
})

test('cancel stops a running job within a second without any notification', async () => {
  const clock = createFakeClock(Date.now())
  const database: Database = { ...stage.corpus, listen: async () => async () => {}, onReconnect() {} }
  await expectCancelled(stage.openQueue({ clock, database }), () => clock.advance(999))
})

/** `wait`: after each change that the queue may have to find by itself. */
async function expectCancelled(queue: JobQueue, wait: () => Promise<void>) {
  const other = stage.openQueue()
  const stopped = Promise.withResolvers<void>()
  const work = recorder(
    (job) =>
      new Promise((_, reject) => {
        job.signal.addEventListener('abort', () => {
          stopped.resolve()
          reject(job.signal.reason as Error)
        })
      }),
  )
  queue.work('cancelled', options, work.handler)
  await stage.enqueue(queue, of('cancelled', 'running'), of('cancelled', 'waiting'))
  await wait()
  await work.calls(1)
  await stage.corpus.transaction(async (transaction) => {
    await other.cancel(transaction, 'waiting')
    await other.cancel(transaction, 'running')
  })
  let isStopped = false
  void stopped.promise.then(() => (isStopped = true))
  // A poll that runs already may have read before the change; the next one finds it.
  const next = async () => {
    await wait()
    return isStopped
  }
  await expect.poll(next).toBe(true)
  await stage.untilEmpty()
  expect(work.keys()).toEqual(['running'])
}

test('a job that moves to another kind runs there as a first try with the same key, unless it was cancelled', async () => {
  const queue = stage.openQueue()
  const held = Promise.withResolvers<void>()
  const general = recorder()
  queue.work('express', options, async (job) => {
    if (job.key === 'cancelled') {
      await stage.corpus.transaction((transaction) => queue.cancel(transaction, 'cancelled'))
      held.resolve()
    }
    return { moveTo: 'general' }
  })
  await stage.enqueue(queue, of('express', 'kept'), of('express', 'cancelled'))
  await held.promise
  expect(await queue.exists('kept')).toBe(true)
  queue.work('general', options, general.handler)
  await general.calls(1)
  await stage.untilEmpty()
  expect(general.jobs.map(({ kind, key, attempt }) => ({ kind, key, attempt }))).toEqual([
    { kind: 'general', key: 'kept', attempt: 1 },
  ])
})

test('a job learns that another organisation waits for its place, and continues after it with what it has saved', async () => {
  const queue = stage.openQueue()
  const waiting: boolean[] = []
  const work: string[] = []
  queue.work('sliced', options, async (job) => {
    const { slice = 0 } = job.payload as { slice?: number }
    if (slice === 0 && job.key === 'a1') {
      waiting.push(await job.othersWait())
      await stage.enqueue(queue, of('sliced', 'a2', 'a'), of('elsewhere', 'b0', 'b'))
      waiting.push(await job.othersWait())
      await stage.enqueue(queue, of('sliced', 'b1', 'b'))
      waiting.push(await job.othersWait())
    }
    work.push(`${job.key} ${slice} ${job.attempt}`)
    if (job.key === 'a1' && slice < 2) return { moveTo: job.kind, payload: { slice: slice + 1 } }
    if (job.key === 'a2') waiting.push(await job.othersWait())
  })
  await stage.enqueue(queue, of('sliced', 'a1', 'a'))
  await expect.poll(() => waiting).toHaveLength(4)
  expect(work).toEqual(['a1 0 1', 'b1 0 1', 'a1 1 1', 'a1 2 1', 'a2 0 1'])
  expect(waiting).toEqual([false, false, true, false])
})

test('the key of a cancelled job can be used again at once', async () => {
  const queue = stage.openQueue()
  const hold = Promise.withResolvers<void>()
  const work = recorder((_job, call) => (call === 1 ? hold.promise : Promise.resolve()))
  queue.work('again', options, work.handler)
  await stage.enqueue(queue, of('again', 'k'))
  await work.calls(1)
  await stage.corpus.transaction(async (transaction) => {
    await queue.cancel(transaction, 'k')
    await queue.enqueue(transaction, of('again', 'k'))
  })
  hold.resolve()
  await work.calls(2)
})
