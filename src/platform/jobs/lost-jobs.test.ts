import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import type { TestDatabase } from '../../../test/harness/statements.ts'
import type { SqlValue } from '../database/index.ts'
import { type Clock, systemClock } from '../kernel/index.ts'
import { of, openQueueStage, options, type QueueStage, recorder } from './testing/queue-stage.ts'

/** Jobs whose worker, notification or database is lost, and several instances. */
let stage: QueueStage
beforeAll(async () => {
  stage = await openQueueStage()
})
afterEach(() => stage.endTest())
afterAll(() => stage.drop())

test('a job that a clock has set further ahead than any delay runs when the clock has been set back', async () => {
  const hours = 3_600_000
  const ahead = { ...systemClock, now: () => Date.now() + 3 * hours }
  const before = stage.openQueue({ clock: ahead, random: () => 1 })
  const failing = recorder(async () => {
    throw new Error('no')
  })
  before.work('ahead', { ...options, backoffMs: 100 }, failing.handler)
  await stage.enqueue(before, of('ahead', 'one'))
  await failing.calls(1)
  await before.close()
  const [row] = await stage.corpus.query<{ runAfter: Date }>(
    `select run_after as "runAfter" from job where key = 'one' and state = 'delayed'`,
  )
  expect(row!.runAfter.getTime() - Date.now()).toBeGreaterThan(2 * hours)
  const queue = stage.openQueue()
  const work = recorder()
  queue.work('ahead', options, work.handler)
  await work.calls(1)
  expect(work.keys()).toEqual(['one'])
})

test('at shutdown running jobs are stopped and given back without counting an attempt', async () => {
  const queue = stage.openQueue()
  const work = recorder(
    (job) => new Promise((_, reject) => job.signal.addEventListener('abort', () => reject(job.signal.reason as Error))),
  )
  await stage.enqueue(queue, of('closing', 'k'))
  queue.work('closing', options, work.handler)
  await work.calls(1)
  await queue.close()
  expect(await stage.corpus.query('select state, attempt from job')).toEqual([{ state: 'ready', attempt: 0 }])
  const next = stage.openQueue()
  const nextWork = recorder()
  next.work('closing', options, nextWork.handler)
  await nextWork.calls(1)
  expect(nextWork.jobs[0]!.attempt).toBe(1)
})

test('a job whose process died is taken again and its attempt counts; one that always kills its process is given up', async () => {
  const died = (attempt: number) =>
    stage.corpus.execute(
      `insert into job (kind, key, payload, state, attempt, run_after, taken_by, lease_until)
       values ('dead', 'k' || $1::integer, '{}', 'running', $1::integer, now(), 'an earlier run', clock_timestamp() - interval '1 second')`,
      [attempt],
    )
  await died(1)
  await died(3)
  const queue = stage.openQueue()
  const work = recorder()
  const exhausted = Promise.withResolvers<string>()
  queue.work('dead', { ...options, onExhausted: async (job) => exhausted.resolve(job.key) }, work.handler)
  expect(await exhausted.promise).toBe('k3')
  await work.calls(1)
  await stage.untilEmpty()
  expect(work.jobs).toMatchObject([{ key: 'k1', attempt: 2 }])
})

test('two instances share the work and no job runs twice', async () => {
  const [one, two] = [stage.openQueue({ soleOwner: false }), stage.openQueue({ soleOwner: false })]
  const work = recorder(async () => void (await stage.corpus.query('select 1')))
  const keys = Array.from({ length: 40 }, (_, index) => `k${index}`)
  await stage.enqueue(one, ...keys.map((key) => of('shared', key)))
  one.work('shared', { ...options, concurrency: 4 }, work.handler)
  two.work('shared', { ...options, concurrency: 4 }, work.handler)
  await stage.untilEmpty()
  expect(work.keys().toSorted()).toEqual(keys.toSorted())
})

/** A database that answers the first statement of each text with an error, though it may run it. */
function losing(texts: readonly string[], runs: boolean) {
  const left = new Set(texts)
  let renewals = 0
  const lose = (method: 'query' | 'execute') =>
    async function (sql: string, parameters?: readonly SqlValue[]) {
      // The last statement of a renewal.
      if (sql.includes('lease_until < clock_timestamp()')) renewals++
      const text = texts.find((one) => sql.startsWith(one))
      if (text === undefined || !left.delete(text)) return stage.corpus[method](sql, parameters)
      if (runs) await stage.corpus[method](sql, parameters)
      throw new Error('the database is away')
    }
  const database: TestDatabase = new Proxy(stage.corpus, {
    get(target, name) {
      if (name === 'for') return () => database
      if (name === 'query' || name === 'execute') return lose(name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { database, renewals: () => renewals }
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
    const { database, renewals } = losing(texts, runs)
    const clock: Clock = { ...systemClock, every: (ms, task) => systemClock.every(ms / 50, task) }
    const queue = stage.openQueue({ database, clock, soleOwner })
    const severalRenewals = () => expect.poll(renewals, { timeout: 30_000 }).toBeGreaterThan(renewals() + 2)
    const hold = Promise.withResolvers<void>()
    const long = recorder(() => hold.promise)
    await stage.enqueue(queue, of('lost', 'lost'))
    const lost = recorder()
    queue.work('lost', options, lost.handler)
    if (!runs) await lost.calls(1)
    const isHeld = async () =>
      (await stage.corpus.query(`select from job where key = 'lost' and state = 'running'`)).length > 0
    await expect.poll(isHeld).toBe(true)
    await stage.enqueue(queue, of('long', 'long'))
    queue.work('long', options, long.handler)
    await long.calls(1)
    // Several renewals do not change who holds the job.
    await severalRenewals()
    expect(lost.jobs).toHaveLength(runs ? 0 : 1)
    await stage.corpus.execute(`update job set lease_until = clock_timestamp() - interval '1 second'`)
    await lost.calls(runs ? 1 : 2)
    await severalRenewals()
    expect(long.jobs).toHaveLength(1)
    hold.resolve()
    await stage.untilEmpty()
    expect(lost.jobs).toHaveLength(runs ? 1 : 2)
  },
)

test('an idle queue polls all its kinds with two statements', async () => {
  // The end of an earlier queue notifies all that use its database, at any later time.
  const own = await openQueueStage()
  const statements: string[] = []
  const database: TestDatabase = {
    ...own.corpus,
    for: () => database,
    query: (statement, ...given) => {
      statements.push(statement)
      return own.corpus.query(statement, ...given)
    },
    execute: (statement, ...given) => {
      statements.push(statement)
      return own.corpus.execute(statement, ...given)
    },
  }
  const clock = createFakeClock(Date.now())
  const queue = own.openQueue({ database, clock })
  const kinds = Array.from({ length: 12 }, (_, index) => `kind_${index}`)
  for (const kind of kinds) queue.work(kind, options, async () => {})
  // The start and `work` look for jobs of each kind.
  const starts = () => statements.filter((statement) => statement.startsWith('with recursive ready')).length
  await expect.poll(starts).toBe(2 * kinds.length)
  const polls = () => statements.filter((statement) => statement.includes("state = 'delayed'")).length
  const next = async () => {
    await clock.advance(500)
    return polls()
  }
  statements.length = 0
  await expect.poll(next).toBeGreaterThanOrEqual(3)
  // Others look for expired leases every 5 s.
  const polling = statements.filter((statement) => !statement.includes('lease_until'))
  expect(polling.length).toBeLessThanOrEqual(2 * polls())
  await own.endTest()
  await own.drop()
})

test('a poll takes jobs whose notification was lost', async () => {
  const queue = stage.openQueue()
  const work = recorder()
  queue.work('lost', options, work.handler)
  queue.work('other', options, async () => {})
  await stage.enqueue(queue, of('lost', 'first'))
  await work.calls(1)
  await stage.corpus.execute(
    `insert into job (kind, key, payload, organisation_id, space_id, state, run_after)
     values ('lost', 'second', '{"key":"second"}', 'o', 's', 'ready', now())`,
  )
  await work.calls(2)
  expect(work.keys()).toEqual(['first', 'second'])
})
