import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { createChangeFeed, recordChange } from '../../platform/database/index.ts'
import {
  type Clock,
  type OrganisationId,
  createSecretBox,
  silentLog,
  systemClock,
  publicNetworks,
} from '../../platform/kernel/index.ts'
import { createAdminLog } from '../../tenants/operators/index.ts'
import { createOrganisationStore, createOrganisations } from '../../tenants/organisations/index.ts'
import { createSpaceRemovalStore } from './space-removals.store.ts'
import { createSpaceRemovals, removalLeaseMs, removalPollMs, secondPassAfterMs } from './space-removals.ts'
import { createSpaces } from './spaces.ts'
import { createSpaceStore } from './spaces.store.ts'

const actor = { name: 'operator', requestId: null }
const unknownId = '00000000-0000-4000-8000-000000000000'

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())
afterEach(() => databases.control.execute(`DELETE FROM space_removals`))

/** The parts of one service instance that concern Spaces. */
async function startInstance({
  clock = systemClock,
  onSpaceRemoved = async () => {},
}: {
  clock?: Clock
  onSpaceRemoved?: Parameters<typeof createSpaceRemovals>[0]['onSpaceRemoved']
} = {}) {
  const database = databases.control
  const changeFeed = createChangeFeed({ database, clock: systemClock, log: silentLog })
  await changeFeed.start()
  const organisations = await createOrganisations({
    webhookRule: publicNetworks(),
    store: createOrganisationStore(database, recordChange),
    changeFeed,
    clock,
    log: silentLog,
    secretBox: createSecretBox('a secret key of tests, 32 bytes or more'),
  })
  const removals = createSpaceRemovals({
    store: createSpaceRemovalStore(database),
    onSpaceRemoved,
    clock,
    log: silentLog,
  })
  const spaces = await createSpaces({
    store: createSpaceStore(database, recordChange),
    removals,
    changeFeed,
    clock,
    log: silentLog,
    defaultModel: 'portico/offline',
    publicationProblem: async () => null,
    isModelAvailable: (_organisation, model) => model !== 'unknown',
  })
  return {
    organisations,
    spaces,
    removals,
    changeFeed,
    async [Symbol.asyncDispose]() {
      await removals.close()
      spaces.close()
      organisations.close()
      await changeFeed.close()
    },
  }
}

type Instance = Awaited<ReturnType<typeof startInstance>>

async function createSpace({ organisations, spaces }: Instance, fields: object = {}) {
  const { id } = await organisations.create({ name: 'Owner' }, actor)
  return spaces.create({ organisationId: id, name: 'Handbook', ...fields }, actor)
}

const pendingRemovals = () => databases.control.query(`SELECT * FROM space_removals`)

describe('a Space', () => {
  test('is visible at once, on another instance after it has caught up, and after a restart', async () => {
    await using here = await startInstance()
    await using there = await startInstance()
    const space = await createSpace(here, { instructions: 'Be kind.', settings: { temperature: 0.5 } })
    expect(space).toMatchObject({
      model: 'portico/offline',
      published: false,
      endpointId: null,
      settings: {
        maximumPassages: 30,
        maximumPassageTokens: 8_000,
        wholeSpaceTokens: 6_000,
        baseTierFallback: false,
        temperature: 0.5,
        maximumOutputTokens: null,
        keepUnansweredQuestions: false,
        queryRewriting: 'auto',
        attribution: 'auto',
        ocr: 'auto',
        ocrLanguages: [],
        requiredFilter: [],
      },
    })
    const changed = await here.spaces.update(space.id, { model: 'eu/x', settings: { maximumPassages: 3 } }, actor)
    expect(changed).toMatchObject({
      model: 'eu/x',
      instructions: 'Be kind.',
      settings: { maximumPassages: 3, temperature: 0.5 },
    })
    await there.changeFeed.caughtUp()
    expect(there.spaces.get(space.id)).toEqual(changed)
    await using restarted = await startInstance()
    expect(restarted.spaces.get(space.id.toUpperCase())).toEqual(changed)
  })

  test('that is older than the setting keeps the answers of its model as they are', async () => {
    await using here = await startInstance()
    const { id } = await createSpace(here)
    await databases.control.execute(`UPDATE spaces SET settings = settings - 'attribution' WHERE id = $1`, [id])
    await using restarted = await startInstance()
    expect(restarted.spaces.get(id)!.settings.attribution).toBe('off')
  })

  test.each([
    ['name', { name: '' }],
    ['instructions', { instructions: 'x'.repeat(50_001) }],
    ['model', { model: ' ' }],
    ['model', { model: 'unknown' }],
    ['settings.maximumPassages', { settings: { maximumPassages: 0 } }],
    ['settings.maximumPassages', { settings: { maximumPassages: 51 } }],
    ['settings.ocrLanguages', { settings: { ocrLanguages: ['../eng'] } }],
    ['settings.requiredFilter', { settings: { requiredFilter: ['not'] } }],
    ['settings.maximumPassageTokens', { settings: { maximumPassageTokens: 499 } }],
    ['settings.maximumPassageTokens', { settings: { maximumPassageTokens: 50_001 } }],
    ['settings.wholeSpaceTokens', { settings: { wholeSpaceTokens: -1 } }],
    ['settings.wholeSpaceTokens', { settings: { wholeSpaceTokens: 50_001 } }],
    ['settings.temperature', { settings: { temperature: 2.1 } }],
    ['settings.maximumOutputTokens', { settings: { maximumOutputTokens: 0 } }],
  ])('with an invalid %s is rejected with that field as param', async (param, change) => {
    await using instance = await startInstance()
    const space = await createSpace(instance)
    await expect(instance.spaces.update(space.id, change, actor)).rejects.toMatchObject({
      code: 'invalid_request',
      param,
    })
    expect(instance.spaces.get(space.id)).toEqual(space)
  })

  test('of an unknown organisation is rejected; an unknown Space is not found', async () => {
    await using instance = await startInstance()
    const { spaces } = instance
    const given = { organisationId: unknownId as OrganisationId, name: 'Orphan' }
    await expect(spaces.create(given, actor)).rejects.toMatchObject({ code: 'organisation_not_found' })
    for (const id of [unknownId, 'no uuid']) {
      expect(spaces.get(id)).toBeUndefined()
      for (const call of [
        () => spaces.publish(id, actor),
        () => spaces.update(id, { name: 'x' }, actor),
        () => spaces.remove(id, actor),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: 'space_not_found' })
      }
    }
  })

  test('is listed for its organisation only', async () => {
    await using instance = await startInstance()
    const one = await createSpace(instance)
    const other = await createSpace(instance)
    const page = await instance.spaces.loadPage({ organisationId: one.organisationId, limit: 10, offset: 0 })
    expect(page).toEqual({ total: 1, spaces: [one] })
    expect((await instance.spaces.loadPage({ limit: 1, offset: 0 })).spaces).toEqual([other])
  })

  test('prevents the removal of its organisation', async () => {
    await using instance = await startInstance()
    const space = await createSpace(instance)
    const { organisations, spaces } = instance
    await expect(organisations.remove(space.organisationId, actor)).rejects.toMatchObject({ code: 'conflict' })
    expect(organisations.get(space.organisationId)).toBeDefined()
    await spaces.remove(space.id, actor)
    await organisations.remove(space.organisationId, actor)
    expect(organisations.get(space.organisationId)).toBeUndefined()
  })

  test('the admin log records that instructions changed, but not their text', async () => {
    await using instance = await startInstance()
    const space = await createSpace(instance, { instructions: 'Secret sauce A' })
    await instance.spaces.update(space.id, { instructions: 'Secret sauce B' }, actor)
    const log = createAdminLog({ database: databases.control, clock: systemClock })
    const { entries } = await log.loadPage({ organisationId: space.organisationId, limit: 10 })
    expect(entries[0]).toMatchObject({ action: 'space.updated', after: { instructionsChanged: true } })
    expect(JSON.stringify(entries)).not.toContain('sauce')
  })
})

describe('publishing', () => {
  test('creates an endpoint; unpublishing closes it at once; publishing again opens the same one', async () => {
    await using instance = await startInstance()
    const { spaces } = instance
    const { id } = await createSpace(instance)
    const published = await spaces.publish(id, actor)
    const endpointId = published.endpointId!
    expect(spaces.getEndpoint(endpointId)).toEqual(published)
    await spaces.unpublish(id, actor)
    expect(spaces.getEndpoint(endpointId)).toBeUndefined()
    expect(spaces.get(id)).toMatchObject({ published: false, endpointId })
    expect((await spaces.publish(id, actor)).endpointId).toBe(endpointId)
    expect(spaces.getEndpoint(endpointId)?.id).toBe(id)
  })

  test('twice at the same time creates one endpoint', async () => {
    await using here = await startInstance()
    await using there = await startInstance()
    const { id } = await createSpace(here)
    const both = await Promise.all([here.spaces.publish(id, actor), there.spaces.publish(id, actor)])
    expect(both[0].endpointId).toBe(both[1].endpointId)
  })

  test('another instance stops answering when it has read that a Space is unpublished', async () => {
    await using here = await startInstance()
    await using there = await startInstance()
    const { id } = await createSpace(here)
    const { endpointId } = await here.spaces.publish(id, actor)
    await there.changeFeed.caughtUp()
    expect(there.spaces.getEndpoint(endpointId!)).toBeDefined()
    await here.spaces.unpublish(id, actor)
    await there.changeFeed.caughtUp()
    expect(there.spaces.getEndpoint(endpointId!)).toBeUndefined()
  })
})

describe('the removal of a Space', () => {
  test('hides it at once and removes its documents twice: now, and after every running upload has ended', async () => {
    const clock = createFakeClock()
    const removed: string[] = []
    await using instance = await startInstance({
      clock,
      onSpaceRemoved: async ({ spaceId }) => void removed.push(spaceId),
    })
    const space = await createSpace(instance)
    const { endpointId } = await instance.spaces.publish(space.id, actor)
    await instance.spaces.remove(space.id, actor)
    expect(instance.spaces.get(space.id)).toBeUndefined()
    expect(instance.spaces.getEndpoint(endpointId!)).toBeUndefined()
    await instance.removals.idle()
    expect(removed).toEqual([space.id])
    await clock.advance(secondPassAfterMs)
    await instance.removals.idle()
    expect(removed).toEqual([space.id, space.id])
    expect(await pendingRemovals()).toEqual([])
  })

  test('is retried until it succeeds', async () => {
    const clock = createFakeClock()
    let failures = 3
    const attempts: number[] = []
    await using instance = await startInstance({
      clock,
      async onSpaceRemoved() {
        attempts.push(clock.now())
        if (failures-- > 0) throw new Error('the corpus is unavailable')
      },
    })
    const space = await createSpace(instance)
    await instance.spaces.remove(space.id, actor)
    for (let poll = 0; poll < 10; poll++) {
      await instance.removals.idle()
      await clock.advance(removalPollMs)
    }
    await instance.removals.idle()
    expect(attempts).toHaveLength(4)
    await clock.advance(secondPassAfterMs)
    await instance.removals.idle()
    expect(await pendingRemovals()).toEqual([])
  })

  test('is resumed after the process that ran it was killed', async () => {
    const clock = createFakeClock()
    const space = await (async () => {
      await using dying = await startInstance({ clock })
      const made = await createSpace(dying)
      await dying.removals.close()
      await dying.spaces.remove(made.id, actor)
      return made
    })()
    // As if the process had been killed during the removal.
    const store = createSpaceRemovalStore(databases.control)
    await store.takeDue(clock.now(), clock.now() + removalLeaseMs)
    const removed: string[] = []
    await using restarted = await startInstance({
      clock,
      onSpaceRemoved: async ({ spaceId }) => void removed.push(spaceId),
    })
    await restarted.removals.idle()
    expect(removed).toEqual([])
    await clock.advance(removalLeaseMs)
    await restarted.removals.idle()
    expect(removed).toEqual([space.id])
  })

  test('is run by one instance at a time', async () => {
    const clock = createFakeClock()
    const gate = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    let calls = 0
    const onSpaceRemoved = () => {
      calls++
      started.resolve()
      return gate.promise
    }
    await using here = await startInstance({ clock, onSpaceRemoved })
    await using there = await startInstance({ clock, onSpaceRemoved })
    const space = await createSpace(here)
    await here.spaces.remove(space.id, actor)
    await started.promise
    there.removals.wake()
    await there.removals.idle()
    expect(calls).toBe(1)
    gate.resolve()
    await here.removals.idle()
  })

  test('becomes due again at once when its process stops', async () => {
    const clock = createFakeClock()
    const started = Promise.withResolvers<void>()
    const instance = await startInstance({
      clock,
      onSpaceRemoved: (_removed, signal) => {
        started.resolve()
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      },
    })
    const space = await createSpace(instance)
    await instance.spaces.remove(space.id, actor)
    await started.promise
    await instance[Symbol.asyncDispose]()
    const store = createSpaceRemovalStore(databases.control)
    expect(await store.takeDue(clock.now(), clock.now())).toMatchObject({ spaceId: space.id })
  })
})
