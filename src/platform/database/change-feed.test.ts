import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { type Clock, silentLog, systemClock } from '../kernel/index.ts'
import { createChangeFeed, recordChange, type Database } from './index.ts'

let databases: TestDatabases

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

/** A feed that records what it delivers and lets a test wait for an id. */
async function startFeed(topic: string, database: Database = databases.control, clock: Clock = systemClock) {
  const feed = createChangeFeed({ database, clock, log: silentLog })
  const told: (string[] | 'all')[] = []
  const waiting = new Map<string, () => void>()
  feed.subscribe(topic, async (ids) => {
    told.push(ids)
    if (ids !== 'all') for (const id of ids) waiting.get(id)?.()
  })
  await feed.start()
  return {
    feed,
    told,
    hears: (id: string) => new Promise<void>((resolve) => waiting.set(id, resolve)),
  }
}

function change(topic: string, id: string) {
  return databases.control.transaction((transaction) => recordChange(transaction, topic, id))
}

test('the start delivers "all" to each subscriber, then only the ids of its topic', async () => {
  const reader = await startFeed('key')
  expect(reader.told).toEqual(['all'])
  await change('another topic', 'x')
  await change('key', 'a')
  await reader.feed.caughtUp()
  expect(reader.told.flat()).toEqual(['all', 'a'])
  await reader.feed.close()
})

test('caughtUp resolves only after earlier commits have been delivered', async () => {
  const reader = await startFeed('slow')
  let takenIn = ''
  const delivery = Promise.withResolvers<void>()
  const isDelivering = Promise.withResolvers<void>()
  reader.feed.subscribe('slow', async (ids) => {
    isDelivering.resolve()
    await delivery.promise
    takenIn = String(ids)
  })
  await change('slow', 'written')
  let isCaughtUp = false
  const caughtUp = reader.feed.caughtUp().then(() => (isCaughtUp = true))
  await isDelivering.promise
  await databases.control.query('select 1')
  expect(isCaughtUp).toBe(false)
  delivery.resolve()
  await caughtUp
  expect(takenIn).toBe('written')
  await reader.feed.close()
})

test('a rolled back change is never delivered', async () => {
  const reader = await startFeed('rolled')
  await databases.control
    .transaction(async (transaction) => {
      await recordChange(transaction, 'rolled', 'never')
      throw new Error('no')
    })
    .catch(() => {})
  await change('rolled', 'later')
  await reader.feed.caughtUp()
  expect(reader.told).toEqual(['all', ['later']])
  await reader.feed.close()
})

test('notifications deliver a change without a poll', async () => {
  const clock = { ...systemClock, every: () => () => {} }
  const feed = createChangeFeed({ database: databases.control, clock, log: silentLog })
  const heard = Promise.withResolvers<string[] | 'all'>()
  feed.subscribe('notified', async (ids) => {
    if (ids !== 'all') heard.resolve(ids)
  })
  await feed.start()
  await change('notified', 'n1')
  expect(await heard.promise).toEqual(['n1'])
  await feed.close()
})

test('a change is delivered within a second without any notification', async () => {
  const deaf: Database = { ...databases.control, listen: async () => async () => {}, onReconnect() {} }
  const clock = createFakeClock()
  const reader = await startFeed('deaf', deaf, clock)
  const heard = reader.hears('d1')
  await change('deaf', 'd1')
  await clock.advance(999)
  await heard
  await reader.feed.close()
})

test('every reader receives every change of parallel writers, in the order of commits', async () => {
  const readers = await Promise.all([startFeed('crowd'), startFeed('crowd')])
  const ids = Array.from({ length: 60 }, (_, index) => `c${index}`)
  await Promise.all(ids.map((id) => change('crowd', id)))
  const order = await databases.control.query<{ id: string }>(
    `select subject_id as id from change_feed where topic = 'crowd' order by sequence`,
  )
  for (const reader of readers) {
    await reader.feed.caughtUp()
    expect(reader.told.slice(1).flat()).toEqual(order.map((row) => row.id))
    await reader.feed.close()
  }
})

test('a reader that missed pruned changes reloads everything', async () => {
  const mute = { ...systemClock, every: () => () => {} }
  const deaf: Database = { ...databases.control, listen: async () => async () => {}, onReconnect() {} }
  const feed = createChangeFeed({ database: deaf, clock: mute, log: silentLog })
  const told: (string[] | 'all')[] = []
  feed.subscribe('pruned', async (ids) => void told.push(ids))
  await feed.start()
  await change('pruned', 'p1')
  await change('pruned', 'p2')
  await databases.control.execute(`delete from change_feed where subject_id = 'p1'`)
  await feed.caughtUp()
  expect(told).toEqual(['all', 'all'])
  await feed.close()
})

test('a subscriber that fails receives "all" at the next poll, and others are not delayed', async () => {
  const reader = await startFeed('failing')
  const recovered = Promise.withResolvers<string[] | 'all'>()
  let calls = 0
  reader.feed.subscribe('failing', async (ids) => {
    calls++
    if (calls === 1) throw new Error('the database was away')
    recovered.resolve(ids)
  })
  await change('failing', 'f1')
  await reader.feed.caughtUp()
  expect(reader.told.at(-1)).toEqual(['f1'])
  expect(await recovered.promise).toBe('all')
  await reader.feed.close()
})

test('delivers "all" when the server has gone back to fewer changes, and continues from there', async () => {
  const reader = await startFeed('failover')
  await change('failover', 'lost')
  await reader.feed.caughtUp()
  // A replica without the last changes takes over.
  await databases.control.execute('update change_feed_head set sequence = sequence - 1')
  await databases.control.execute("delete from change_feed where subject_id = 'lost'")
  await reader.feed.caughtUp()
  await change('failover', 'next')
  await reader.feed.caughtUp()
  expect(reader.told).toEqual(['all', ['lost'], 'all', ['next']])
  await reader.feed.close()
})
