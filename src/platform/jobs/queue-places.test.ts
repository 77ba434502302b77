import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { loadQueuePlaces, noteRun } from './queue-places.store.ts'
import { of, openQueueStage, options, type QueueStage, recorder } from './testing/queue-stage.ts'

let stage: QueueStage
beforeAll(async () => {
  stage = await openQueueStage()
})
afterEach(() => stage.endTest())
afterAll(() => stage.drop())

const waiting = [
  of('read', 'a1', 'a', 's1'),
  of('read', 'a2', 'a', 's1'),
  of('read', 'a3', 'a', 's2'),
  of('read', 'a4', 'a', 's1'),
  of('read', 'b1', 'b'),
  of('read', 'c1', 'c'),
  of('read', 'c2', 'c'),
  of('other', 'a5', 'a'),
]

test('are those in which the queue takes the jobs', async () => {
  const queue = stage.openQueue()
  await stage.enqueue(queue, ...waiting)
  const keys = waiting.map(({ key }) => key)
  const places = await loadQueuePlaces(stage.corpus, 'a', keys)
  const byPlace = keys
    .filter((key) => key !== 'a5')
    .sort((one, other) => places.get(one)!.place - places.get(other)!.place)
  expect(places.get('a5')).toEqual({ place: 1, estimatedMs: null })
  const work = recorder()
  queue.work('read', options, work.handler)
  await work.calls(7)
  expect(byPlace).toEqual(work.keys())
})

test('hardly change when another organisation adds a thousand jobs', async () => {
  const queue = stage.openQueue()
  await stage.enqueue(queue, ...waiting)
  const place = async () => (await loadQueuePlaces(stage.corpus, 'b', ['b1'])).get('b1')!.place
  const before = await place()
  await stage.enqueue(queue, ...Array.from({ length: 1_000 }, (_, index) => of('read', `d${index}`, 'd')))
  expect((await place()) - before).toBeLessThanOrEqual(1)
})

test('of jobs that are taken while places are read are left out', async () => {
  const queue = stage.openQueue()
  await stage.enqueue(queue, of('read', 'a1', 'a'))
  const own = stage.corpus.for('a')
  const query = vi.spyOn(own, 'query')
  vi.spyOn(stage.corpus, 'for').mockReturnValue(own)
  query.mockImplementationOnce(async (sql, parameters) => {
    const rows = await own.query(sql, parameters)
    await own.execute(`update job set state = 'delayed'`)
    return rows
  })
  expect(await loadQueuePlaces(stage.corpus, 'a', ['a1'])).toEqual(new Map())
  vi.restoreAllMocks()
})

test('are stated as far as a bounded number of jobs has to be counted', async () => {
  const queue = stage.openQueue()
  const spaces = [
    ['a', 's1', 40],
    ['a', 's2', 25],
    ['b', 's1', 30],
    ['c', 's1', 3],
  ] as const
  const jobs = spaces.flatMap(([organisation, space, count]) =>
    Array.from({ length: count }, (_, n) => of('read', `${organisation}-${space}-${n}`, organisation, space)),
  )
  await stage.enqueue(queue, ...jobs)
  const keys = jobs.map(({ key }) => key)
  const all = await loadQueuePlaces(stage.corpus, 'a', keys)
  expect([...all.values()].map(({ place }) => place).toSorted((one, other) => one - other)).toEqual(
    keys.map((_, index) => index + 1),
  )
  const first = await loadQueuePlaces(stage.corpus, 'a', keys, 40)
  expect(first.size).toBeLessThan(40)
  // 40 entries reach 10 jobs of each of the organisations and the end of their list.
  expect(first.get('a-s1-4')).toEqual(all.get('a-s1-4'))
  expect(first.has('a-s1-20')).toBe(false)
  for (const [key, place] of first) expect(place).toEqual(all.get(key))
})

test('have an estimate by the mean of the runs', async () => {
  const queue = stage.openQueue()
  await stage.enqueue(queue, ...waiting)
  await noteRun(stage.corpus, 'read', 1_000, 2)
  await noteRun(stage.corpus, 'read', 2_000, 2)
  const places = await loadQueuePlaces(stage.corpus, 'a', ['a1', 'a4', 'gone'])
  expect(places.size).toBe(2)
  expect(places.get('a1')!.estimatedMs).toBe(1_200)
  expect(places.get('a4')).toEqual({ place: 7, estimatedMs: 4 * 1_200 })
})

test('count the runs of measured kinds only', async () => {
  const queue = stage.openQueue()
  for (const [kind, isMeasured] of [
    ['counted', true],
    ['ignored', false],
  ] as const) {
    const work = recorder()
    queue.work(kind, { ...options, isMeasured }, work.handler)
    await stage.enqueue(queue, of(kind, kind))
    await work.calls(1)
  }
  const kinds = () =>
    stage.corpus.query<{ kind: string }>(`select kind from job_pace where kind in ('counted', 'ignored')`)
  await expect.poll(kinds).toEqual([{ kind: 'counted' }])
})
