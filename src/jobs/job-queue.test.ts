import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createFakeClock } from '../../test/harness/fake-clock.ts'
import { openTestDatabases, type TestDatabases } from '../../test/harness/database.ts'
import type { Database, SqlValue } from '../database/index.ts'
import { silentLog, systemClock } from '../kernel/index.ts'
import { createJobQueue, type Job, type JobQueue, type NewJob, type WorkOptions } from './index.ts'

let databases: TestDatabases
let queues: JobQueue[] = []

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterEach(async () => {
  for (const queue of queues) await queue.close()
  queues = []
  await databases.corpus.execute('delete from job')
})
afterAll(() => databases.drop())

function openQueue(others: Partial<Parameters<typeof createJobQueue>[0]> = {}): JobQueue {
  const queue = createJobQueue({
    database: databases.corpus,
    clock: systemClock,
    log: silentLog,
    random: () => 0,
    ...others,
  })
  queues.push(queue)
  return queue
}

function enqueue(queue: JobQueue, ...jobs: NewJob[]): Promise<void> {
  return databases.corpus.transaction(async (transaction) => {
    for (const job of jobs) await queue.enqueue(transaction, job)
  })
}

const options: WorkOptions = { concurrency: 1, maximumAttempts: 3, backoffMs: 1, onExhausted: async () => {} }

/** Records what a worker does and lets a test wait for the n-th call. */
function recorder(handle: (job: Job, call: number) => Promise<void> = async () => {}) {
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

async function untilEmpty(): Promise<void> {
  for (;;) {
    const [row] = await databases.corpus.query<{ count: bigint }>('select count(*) from job')
    if (row!.count === 0n) return
    await systemClock.sleep(5)
  }
}

const of = (kind: string, key: string, organisationId = 'o', spaceId = 's'): NewJob => ({
  kind,
  key,
  payload: { key },
  fairnessKeys: { organisationId, spaceId },
})

test('a job runs once with its payload, and its row is gone afterwards', async () => {
  const queue = openQueue()
  const work = recorder()
  queue.work('once', options, work.handler)
  await enqueue(queue, { kind: 'once', key: 'k', payload: { deep: [1, 'ü'] } })
  await work.calls(1)
  await untilEmpty()
  expect(work.jobs).toMatchObject([{ kind: 'once', key: 'k', payload: { deep: [1, 'ü'] }, attempt: 1 }])
})

test('a job of a transaction that rolls back never exists', async () => {
  const queue = openQueue()
  await databases.corpus
    .transaction(async (transaction) => {
      await queue.enqueue(transaction, of('rolled', 'k'))
      throw new Error('no')
    })
    .catch(() => {})
  expect(await queue.exists('k')).toBe(false)
})

test('a second job with the same key is dropped while the first waits or runs, and taken afterwards', async () => {
  const queue = openQueue()
  const hold = Promise.withResolvers<void>()
  const work = recorder(() => hold.promise)
  await enqueue(queue, of('double', 'same'), of('double', 'same'))
  queue.work('double', options, work.handler)
  await work.calls(1)
  await enqueue(queue, of('double', 'same'))
  hold.resolve()
  await untilEmpty()
  expect(work.jobs).toHaveLength(1)
  await enqueue(queue, of('double', 'same'))
  await work.calls(2)
})

test('ten thousand jobs of one organisation or Space do not delay the job of another', async () => {
  const queue = openQueue()
  await databases.corpus.execute(
    `insert into job (kind, key, payload, organisation_id, space_id, state, run_after)
     select 'fair', 'big' || n, '{}', 'big', 's1', 'ready', now() from generate_series(1, 10000) n`,
  )
  await enqueue(queue, of('fair', 'big-other-space', 'big', 's2'), of('fair', 'small', 'small', 's9'))
  const work = recorder()
  queue.work('fair', options, work.handler)
  await work.calls(6)
  await queue.close()
  const first = work.keys().slice(0, 6)
  expect(first).toContain('small')
  expect(first).toContain('big-other-space')
  expect(first.slice(0, 2)).toEqual(['big1', 'small'])
})

test('within one Space the oldest job is first, and organisations take turns', async () => {
  const queue = openQueue()
  await enqueue(
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
  const queue = openQueue()
  const full = Promise.withResolvers<void>()
  let now = 0
  let most = 0
  const work = recorder(async () => {
    most = Math.max(most, ++now)
    if (now === 3) full.resolve()
    // The first jobs wait until all places are taken, however slow the machine is.
    await full.promise
    await systemClock.sleep(5)
    now--
  })
  await enqueue(queue, ...Array.from({ length: 12 }, (_, index) => of('crowd', `k${index}`)))
  queue.work('crowd', { ...options, concurrency: 3 }, work.handler)
  await work.calls(12)
  expect(most).toBe(3)
})

test('a failing job is tried again and then given to onExhausted once, with the last error', async () => {
  const queue = openQueue()
  const work = recorder(async (_job, call) => {
    throw new Error(`failure ${call}`)
  })
  const exhausted = Promise.withResolvers<{ attempt: number; error: unknown }>()
  const onExhausted = async (job: Job, error: unknown) => exhausted.resolve({ attempt: job.attempt, error })
  queue.work('failing', { ...options, onExhausted }, work.handler)
  await enqueue(queue, of('failing', 'k'))
  expect(await exhausted.promise).toMatchObject({ attempt: 3, error: { message: 'failure 3' } })
  await untilEmpty()
  expect(work.jobs.map((job) => job.attempt)).toEqual([1, 2, 3])
})

test('the delay before the next attempt doubles, with jitter that never exceeds it', async () => {
  const randoms = [0, 0.999_999]
  const delays: number[] = []
  for (const random of randoms) {
    const clock = { ...systemClock, now: () => 1_000_000 }
    const queue = createJobQueue({ database: databases.corpus, clock, log: silentLog, random: () => random })
    queues.push(queue)
    for (let attempt = 1; attempt <= 3; attempt++) {
      const work = recorder(async () => {
        throw new Error('no')
      })
      const kind = `backoff${random}-${attempt}`
      await databases.corpus.execute(
        `insert into job (kind, key, payload, state, attempt, run_after) values ($1, $1, '{}', 'ready', $2, now())`,
        [kind, attempt - 1],
      )
      queue.work(kind, { ...options, maximumAttempts: 9, backoffMs: 1_000 }, work.handler)
      await work.calls(1)
      for (;;) {
        const [row] = await databases.corpus.query<{ runAfter: Date }>(
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
  const queue = openQueue()
  const work = recorder()
  queue.work('later', options, work.handler)
  await enqueue(queue, { ...of('later', 'late'), runAfter: new Date(Date.now() + 300) }, of('later', 'soon'))
  await work.calls(2)
  expect(work.keys()).toEqual(['soon', 'late'])
})

test('a job that a clock has set further ahead than any delay runs when the clock has been set back', async () => {
  const hours = 3_600_000
  const ahead = { ...systemClock, now: () => Date.now() + 3 * hours }
  const before = createJobQueue({ database: databases.corpus, clock: ahead, log: silentLog, random: () => 1 })
  const failing = recorder(async () => {
    throw new Error('no')
  })
  before.work('ahead', { ...options, backoffMs: 100 }, failing.handler)
  await enqueue(before, of('ahead', 'one'))
  await failing.calls(1)
  await before.close()
  const [row] = await databases.corpus.query<{ runAfter: Date }>(
    `select run_after as "runAfter" from job where key = 'one' and state = 'delayed'`,
  )
  expect(row!.runAfter.getTime() - Date.now()).toBeGreaterThan(2 * hours)
  const queue = openQueue()
  const work = recorder()
  queue.work('ahead', options, work.handler)
  await work.calls(1)
  expect(work.keys()).toEqual(['one'])
})

test('cancel removes a waiting job and stops a running one, also from another instance', async () => {
  const queue = openQueue()
  await expectCancelled(queue, async () => {})
})

test('cancel stops a running job within a second without any notification', async () => {
  const clock = createFakeClock(Date.now())
  const database: Database = { ...databases.corpus, listen: async () => async () => {}, onReconnect() {} }
  await expectCancelled(openQueue({ clock, database }), () => clock.advance(999))
})

/** `wait`: after each change that the queue may have to find by itself. */
async function expectCancelled(queue: JobQueue, wait: () => Promise<void>) {
  const other = openQueue()
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
  await enqueue(queue, of('cancelled', 'running'), of('cancelled', 'waiting'))
  await wait()
  await work.calls(1)
  await databases.corpus.transaction(async (transaction) => {
    await other.cancel(transaction, 'waiting')
    await other.cancel(transaction, 'running')
  })
  await wait()
  await stopped.promise
  await untilEmpty()
  expect(work.keys()).toEqual(['running'])
}

test('a job that moves to another kind runs there as a first try with the same key, unless it was cancelled', async () => {
  const queue = openQueue()
  const held = Promise.withResolvers<void>()
  const general = recorder()
  queue.work('express', options, async (job) => {
    if (job.key === 'cancelled') {
      await databases.corpus.transaction((transaction) => queue.cancel(transaction, 'cancelled'))
      held.resolve()
    }
    return { moveTo: 'general' }
  })
  await enqueue(queue, of('express', 'kept'), of('express', 'cancelled'))
  await held.promise
  expect(await queue.exists('kept')).toBe(true)
  queue.work('general', options, general.handler)
  await general.calls(1)
  await untilEmpty()
  expect(general.jobs.map(({ kind, key, attempt }) => ({ kind, key, attempt }))).toEqual([
    { kind: 'general', key: 'kept', attempt: 1 },
  ])
})

test('a job learns that another organisation waits for its place, and continues after it with what it has saved', async () => {
  const queue = openQueue()
  const waiting: boolean[] = []
  const work: string[] = []
  queue.work('sliced', options, async (job) => {
    const { slice = 0 } = job.payload as { slice?: number }
    if (slice === 0 && job.key === 'a1') {
      waiting.push(await job.othersWait())
      await enqueue(queue, of('sliced', 'a2', 'a'), of('elsewhere', 'b0', 'b'))
      waiting.push(await job.othersWait())
      await enqueue(queue, of('sliced', 'b1', 'b'))
      waiting.push(await job.othersWait())
    }
    work.push(`${job.key} ${slice} ${job.attempt}`)
    if (job.key === 'a1' && slice < 2) return { moveTo: job.kind, payload: { slice: slice + 1 } }
    if (job.key === 'a2') waiting.push(await job.othersWait())
  })
  await enqueue(queue, of('sliced', 'a1', 'a'))
  await expect.poll(() => waiting).toHaveLength(4)
  expect(work).toEqual(['a1 0 1', 'b1 0 1', 'a1 1 1', 'a1 2 1', 'a2 0 1'])
  expect(waiting).toEqual([false, false, true, false])
})

test('the key of a cancelled job can be used again at once', async () => {
  const queue = openQueue()
  const hold = Promise.withResolvers<void>()
  const work = recorder((_job, call) => (call === 1 ? hold.promise : Promise.resolve()))
  queue.work('again', options, work.handler)
  await enqueue(queue, of('again', 'k'))
  await work.calls(1)
  await databases.corpus.transaction(async (transaction) => {
    await queue.cancel(transaction, 'k')
    await queue.enqueue(transaction, of('again', 'k'))
  })
  hold.resolve()
  await work.calls(2)
})

test('at shutdown running jobs are stopped and given back without counting an attempt', async () => {
  const queue = openQueue()
  const work = recorder(
    (job) => new Promise((_, reject) => job.signal.addEventListener('abort', () => reject(job.signal.reason as Error))),
  )
  await enqueue(queue, of('closing', 'k'))
  queue.work('closing', options, work.handler)
  await work.calls(1)
  await queue.close()
  expect(await databases.corpus.query('select state, attempt from job')).toEqual([{ state: 'ready', attempt: 0 }])
  const next = openQueue()
  const nextWork = recorder()
  next.work('closing', options, nextWork.handler)
  await nextWork.calls(1)
  expect(nextWork.jobs[0]!.attempt).toBe(1)
})

test('a job whose process died is taken again and its attempt counts; one that always kills its process is given up', async () => {
  const died = (attempt: number) =>
    databases.corpus.execute(
      `insert into job (kind, key, payload, state, attempt, run_after, taken_by, lease_until)
       values ('dead', 'k' || $1::integer, '{}', 'running', $1::integer, now(), 'an earlier run', clock_timestamp() - interval '1 second')`,
      [attempt],
    )
  await died(1)
  await died(3)
  const queue = openQueue()
  const work = recorder()
  const exhausted = Promise.withResolvers<string>()
  queue.work('dead', { ...options, onExhausted: async (job) => exhausted.resolve(job.key) }, work.handler)
  expect(await exhausted.promise).toBe('k3')
  await work.calls(1)
  await untilEmpty()
  expect(work.jobs).toMatchObject([{ key: 'k1', attempt: 2 }])
})

test('two instances share the work and no job runs twice', async () => {
  const [one, two] = [openQueue({ soleOwner: false }), openQueue({ soleOwner: false })]
  const work = recorder(() => systemClock.sleep(1))
  const keys = Array.from({ length: 40 }, (_, index) => `k${index}`)
  await enqueue(one, ...keys.map((key) => of('shared', key)))
  one.work('shared', { ...options, concurrency: 4 }, work.handler)
  two.work('shared', { ...options, concurrency: 4 }, work.handler)
  await untilEmpty()
  expect(work.keys().toSorted()).toEqual(keys.toSorted())
})

/** A database that answers the first statement of each text with an error, though it may run it. */
function losing(texts: readonly string[], runs: boolean): Database {
  const left = new Set(texts)
  const lose = (method: 'query' | 'execute') =>
    async function (sql: string, parameters?: readonly SqlValue[]) {
      const text = texts.find((one) => sql.startsWith(one))
      if (text === undefined || !left.delete(text)) return databases.corpus[method](sql, parameters)
      if (runs) await databases.corpus[method](sql, parameters)
      throw new Error('the database is away')
    }
  return new Proxy(databases.corpus, {
    get(target, name) {
      if (name === 'query' || name === 'execute') return lose(name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Of a job that ends, and of the delay that follows where that is not written. */
const endTexts = ['delete from job where id', `update job set state = 'delayed'`]
const takeTexts = [`update job set state = 'running'`]

test.each([
  { what: 'its end cannot be written', texts: endTexts, runs: false, soleOwner: true },
  { what: 'its end cannot be written', texts: endTexts, runs: false, soleOwner: false },
  { what: 'the answer to its taking is lost', texts: takeTexts, runs: true, soleOwner: true },
  { what: 'the answer to its taking is lost', texts: takeTexts, runs: true, soleOwner: false },
])(
  'a job runs again after its lease when $what (sole owner: $soleOwner), and one that runs is left alone',
  async ({ texts, runs, soleOwner }) => {
    const queue = createJobQueue({
      database: losing(texts, runs),
      clock: { ...systemClock, every: (ms, task) => systemClock.every(ms / 50, task) },
      log: silentLog,
      soleOwner,
    })
    queues.push(queue)
    const hold = Promise.withResolvers<void>()
    const long = recorder(() => hold.promise)
    await enqueue(queue, of('lost', 'lost'))
    const lost = recorder()
    queue.work('lost', options, lost.handler)
    if (!runs) await lost.calls(1)
    const isHeld = async () =>
      (await databases.corpus.query(`select from job where key = 'lost' and state = 'running'`)).length > 0
    await expect.poll(isHeld).toBe(true)
    await enqueue(queue, of('long', 'long'))
    queue.work('long', options, long.handler)
    await long.calls(1)
    // Several renewals do not change who holds the job.
    await systemClock.sleep(500)
    expect(lost.jobs).toHaveLength(runs ? 0 : 1)
    await databases.corpus.execute(`update job set lease_until = clock_timestamp() - interval '1 second'`)
    await lost.calls(runs ? 1 : 2)
    await systemClock.sleep(300)
    expect(long.jobs).toHaveLength(1)
    hold.resolve()
    await untilEmpty()
    expect(lost.jobs).toHaveLength(runs ? 1 : 2)
  },
)

test('an idle queue polls all its kinds with two statements', async () => {
  const statements: string[] = []
  const database: Database = {
    ...databases.corpus,
    query: (statement, ...given) => {
      statements.push(statement)
      return databases.corpus.query(statement, ...given)
    },
    execute: (statement, ...given) => {
      statements.push(statement)
      return databases.corpus.execute(statement, ...given)
    },
  }
  const queue = createJobQueue({ database, clock: systemClock, log: silentLog })
  queues.push(queue)
  const kinds = Array.from({ length: 12 }, (_, index) => `kind_${index}`)
  for (const kind of kinds) queue.work(kind, options, async () => {})
  const polls = () => statements.filter((statement) => statement.includes("state = 'delayed'")).length
  await expect.poll(polls, { timeout: 5_000 }).toBeGreaterThan(0)
  statements.length = 0
  await expect.poll(polls, { timeout: 5_000 }).toBeGreaterThanOrEqual(3)
  // And the two that look for expired leases every 5 s.
  expect(statements.length).toBeLessThanOrEqual(2 * polls() + 2)
})

test('a poll takes jobs whose notification was lost', async () => {
  const queue = openQueue()
  const work = recorder()
  queue.work('lost', options, work.handler)
  queue.work('other', options, async () => {})
  await enqueue(queue, of('lost', 'first'))
  await work.calls(1)
  await databases.corpus.execute(
    `insert into job (kind, key, payload, organisation_id, space_id, state, run_after)
     values ('lost', 'second', '{"key":"second"}', 'o', 's', 'ready', now())`,
  )
  await work.calls(2)
  expect(work.keys()).toEqual(['first', 'second'])
})
