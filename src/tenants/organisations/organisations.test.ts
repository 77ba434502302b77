import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createChangeFeed, recordChange } from '../../platform/database/index.ts'
import { createSecretBox, silentLog, systemClock, publicNetworks, sharedOwner } from '../../platform/kernel/index.ts'
import { createAdminLog } from '../operators/index.ts'
import { createOrganisationStore } from './organisations.store.ts'
import { createOrganisations } from './organisations.ts'

const actor = { name: 'operator', requestId: 'req_test' }
const secretBox = createSecretBox('a secret key of tests, 32 bytes or more')
const unknownId = '00000000-0000-4000-8000-000000000000'

let databases: TestDatabases
beforeAll(async () => {
  databases = await openTestDatabases()
})
afterAll(() => databases.drop())

/** The organisations of one instance of the service. */
async function startInstance() {
  const database = databases.control
  const changeFeed = createChangeFeed({ database, clock: systemClock, log: silentLog })
  await changeFeed.start()
  const organisations = await createOrganisations({
    webhookRule: publicNetworks(),
    store: createOrganisationStore(database, recordChange),
    changeFeed,
    clock: systemClock,
    log: silentLog,
    secretBox,
  })
  return {
    organisations,
    changeFeed,
    async [Symbol.asyncDispose]() {
      organisations.close()
      await changeFeed.close()
    },
  }
}

describe('the API key', () => {
  test('finds its own organisation and no other', async () => {
    await using instance = await startInstance()
    const { organisations } = instance
    const [one, other] = [
      await organisations.create({ name: 'One' }, actor),
      await organisations.create({ name: 'Other' }, actor),
    ]
    const [oneKey, otherKey] = [
      await organisations.createKey(one.id, actor),
      await organisations.createKey(other.id, actor),
    ]
    expect(organisations.authenticate(oneKey.key)?.id).toBe(one.id)
    expect(organisations.authenticate(otherKey.key)?.id).toBe(other.id)
    for (const wrong of ['', 'ptc_', oneKey.key.slice(0, -1), oneKey.key.toLowerCase(), `pto_${oneKey.key.slice(4)}`]) {
      expect(organisations.authenticate(wrong)).toBeUndefined()
    }
  })

  test('is invalid here when its replacement is returned, and on another instance when it has read that', async () => {
    await using here = await startInstance()
    await using there = await startInstance()
    const { id } = await here.organisations.create({ name: 'Rotating' }, actor)
    const first = await here.organisations.createKey(id, actor)
    await there.changeFeed.caughtUp()
    expect(there.organisations.authenticate(first.key)?.id).toBe(id)

    const second = await here.organisations.createKey(id, actor)
    expect(here.organisations.authenticate(first.key)).toBeUndefined()
    expect(here.organisations.authenticate(second.key)?.id).toBe(id)
    await there.changeFeed.caughtUp()
    expect(there.organisations.authenticate(first.key)).toBeUndefined()
    expect(there.organisations.authenticate(second.key)?.id).toBe(id)
  })

  test('exactly one is valid after many concurrent rotations on two instances', async () => {
    await using here = await startInstance()
    await using there = await startInstance()
    const { id } = await here.organisations.create({ name: 'Busy' }, actor)
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, index) => [here, there][index % 2]!.organisations.createKey(id, actor)),
    )
    await Promise.all([here.changeFeed.caughtUp(), there.changeFeed.caughtUp()])
    for (const instance of [here, there]) {
      const live = made.filter(({ key }) => instance.organisations.authenticate(key) !== undefined)
      expect(live).toHaveLength(1)
      const record = await instance.organisations.loadRecord(id)
      expect(record.apiKey?.lastFour).toBe(live[0]!.lastFour)
    }
  })

  test('stops working when its organisation is removed', async () => {
    await using instance = await startInstance()
    const { organisations } = instance
    const { id } = await organisations.create({ name: 'Leaving' }, actor)
    const { key } = await organisations.createKey(id, actor)
    await organisations.remove(id, actor)
    expect(organisations.authenticate(key)).toBeUndefined()
    expect(organisations.get(id)).toBeUndefined()
    await expect(organisations.createKey(id, actor)).rejects.toMatchObject({ code: 'organisation_not_found' })
  })

  test('is in no table in clear text', async () => {
    await using instance = await startInstance()
    const { id } = await instance.organisations.create({ name: 'Secret' }, actor)
    const { key } = await instance.organisations.createKey(id, actor)
    const tables = await databases.control.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = current_schema()`,
    )
    expect(tables.length).toBeGreaterThan(4)
    for (const { name } of tables) {
      const rows = await databases.control.query(`SELECT t::text AS text FROM ${name} t`)
      expect(JSON.stringify(rows)).not.toContain(key.slice(8, -4))
    }
  })
})

describe('organisations', () => {
  test('a change is effective here at once, on another instance after it has caught up, and after a restart', async () => {
    await using here = await startInstance()
    await using there = await startInstance()
    const { id } = await here.organisations.create({ name: 'Acme' }, actor)
    const change = {
      plan: 'enterprise' as const,
      gatewayEnabled: true,
      gatewayOptIn: true,
      monthlyBudgetPicoUsd: 123_456_789_012_345_678n,
      markupBasisPoints: 1_250,
      timeZone: 'Europe/Berlin',
      periodAnchorDay: 15,
      disabledModels: ['b', 'a', 'b'],
      subscription: { endsAt: Date.parse('2030-01-01T00:00:00Z') },
    }
    const changed = await here.organisations.update(id, change, actor)
    expect(changed).toMatchObject({ ...change, disabledModels: ['a', 'b'] })
    expect(here.organisations.get(id)).toEqual(changed)
    await there.changeFeed.caughtUp()
    expect(there.organisations.get(id)).toEqual(changed)
    await using restarted = await startInstance()
    expect(restarted.organisations.get(id)).toEqual(changed)
  })

  test('concurrent changes of different fields are all kept', async () => {
    await using here = await startInstance()
    await using there = await startInstance()
    const { id } = await here.organisations.create({ name: 'Parallel' }, actor)
    await Promise.all([
      here.organisations.update(id, { plan: 'team' }, actor),
      there.organisations.update(id, { gatewayEnabled: true }, actor),
      here.organisations.update(id, { periodAnchorDay: 7 }, actor),
      there.organisations.update(id, { markupBasisPoints: 9 }, actor),
    ])
    expect((await here.organisations.loadRecord(id)).organisation).toMatchObject({
      plan: 'team',
      gatewayEnabled: true,
      periodAnchorDay: 7,
      markupBasisPoints: 9,
    })
  })

  test('a rejected change stores neither a value nor a log entry', async () => {
    await using instance = await startInstance()
    const { organisations } = instance
    const { id } = await organisations.create({ name: 'Strict' }, actor)
    await expect(organisations.update(id, { plan: 'team', periodAnchorDay: 31 }, actor)).rejects.toMatchObject({
      param: 'periodAnchorDay',
    })
    expect(organisations.get(id)?.plan).toBe('free')
    expect((await loadLog(id)).map(({ action }) => action)).toEqual(['organisation.created'])
  })

  test.each(['get', 'update', 'remove', 'createKey'] as const)('an unknown id is not found by %s', async (name) => {
    await using instance = await startInstance()
    const { organisations } = instance
    for (const id of [unknownId, 'no uuid']) {
      if (name === 'get') expect(organisations.get(id)).toBeUndefined()
      else {
        const call = name === 'update' ? organisations.update(id, { name: 'x' }, actor) : organisations[name](id, actor)
        await expect(call).rejects.toMatchObject({ code: 'organisation_not_found' })
      }
    }
  })

  test('are listed newest first, page by page, and found by a part of their name', async () => {
    await using instance = await startInstance()
    const { organisations } = instance
    for (let index = 0; index < 5; index++) await organisations.create({ name: `Paging_% ${index}` }, actor)
    const search = 'paging_%'
    const pages = [
      await organisations.loadPage({ owner: sharedOwner, search, limit: 3, offset: 0 }),
      await organisations.loadPage({ owner: sharedOwner, search, limit: 3, offset: 3 }),
    ]
    expect(pages.map(({ total }) => total)).toEqual([5, 5])
    expect(pages.flatMap(({ records }) => records.map(({ organisation }) => organisation.name))).toEqual([
      'Paging_% 4',
      'Paging_% 3',
      'Paging_% 2',
      'Paging_% 1',
      'Paging_% 0',
    ])
    expect((await organisations.loadPage({ owner: sharedOwner, search: 'pagingx%', limit: 3, offset: 0 })).total).toBe(
      0,
    )
  })

  test("a webhook's secret can be read for signing, is encrypted in the database and is bound to its organisation", async () => {
    await using instance = await startInstance()
    const { organisations } = instance
    const { id } = await organisations.create({ name: 'Hooked' }, actor)
    expect(await organisations.loadWebhookSecret(id)).toBeNull()
    const { secret } = await organisations.setWebhook(id, { url: 'https://hooks.example/t0k3n?x=1' }, actor)
    expect(secret).toMatch(/^whsec_/)
    expect(await organisations.loadWebhookSecret(id)).toBe(secret)
    expect(organisations.get(id)?.webhookUrl).toBe('https://hooks.example/t0k3n?x=1')
    const other = await organisations.create({ name: 'Thief' }, actor)
    await databases.control.execute(
      `UPDATE organisations SET webhook_url = 'https://x', webhook_secret_sealed =
         (SELECT webhook_secret_sealed FROM organisations WHERE id = $1) WHERE id = $2`,
      [id, other.id],
    )
    await expect(organisations.loadWebhookSecret(other.id)).rejects.toThrow()
    expect(JSON.stringify(await loadLog(id))).not.toMatch(/t0k3n|whsec_/)
    await organisations.removeWebhook(id, actor)
    expect(await organisations.loadWebhookSecret(id)).toBeNull()
    for (const url of ['ftp://x', 'https://user:secret@x', 'x']) {
      await expect(organisations.setWebhook(id, { url }, actor)).rejects.toMatchObject({ param: 'url' })
    }
  })
})

describe('the admin log', () => {
  test('has the author of each change, and only the changed fields, before and after', async () => {
    await using instance = await startInstance()
    const { organisations } = instance
    const { id } = await organisations.create({ name: 'Logged' }, actor)
    await organisations.update(id, { monthlyBudgetPicoUsd: 50n * 10n ** 12n, name: 'Logged' }, actor)
    await organisations.update(id, { name: 'Logged' }, actor)
    const first = await organisations.createKey(id, actor)
    const second = await organisations.createKey(id, actor)
    const entries = await loadLog(id)
    expect(entries).toMatchObject([
      { action: 'api_key.rotated', before: { lastFour: first.lastFour }, after: { lastFour: second.lastFour } },
      { action: 'api_key.created', before: null },
      { action: 'organisation.updated', before: { monthlyBudgetUsd: '0' }, after: { monthlyBudgetUsd: '50' } },
      { action: 'organisation.created', actor: 'operator', requestId: 'req_test', subjectId: id, organisationId: id },
    ])
    expect(Object.keys(entries[2]!.after!)).toEqual(['monthlyBudgetUsd'])
    for (const { key } of [first, second]) expect(JSON.stringify(entries)).not.toContain(key)
  })
})

async function loadLog(organisationId: string) {
  const log = createAdminLog({ database: databases.control, clock: systemClock })
  return (await log.loadPage({ organisationId, limit: 100 })).entries
}
