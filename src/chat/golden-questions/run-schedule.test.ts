import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { insertOrganisation, insertSpace } from '../../../test/harness/control-rows.ts'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { createUuid, type OrganisationId, silentLog, type SpaceId } from '../../platform/kernel/index.ts'
import { serviceActor } from '../../tenants/operators/index.ts'
import { makeSpace, type Space } from '../spaces/index.ts'
import { createGoldenSettings } from './golden-settings.ts'
import { createGoldenSettingsStore } from './golden-settings.store.ts'
import { createRunSchedule } from './run-schedule.ts'

const nowMs = Date.parse('2026-11-22T12:00:00Z')
const hourMs = 3_600_000

let databases: TestDatabases
let space: Space
let started: string[]
let untested: string | undefined

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())
beforeEach(async () => {
  started = []
  untested = undefined
  const organisationId = createUuid(nowMs) as OrganisationId
  space = makeSpace(createUuid(nowMs) as SpaceId, { organisationId, name: 'Space', model: 'm' }, nowMs)
  await insertOrganisation(databases.control, organisationId)
  await insertSpace(databases.control, { id: space.id, organisationId })
})

function open() {
  const clock = createFakeClock(nowMs)
  const store = createGoldenSettingsStore(databases.control)
  const storeOf = () => store
  const timeZoneOf = () => 'Asia/Tokyo'
  const runs = {
    enqueueActive: async () => {},
    findUntested: async () => untested,
    startScheduled: async ({ id }: Space) => void started.push(id),
  }
  const getSpace = (id: string) => (id === space.id ? space : undefined)
  return {
    clock,
    settings: createGoldenSettings({ store: storeOf, timeZoneOf, clock }),
    schedule: createRunSchedule({ settings: store, runs, getSpace, timeZoneOf, clock, log: silentLog }),
  }
}

describe('a schedule', () => {
  it('starts one run per time, on one of several instances', async () => {
    const { clock, settings, schedule } = open()
    // 21:00 in Tokyo is now; the next one is in 24 hours.
    const { nextRunAt } = await settings.update(space, { schedule: { every: 'day', time: '21:00' } }, serviceActor)
    expect(nextRunAt).toBe('2026-11-23T12:00:00.000Z')
    await schedule.poll()
    expect(started).toEqual([])
    const other = open()
    for (const instance of [clock, other.clock]) await instance.advance(24 * hourMs)
    await Promise.all([schedule.poll(), other.schedule.poll()])
    expect(started).toEqual([space.id])
    expect((await settings.load(space)).nextRunAt).toBe('2026-11-24T12:00:00.000Z')
  })

  it('makes up for the times of a longer stop with one run', async () => {
    const { clock, settings, schedule } = open()
    await settings.update(space, { schedule: { every: 'day', time: '21:00' } }, serviceActor)
    await clock.advance(100 * hourMs)
    await schedule.poll()
    await schedule.poll()
    expect(started).toEqual([space.id])
  })

  it('starts a run after changes of a published Space once nothing has changed between two polls', async () => {
    const { settings, schedule } = open()
    const startedAfter = async (configuration: string | undefined) => {
      untested = configuration
      await schedule.poll()
      return started.length
    }
    await startedAfter('a')
    expect(await startedAfter('a')).toBe(0)
    const { nextRunAt } = await settings.update(space, { schedule: { every: 'change' } }, serviceActor)
    expect([nextRunAt, await startedAfter('a'), await startedAfter('a')]).toEqual([null, 0, 0])
    space = { ...space, published: true }
    expect([await startedAfter('a'), await startedAfter('b'), await startedAfter('b')]).toEqual([0, 0, 1])
    expect([await startedAfter(undefined), await startedAfter('c')]).toEqual([1, 1])
  })

  it('starts nothing after it was removed', async () => {
    const { clock, settings, schedule } = open()
    await settings.update(space, { schedule: { every: 'week', weekday: 1, time: '01:00' } }, serviceActor)
    await settings.update(space, { schedule: null }, serviceActor)
    await clock.advance(400 * hourMs)
    await schedule.poll()
    expect(started).toEqual([])
  })
})
