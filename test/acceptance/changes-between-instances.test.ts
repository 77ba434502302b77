import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl, withoutPooler } from '../harness/database.ts'
import { type FaultProxy, startFaultProxy } from '../harness/ledger-crash/fault-proxy.ts'
import { hasPgBouncer, type Pooler, startPgBouncer } from '../harness/pgbouncer.ts'
import {
  type ApiAnswer,
  type ApiClient,
  createApiClient,
  expectStatus,
  hasty,
  organisationMakers,
  type SeparatePortico,
  startPortico,
  startSeparatePortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/**
 * Every kind of change through one instance, until another process works by it. Notifications (LISTEN) take the direct
 * address, which leads through a proxy that can lose them; everything else takes the other address.
 */

const hasServer = testServerUrl() !== undefined

const lost = { how: 'when no notification arrives', faults: (proxy: FaultProxy) => proxy.hang() }
const pairs = [
  {
    isPooled: false,
    ways: [
      { how: 'with notifications', faults: () => {} },
      lost,
      { how: 'while the connection for notifications is refused', faults: (proxy: FaultProxy) => proxy.close() },
    ],
  },
  { isPooled: true, ways: [{ ...lost, how: `through PgBouncer, ${lost.how}` }] },
].filter((pair) => hasPgBouncer || !pair.isPooled)

describe.skipIf(!hasServer).each(pairs)('of two instances (PgBouncer: $isPooled)', ({ isPooled, ways }) => {
  let place: DatabasePlace
  let proxy: FaultProxy
  let pooler: Pooler | undefined
  let one: TestPortico
  let two: SeparatePortico
  let operator: ApiClient
  let catalogues = 0

  beforeAll(async () => {
    place = await freshDatabasePlace()
    const server = withoutPooler(place).databaseUrl!
    proxy = await startFaultProxy(server)
    pooler = isPooled ? await startPgBouncer(server, 'transaction') : undefined
    const databaseUrl = pooler?.through(server) ?? server
    one = await startPortico({ place: { ...place, databaseUrl: server, databaseDirectUrl: undefined } })
    two = await startSeparatePortico({
      place: { ...place, databaseUrl, databaseDirectUrl: proxy.url },
      environment: hasty,
    })
    operator = one.operator
  })
  afterAll(async () => {
    await Promise.all([one?.stop(), two?.kill('SIGKILL')])
    await two?.stop()
    await pooler?.stop()
    await proxy?.close().catch(() => {})
    await place?.remove()
  })

  describe.each(ways)('a change through one reaches the other $how', ({ faults }) => {
    let organisation: TestOrganisation
    let space: TestSpace

    beforeAll(async () => {
      const make = organisationMakers(one.url, operator)
      organisation = await make.createOrganisation()
      space = await make.createSpace(organisation)
      await vi.waitFor(
        async () => {
          expectStatus(await complete(), 200)
          expectStatus(await chat(), 200)
        },
        { timeout: 30_000 },
      )
      await faults(proxy)
    })

    const call = (path: string, body: unknown) => createApiClient(two.url, organisation.apiKey)('POST', path, body)
    const messages = [{ role: 'user', content: 'Good morning' }]
    const complete = () => call('/v1/gateway/chat/completions', { model: 'portico/offline', messages })
    const chat = () => call(`/v1/endpoints/${space.endpointId}/chat`, { messages })
    const change = async (method: string, path: string, body?: unknown) =>
      expect((await operator(method, path, body)).status).toBeLessThan(300)
    const changeOrganisation = (fields: object) => change('PATCH', `/api/organisations/${organisation.id}`, fields)

    /** Makes the change, and waits for its effect on the other instance. */
    async function expectSoon(act: () => Promise<void>, read: () => Promise<ApiAnswer>, status: number) {
      await act()
      await expect.poll(async () => (await read()).status, { interval: 10, timeout: 10_000 }).toBe(status)
    }

    it('a revoked key', async () => {
      const team = await organisationMakers(one.url, operator).createOrganisation()
      const read = () =>
        createApiClient(two.url, team.apiKey)('POST', '/v1/gateway/chat/completions', {
          model: 'portico/offline',
          messages,
        })
      await expect.poll(async () => (await read()).status).toBe(200)
      await expectSoon(() => change('POST', `/api/organisations/${team.id}/api-key`), read, 401)
    })

    it('settings of an organisation', async () => {
      await expectSoon(() => changeOrganisation({ gatewayEnabled: false }), complete, 403)
      await expectSoon(() => changeOrganisation({ gatewayEnabled: true }), complete, 200)
    })

    it('the catalogue', async () => {
      const id = `added-${++catalogues}`
      const read = () => createApiClient(two.url, organisation.apiKey)('GET', `/v1/gateway/models/eu/${id}`)
      const provider = { format: 'openai', baseUrl: 'http://127.0.0.1:9', apiKey: 'key', hosting: 'eu' }
      await change('PUT', `/api/providers/${id}`, provider)
      await change('PUT', `/api/models/${id}`, { contextTokens: 8000, maxOutputTokens: 1000, tier: 'base' })
      await change('PUT', `/api/deployments/${id}`, { model: id, provider: id, wireId: id, enabled: true })
      await change('POST', `/api/deployments/${id}/prices`, { input: '1', output: '2' })
      await expect.poll(async () => (await read()).status).toBe(200)
      await expectSoon(() => change('PATCH', `/api/deployments/${id}`, { enabled: false }), read, 404)
      await expectSoon(() => change('PATCH', `/api/deployments/${id}`, { enabled: true }), read, 200)
    })

    it('a published Space', async () => {
      await expectSoon(() => change('POST', `/api/spaces/${space.id}/unpublish`), chat, 404)
      await change('POST', `/api/spaces/${space.id}/publish`)
      space = {
        ...space,
        endpointId: expectStatus(await operator('GET', `/api/spaces/${space.id}`), 200).endpointId,
      }
      await expect.poll(async () => (await chat()).status).toBe(200)
    })

    it('a budget', async () => {
      await expectSoon(() => changeOrganisation({ monthlyBudgetUsd: '0' }), complete, 402)
      await expectSoon(() => changeOrganisation({ monthlyBudgetUsd: '50' }), complete, 200)
    })

    it('a rotated operator token', async () => {
      const rotated = expectStatus(await operator('POST', '/api/operator-token/rotate'), 200).token
      operator = createApiClient(one.url, rotated)
      const read = () => createApiClient(two.url, rotated)('GET', '/api/models')
      await expect.poll(async () => (await read()).status, { interval: 10, timeout: 10_000 }).toBe(200)
    })
  })
})
