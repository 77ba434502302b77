import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestDatabases, openTestDatabases } from '../../../test/harness/database.ts'
import { type ChangeFeed, createChangeFeed, recordChange } from '../../platform/database/index.ts'
import { createMetrics, createServer } from '../../platform/http/index.ts'
import { createSecretBox, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createAdminLog } from '../../tenants/operators/index.ts'
import type { Provider, ProviderSettings } from '../providers/index.ts'
import { createRouter } from '../routing/index.ts'
import { createCatalogueStore } from './catalogue.store.ts'
import { createCatalogue, type LiveCatalogue } from './create-catalogue.ts'
import { modelRoutes } from './models.routes.ts'
import { createOperatorCatalogue } from './operator-catalogue.ts'
import { testOrganisation, testSnapshot } from './testing/catalogue-fixture.ts'

const key = 'sk-live-0123456789abcdef'
const masterKey = 'a secret key of tests, 32 bytes or more'

let databases: TestDatabases
let url: string
let instances: Awaited<ReturnType<typeof startInstance>>[]

/** The catalogue of one instance: separate memory, shared database. */
async function startInstance(secretKey = masterKey) {
  const changes: ChangeFeed = createChangeFeed({ database: databases.control, clock: systemClock, log: silentLog })
  const made: ProviderSettings[] = []
  const store = createCatalogueStore({
    database: databases.control,
    secretBox: createSecretBox(secretKey),
    recordChange,
    clock: systemClock,
    log: silentLog,
  })
  const catalogue: LiveCatalogue = createCatalogue({
    configuration: { providers: [{ id: 'configured', format: 'openai', flavour: 'openai', apiKey: key }], models: [] },
    snapshot: testSnapshot,
    store,
    changes,
    createProvider(settings) {
      made.push(settings)
      return { id: settings.id, close: () => Promise.resolve() } as unknown as Provider
    },
    clock: systemClock,
    log: silentLog,
  })
  const router = createRouter({ clock: systemClock, random: Math.random, log: silentLog })
  await catalogue.start()
  await changes.start()
  const operator = createOperatorCatalogue({
    store,
    catalogue,
    deploymentHealth: router,
    changes,
    snapshot: testSnapshot,
    clock: systemClock,
  })
  return {
    catalogue,
    changes,
    operator,
    made,
    ids: () => catalogue.list(testOrganisation(), Date.now()).map(({ id }) => id),
    async close() {
      await changes.close()
      await catalogue.close()
    },
  }
}

beforeAll(async () => {
  databases = await openTestDatabases()
  instances = [await startInstance(), await startInstance()]
  const app = createServer({
    authenticators: {
      organisations: { authenticate: () => undefined, get: () => undefined },
      operatorTokens: { authenticate: (token) => token === 'operator' },
      people: { authenticate: async () => undefined },
    },
    metrics: createMetrics(),
    log: silentLog,
    routes: [modelRoutes({ catalogue: instances[0]!.operator })],
    maximumJsonBytesInFlight: 1024 * 1024,
    maximumJsonBytes: 1024 * 1024,
    limiter: { enter: () => ({ leave() {}, rates: [] }) },
    assertGatewayAccess() {},
    stalledClientMs: 60_000,
    stop: { isStopping: false, isRefusing: false },
    publicUrl: undefined,
    version: 'test',
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return async () => {
    await app.close()
  }
})

afterAll(async () => {
  for (const instance of instances) await instance.close()
  await databases.drop()
})

beforeEach(async () => {
  for (const table of ['providers', 'models', 'deployments', 'prices'])
    await databases.control.execute(`DELETE FROM catalogue_${table}`)
  await databases.control.transaction((transaction) => recordChange(transaction, 'models', 'all'))
  await instances[0]!.changes.caughtUp()
})

async function call(method: string, path: string, body?: unknown, token = 'operator') {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  // Tests read answers of many shapes.
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, text, body: (text === '' ? undefined : JSON.parse(text)) as any }
}

const eastern = { format: 'openai', baseUrl: 'http://127.0.0.1:9/v1', hosting: 'eu', apiKey: key }

describe('a provider, a deployment and a price, one after the other', () => {
  test('make a model callable at once on this instance, and on others', async () => {
    expect((await call('PUT', '/api/providers/east', eastern)).status).toBe(200)
    const deployment = { model: 'org/llama', provider: 'east', wireId: 'llama-3' }
    const made = await call('PUT', '/api/deployments/east%2Fllama', deployment)
    expect(made.body).toMatchObject({ id: 'east/llama', problem: 'it has no price', hosting: 'eu', origin: 'operator' })
    expect(instances[0]!.ids()).not.toContain('eu/org/llama')
    const priced = await call('POST', '/api/deployments/east%2Fllama/prices', { input: '0.15', output: 0.6 })
    expect(priced).toMatchObject({ status: 201, body: { input: '0.15', output: '0.6', inForce: true } })
    expect(instances[0]!.ids()).toContain('eu/org/llama')
    expect(instances[0]!.ids()).not.toContain('org/llama')
    await instances[1]!.changes.caughtUp()
    expect(instances[1]!.ids()).toContain('eu/org/llama')
    expect(await call('GET', '/api/models/org%2Fllama')).toMatchObject({
      status: 200,
      body: { callableIds: ['eu/org/llama'], deployments: [{ health: { circuit: 'closed' } }] },
    })
    expect((await call('DELETE', `/api/deployments/east%2Fllama/prices/${priced.body.id}`)).status).toBe(204)
    expect(instances[0]!.ids()).not.toContain('eu/org/llama')
  })

  test('show the traits of the model and accept the operator’s traits', async () => {
    const at = '/api/deployments/configured%2Fbig'
    const shown = await call('GET', at)
    expect(shown.body.traits).toMatchObject({ maxOutputTokens: 32_000, contextTokens: 200_000, userCharacters: 64 })
    expect(shown.body.traits.sources[0]).toMatchObject({ source: expect.stringContaining('https://') })
    expect((await call('PUT', at, { traits: { refuses: ['stop'], tools: false } })).status).toBe(200)
    const model = await call('GET', '/api/models/big')
    expect(model.body.deployments[0].traits).toMatchObject({ refuses: ['stop'], tools: false, contextTokens: 200_000 })
    expect((await call('PUT', at, { traits: { refuse: ['stop'] } })).status).toBe(400)
    expect((await call('DELETE', at)).status).toBe(204)
  })

  test('a price override replaces the snapshot’s price until it is removed', async () => {
    const priced = await call('POST', '/api/deployments/configured%2Fbig/prices', {
      input: '9.999999999999',
      output: '1',
    })
    expect(priced.status).toBe(201)
    const [newest, older] = (await call('GET', '/api/deployments/configured%2Fbig/prices')).body.data
    expect(newest).toMatchObject({ id: priced.body.id, input: '9.999999999999', inForce: true })
    expect(older).toMatchObject({
      id: null,
      source: 'snapshot 2026-08-01',
      input: '3',
      inForce: false,
      validFrom: null,
    })
    await call('DELETE', `/api/deployments/configured%2Fbig/prices/${priced.body.id}`)
    expect((await call('GET', '/api/deployments/configured%2Fbig/prices')).body.data.at(-1)).toMatchObject({
      input: '3',
      inForce: true,
    })
  })
})

describe('secrets', () => {
  test('a provider’s key is not in clear in the database, the answers or the admin log', async () => {
    const body = { ...eastern, headers: { 'x-tenant': 'header-secret-123' }, credentials: 'credential-secret-456' }
    const shown = await call('PUT', '/api/providers/east', body)
    expect(shown.body).toMatchObject({ apiKeyLastFour: 'cdef', headerNames: ['x-tenant'], hasCredentials: true })
    const rows = await databases.control.query(`SELECT * FROM catalogue_providers`)
    const log = (await createAdminLog({ database: databases.control, clock: systemClock }).loadPage({ limit: 100 }))
      .entries
    const listed = await call('GET', '/api/providers')
    const everything = JSON.stringify([rows, log]) + shown.text + listed.text
    for (const secret of [key, 'header-secret-123', 'credential-secret-456']) expect(everything).not.toContain(secret)
    instances[0]!.catalogue.provider({ providerId: 'east' })
    expect(instances[0]!.made.at(-1)).toMatchObject({ apiKey: key, headers: { 'x-tenant': 'header-secret-123' } })
  })

  test('an absent key is kept, null removes it, and a changed header is in force at once', async () => {
    await call('PUT', '/api/providers/east', { ...eastern, headers: { 'x-tenant': 'one' } })
    const { apiKey: _, ...rest } = eastern
    await call('PUT', '/api/providers/east', { ...rest, headers: { 'x-tenant': 'two' } })
    instances[0]!.catalogue.provider({ providerId: 'east' })
    expect(instances[0]!.made.at(-1)).toMatchObject({ apiKey: key, headers: { 'x-tenant': 'two' } })
    const without = await call('PUT', '/api/providers/east', { ...rest, apiKey: null })
    expect(without.body).toMatchObject({ apiKeyLastFour: null, headerNames: ['x-tenant'] })
  })

  describe('of a provider that gets another address', () => {
    const stored = { ...eastern, headers: { 'x-tenant': 'one' }, credentials: 'credential-secret-456' }
    const { apiKey: _, ...address } = eastern
    const moved = 'http://127.0.0.1:10/v1'
    const google = { format: 'vertex', region: 'europe-west4', project: 'p', hosting: 'eu' }

    test.each<[string, object, string, object]>([
      ['another port', stored, 'PATCH', { baseUrl: moved }],
      ['another port, with a switch', stored, 'PATCH', { baseUrl: moved, enabled: false }],
      ['another scheme', stored, 'PATCH', { baseUrl: 'https://127.0.0.1:9/v1' }],
      ['another host', stored, 'PATCH', { baseUrl: 'http://evil.example:9/v1' }],
      ['a longer host', stored, 'PATCH', { baseUrl: 'http://127.0.0.1.evil.example:9/v1' }],
      ['a subdomain', stored, 'PATCH', { baseUrl: 'http://a.127.0.0.1.example:9/v1' }],
      ['no address any more', stored, 'PATCH', { baseUrl: null }],
      ['a declaration with another address', stored, 'PUT', { ...address, baseUrl: moved }],
      ['a declaration of another format', stored, 'PUT', { format: 'anthropic', hosting: 'eu' }],
      ['another flavour', { format: 'openai', apiKey: key, hosting: 'eu' }, 'PATCH', { flavour: 'groq' }],
      ['an address for the usual one', { format: 'openai', apiKey: key, hosting: 'eu' }, 'PATCH', { baseUrl: moved }],
      ['another region', { ...google, apiKey: key }, 'PATCH', { region: 'evil.example/' }],
    ])('are required again: %s', async (_name, before, method, change) => {
      expect((await call('PUT', '/api/providers/east', before)).status).toBe(200)
      const answer = await call(method, '/api/providers/east', change)
      expect(answer).toMatchObject({ status: 400, body: { error: { param: 'apiKey' } } })
      expect(answer.text).not.toContain(key)
      instances[0]!.catalogue.provider({ providerId: 'east' })
      const { hosting: _hosting, ...settings } = { hosting: '', ...before }
      expect(instances[0]!.made.at(-1)).toMatchObject(settings)
    })

    test('are each required, and null removes them', async () => {
      await call('PUT', '/api/providers/east', stored)
      const patch = (body: object) => call('PATCH', '/api/providers/east', { baseUrl: moved, ...body })
      expect((await patch({ apiKey: 'sk-new' })).body.error.param).toBe('headers')
      expect((await patch({ apiKey: 'sk-new', headers: {} })).body.error.param).toBe('credentials')
      const changed = await patch({ apiKey: 'sk-new', headers: null, credentials: null })
      expect(changed).toMatchObject({ status: 200, body: { headerNames: [], hasCredentials: false, baseUrl: moved } })
    })

    test('are required again after the declaration was replaced by a switch', async () => {
      await call('PUT', '/api/providers/configured', { ...eastern, format: 'openai' })
      expect((await call('PUT', '/api/providers/configured', { enabled: true })).status).toBe(200)
      const answer = await call('PUT', '/api/providers/configured', { ...address, baseUrl: moved })
      expect(answer).toMatchObject({ status: 400, body: { error: { param: 'apiKey' } } })
      await call('DELETE', '/api/providers/configured')
    })

    test('are kept with another path, and for the same address in other words', async () => {
      await call('PUT', '/api/providers/east', { ...stored, baseUrl: 'https://llm.example/v1' })
      for (const baseUrl of ['https://LLM.example:443/v2', 'https://llm.example/v1/'])
        expect((await call('PATCH', '/api/providers/east', { baseUrl, region: 'x' })).status).toBe(200)
      await call('PUT', '/api/providers/west', { format: 'openai', apiKey: key })
      expect((await call('PATCH', '/api/providers/west', { flavour: 'openai', project: 'p' })).status).toBe(200)
    })
  })

  test('with another secret key the provider is omitted and the rest of the catalogue works', async () => {
    await call('PUT', '/api/providers/east', eastern)
    const stranger = await startInstance('another secret key of 32 bytes or more')
    expect(stranger.catalogue.built().providers.has('east')).toBe(false)
    expect(stranger.ids()).toContain('big')
    await stranger.close()
  })
})

describe('validation', () => {
  test.each([
    ['PUT', '/api/providers/Not%20an%20id', eastern, 'id'],
    ['PUT', '/api/providers/east', { ...eastern, hosting: 'eu-west-1' }, 'hosting'],
    ['PUT', '/api/providers/east', { ...eastern, hosting: 'EU' }, 'hosting'],
    ['PUT', '/api/providers/east', { ...eastern, baseUrl: 'https://user:password@host.test' }, 'baseUrl'],
    ['PUT', '/api/providers/east', { ...eastern, baseUrl: 'file:///etc/passwd' }, 'baseUrl'],
    ['PUT', '/api/providers/east', { ...eastern, baseUrl: '' }, 'baseUrl'],
    ['PATCH', '/api/providers/east', { baseUrl: 'no address' }, 'baseUrl'],
    ['PUT', '/api/providers/east', { ...eastern, baseUrl: 'https://host.test/v1#part' }, 'baseUrl'],
    ['PUT', '/api/providers/east', { ...eastern, format: 'anthropic', baseUrl: 'https://host.test?a=b' }, 'baseUrl'],
    ['PUT', '/api/providers/east', { ...eastern, format: 'azure', baseUrl: 'https://host.test?tenant=b' }, 'baseUrl'],
    ['PUT', '/api/providers/east', { ...eastern, headers: { Host: 'evil.example' } }, 'headers.Host'],
    ['PUT', '/api/providers/east', { ...eastern, headers: { 'content-length': '5' } }, 'headers.content-length'],
    ['PUT', '/api/providers/east', { hosting: 'eu' }, 'format'],
    ['PUT', '/api/models/eu%2Fbig', {}, 'id'],
    ['PUT', '/api/models/big', { tier: 'luxury' }, 'tier'],
    ['PUT', '/api/deployments/new', { provider: 'configured' }, 'model'],
    ['PUT', '/api/deployments/new', { model: 'big', provider: 'nobody' }, 'provider'],
    ['PUT', '/api/deployments/configured%2Fbig', { weight: 0 }, 'weight'],
    ['POST', '/api/deployments/configured%2Fbig/prices', { input: '-1', output: '1' }, 'input'],
    ['POST', '/api/deployments/configured%2Fbig/prices', { input: '1e-5', output: '1' }, 'input'],
    [
      'POST',
      '/api/deployments/configured%2Fbig/prices',
      { input: '1', output: '1', validFrom: '2020-01-01T00:00:00Z' },
      'validFrom',
    ],
  ])('%s %s with a wrong %j is a 400 that names %s', async (method, path, body, param) => {
    const answer = await call(method, path, body)
    expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error' } } })
    expect(answer.body.error.param).toContain(param)
    expect(instances[0]!.ids()).toContain('big')
  })

  test.each([
    ['openai', 'https://host.test/v1?tenant=7', 200],
    ['openai', 'https://host.test/v1#', 400],
    ['azure', 'https://host.test/openai?api-version=2025-01-01-preview', 200],
    ['gemini', 'https://host.test?', 400],
    ['ollama', 'https://host.test/api?a=b', 400],
  ])('a provider of the format %s with the address %s gets %s', async (format, baseUrl, status) => {
    await call('PUT', '/api/providers/west', { format, baseUrl: 'https://host.test', apiKey: key })
    const answer = await call('PATCH', '/api/providers/west', { baseUrl })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body.error.param).toBe('baseUrl')
  })

  test('an alias of another model is a conflict', async () => {
    const answer = await call('PUT', '/api/models/small', { aliases: ['big-2026'] })
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict', param: 'aliases' } } })
  })

  test('a provider cannot be removed before the operator’s deployments that use it', async () => {
    await call('PUT', '/api/providers/east', eastern)
    await call('PUT', '/api/deployments/d', { model: 'm', provider: 'east' })
    expect((await call('DELETE', '/api/providers/east')).status).toBe(409)
    expect((await call('DELETE', '/api/deployments/d')).status).toBe(204)
    expect((await call('DELETE', '/api/providers/east')).status).toBe(204)
    expect((await call('DELETE', '/api/providers/east')).status).toBe(404)
  })

  test('a provider of the configuration is disabled and enabled with one field', async () => {
    await call('PUT', '/api/providers/configured', { enabled: false })
    expect(instances[0]!.ids()).toEqual(['portico/offline'])
    await call('DELETE', '/api/providers/configured')
    expect(instances[0]!.ids()).toContain('big')
  })

  test('calls without the operator token are rejected', async () => {
    for (const [method, path] of [
      ['GET', '/api/models'],
      ['PUT', '/api/providers/east'],
      ['GET', '/api/providers'],
    ] as const)
      expect((await call(method, path, method === 'PUT' ? eastern : undefined, 'wrong')).status).toBe(401)
  })
})

test('every change is recorded with the values before and after', async () => {
  await call('PUT', '/api/models/big', { tier: 'base', aliases: ['one'] })
  await call('PUT', '/api/models/big', { tier: 'premium' })
  await call('DELETE', '/api/models/big')
  const { entries } = await createAdminLog({ database: databases.control, clock: systemClock }).loadPage({ limit: 3 })
  expect(entries).toMatchObject([
    { action: 'model.removed', subjectId: 'big', before: { tier: 'premium' }, after: null },
    { action: 'model.updated', before: { tier: 'base', aliases: ['one'] }, after: { tier: 'premium', aliases: null } },
    { action: 'model.created', before: null, after: { tier: 'base', aliases: ['one'] } },
  ])
  expect(entries[0]!.requestId).toMatch(/^req_/)
})
