import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock, type FakeClock } from '../../../test/harness/fake-clock.ts'
import { createChangeFeed, recordChange } from '../../platform/database/index.ts'
import { createSecretBox, type Log, silentLog, systemClock, publicNetworks } from '../../platform/kernel/index.ts'
import { createOrganisationStore, type KeyUse } from './organisations.store.ts'
import { createOrganisations } from './organisations.ts'

const actor = { name: 'ada@example.org', requestId: 'req_test' }
const noonMs = Date.parse('2026-11-21T12:00:00Z')
const minuteMs = 60_000

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

/** Organisations of one instance with a clock that moves by hand, and the writes of uses that it made. */
async function startInstance(clock: FakeClock, log: Log = silentLog) {
  const changeFeed = createChangeFeed({ database: databases.control, clock: systemClock, log: silentLog })
  await changeFeed.start()
  const store = createOrganisationStore(databases.control, recordChange)
  const writes: KeyUse[][] = []
  let fails = false
  const organisations = await createOrganisations({
    webhookRule: publicNetworks(),
    store: {
      ...store,
      async noteKeyUses(uses) {
        if (fails) throw new Error('the database is lost')
        await store.noteKeyUses(uses)
        writes.push([...uses])
      },
    },
    changeFeed,
    clock,
    log,
    secretBox: createSecretBox('a secret key of tests, 32 bytes or more'),
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= organisations.close().then(() => changeFeed.close()))
  return {
    organisations,
    writes,
    keyOf: async (id: string) => (await organisations.loadRecord(id)).apiKey,
    fail: (value: boolean) => (fails = value),
    close,
    [Symbol.asyncDispose]: close,
  }
}

describe('the last use of a key', () => {
  test('is absent for a new key, names the maker, and is written in whole minutes', async () => {
    const clock = createFakeClock(noonMs + 30_000)
    await using instance = await startInstance(clock)
    const { id } = await instance.organisations.create({ name: 'Used' }, actor)
    const { key } = await instance.organisations.createKey(id, actor)
    expect(await instance.keyOf(id)).toMatchObject({ createdBy: 'ada@example.org', lastUsedAt: null })
    instance.organisations.authenticate(`${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`)
    await clock.advance(10_000)
    expect(instance.writes).toEqual([])
    instance.organisations.authenticate(key)
    await clock.advance(10_000)
    await expect.poll(() => instance.keyOf(id)).toMatchObject({ lastUsedAt: noonMs })
  })

  test('is written once for all uses of a minute, together with other keys, and again in the next minute', async () => {
    const clock = createFakeClock(noonMs)
    await using instance = await startInstance(clock)
    const keys: string[] = []
    for (const name of ['One', 'Two']) {
      const { id } = await instance.organisations.create({ name }, actor)
      keys.push((await instance.organisations.createKey(id, actor)).key)
    }
    const useAll = () => keys.forEach((key) => instance.organisations.authenticate(key))
    for (let second = 0; second < 50; second++) {
      useAll()
      await clock.advance(1_000)
    }
    await expect.poll(() => instance.writes.map((uses) => uses.length)).toEqual([2])
    await clock.advance(minuteMs)
    useAll()
    await clock.advance(10_000)
    await expect.poll(() => instance.writes).toHaveLength(2)
    expect(instance.writes[1]!.map(({ usedAtMs }) => usedAtMs)).toEqual([noonMs + minuteMs, noonMs + minuteMs])
  })

  test('is kept by a stop, and an instance that is behind does not set it back', async () => {
    const late = createFakeClock(noonMs + 5 * minuteMs)
    await using instance = await startInstance(late)
    const { id } = await instance.organisations.create({ name: 'Stopped' }, actor)
    const { key } = await instance.organisations.createKey(id, actor)
    await using behind = await startInstance(createFakeClock(noonMs))
    instance.organisations.authenticate(key)
    await instance.close()
    behind.organisations.authenticate(key)
    await behind.close()
    await using reader = await startInstance(late)
    expect(behind.writes).toHaveLength(1)
    expect(await reader.keyOf(id)).toMatchObject({ lastUsedAt: noonMs + 5 * minuteMs })
  })

  test('of a replaced key does not count for the new one', async () => {
    const clock = createFakeClock(noonMs)
    await using instance = await startInstance(clock)
    const { id } = await instance.organisations.create({ name: 'Replaced' }, actor)
    const { key } = await instance.organisations.createKey(id, actor)
    instance.organisations.authenticate(key)
    await instance.organisations.createKey(id, { ...actor, name: 'grace@example.org' })
    await clock.advance(10_000)
    await expect.poll(() => instance.writes).toHaveLength(1)
    expect(await instance.keyOf(id)).toMatchObject({ createdBy: 'grace@example.org', lastUsedAt: null })
  })

  test('is written later if the database is lost, and the request does not notice', async () => {
    const clock = createFakeClock(noonMs)
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_fields: object, message: string) => warnings.push(message) } as unknown as Log
    await using instance = await startInstance(clock, log)
    const { id } = await instance.organisations.create({ name: 'Lost' }, actor)
    const { key } = await instance.organisations.createKey(id, actor)
    instance.fail(true)
    expect(instance.organisations.authenticate(key)?.id).toBe(id)
    await clock.advance(10_000)
    await expect.poll(() => warnings).toEqual(['the last use of keys could not be written; retrying'])
    instance.fail(false)
    await clock.advance(10_000)
    await expect.poll(() => instance.keyOf(id)).toMatchObject({ lastUsedAt: noonMs })
  })
})
