import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { sharedOwner, silentLog } from '../../platform/kernel/index.ts'
import { providerError, testDeployment } from '../models/testing/catalogue-fixture.ts'
import { failuresToOpen, firstOpenMs } from './deployment-state.ts'
import { createHistoryCounts, createHistoryWriter } from './deployment-history.ts'
import { loadCalledToday, loadFailures, loadHistory } from './deployment-history.store.ts'
import { createRouter } from './router.ts'

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())
beforeEach(async () => {
  for (const table of ['days', 'errors', 'latency', 'events', 'failures'])
    await databases.control.execute(`delete from deployment_${table}`)
})

const a = testDeployment('a')

/** One instance: a router, its counts and their writer. */
function openInstance() {
  const clock = createFakeClock()
  const database = databases.control.for(sharedOwner)
  const counts = createHistoryCounts({ clock })
  const router = createRouter({ clock, random: () => 0, log: silentLog, history: counts.record })
  const failing = () => router.failing()
  const writer = createHistoryWriter({ database, clock, log: silentLog, counts, failing })
  const call = (outcome: () => Promise<string>, streamed = false) =>
    router
      .run({ candidates: [a], signal: new AbortController().signal, maximumAttempts: 1, streamed }, outcome)
      .catch(() => undefined)
  const answer = (ms: number, streamed?: boolean) =>
    call(async () => {
      await clock.advance(ms)
      return 'hello'
    }, streamed)
  const fail = () => call(() => Promise.reject(providerError('server_error', { status: 500 })))
  const today = () => new Date(clock.now()).toISOString().slice(0, 10)
  const load = () => loadHistory(database, today(), 10)
  return { clock, counts, router, writer, answer, fail, call, load, database, today }
}

describe('the history of deployments', () => {
  test('adds outcomes and durations of several instances', async () => {
    const [one, other] = [openInstance(), openInstance()]
    await one.answer(100)
    await one.answer(100)
    await other.answer(1_000, true)
    other.router.reportAnswer('a', { outputTokens: 5, durationMs: 4_000, isStream: true })
    await other.fail()
    await other.call(() => Promise.reject(providerError('rate_limit', { status: 429 })))
    await one.writer.flush()
    await other.writer.flush()
    const { days, errors, durations } = await one.load()
    expect(days).toEqual([
      { deploymentId: 'a', day: one.today(), answered: 3, failed: 1, limited: 1, rejected: 0, broken: 0 },
    ])
    expect(errors.toSorted((x, y) => (x.errorClass < y.errorClass ? -1 : 1))).toEqual([
      { deploymentId: 'a', errorClass: 'rate_limit', calls: 1 },
      { deploymentId: 'a', errorClass: 'server_error', calls: 1 },
    ])
    const [measured] = durations
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
    expect([sum(measured!.totals), sum(measured!.firstBytes)]).toEqual([3, 1])
    // 100 ms are in the bucket that ends at 108 ms, 4 s in the one that begins at 4,096 - 18 %.
    expect(measured!.buckets.toSorted((x, y) => x - y)).toEqual([26, 39, 47])
    await one.writer.close()
    await other.writer.close()
  })

  test('counts a broken stream as a failed call of its class', async () => {
    const instance = openInstance()
    await instance.answer(10, true)
    instance.router.reportBrokenStream('a', providerError('connection', { afterFirstByte: true }))
    await instance.writer.flush()
    const { days, errors } = await instance.load()
    expect(days[0]).toMatchObject({ answered: 1, broken: 1 })
    expect(errors).toEqual([{ deploymentId: 'a', errorClass: 'connection', calls: 1 }])
    await instance.writer.close()
  })

  test('states what fails now, once for all instances, until it answers again', async () => {
    const [one, other] = [openInstance(), openInstance()]
    for (let call = 0; call < failuresToOpen; call += 1) await one.fail()
    for (let call = 0; call < failuresToOpen; call += 1) await other.fail()
    await one.writer.flush()
    await other.writer.flush()
    expect(await loadFailures(one.database)).toMatchObject([
      { deploymentId: 'a', kind: 'circuit', errorClass: 'server_error', status: 500, instances: 2 },
    ])
    expect(await loadCalledToday(one.database)).toEqual(
      one.today() === new Date().toISOString().slice(0, 10) ? ['a'] : [],
    )
    await other.clock.advance(firstOpenMs)
    await other.answer(1)
    await other.writer.flush()
    expect(await loadFailures(one.database)).toMatchObject([{ deploymentId: 'a', instances: 1 }])
    const { events } = await one.load()
    expect(events.map(({ kind, deploymentId }) => [kind, deploymentId]).toSorted()).toEqual([
      ['closed', 'a'],
      ['opened', 'a'],
      ['opened', 'a'],
    ])
    await one.writer.close()
    expect(await loadFailures(one.database)).toEqual([])
    await other.writer.close()
  })

  test('states an account error until the key works', async () => {
    const instance = openInstance()
    await instance.call(() => Promise.reject(providerError('authentication', { status: 401 })))
    await instance.writer.flush()
    expect(await loadFailures(instance.database)).toMatchObject([{ deploymentId: 'a', kind: 'account', status: 401 }])
    await instance.answer(1)
    await instance.writer.flush()
    expect(await loadFailures(instance.database)).toEqual([])
    await instance.writer.close()
  })

  test('keeps what could not be written, and adds it with the next counts', async () => {
    const instance = openInstance()
    await instance.answer(100)
    await databases.control.execute('alter table deployment_latency rename to deployment_latency_away')
    await expect(instance.writer.flush()).rejects.toThrow()
    await databases.control.execute('alter table deployment_latency_away rename to deployment_latency')
    await instance.answer(100)
    await instance.writer.flush()
    const { days } = await instance.load()
    expect(days).toMatchObject([{ answered: 2 }])
    await instance.writer.close()
  })
})
