import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl, withoutPooler } from '../harness/database.ts'
import { hasPgBouncer, type Pooler, startPgBouncer } from '../harness/pgbouncer.ts'
import {
  createApiClient,
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

const isPossible = testServerUrl() !== undefined && hasPgBouncer
const title = 'two instances behind PgBouncer in transaction mode'

describe.skipIf(!isPossible)(
  isPossible ? title : `${title} (skipped: needs PORTICO_TEST_DATABASE_URL and pgbouncer)`,
  () => {
    let place: DatabasePlace
    let pooler: Pooler
    let one: TestPortico
    let two: TestPortico
    let organisation: TestOrganisation
    let space: TestSpace

    beforeAll(async () => {
      place = await freshDatabasePlace()
      const server = withoutPooler(place).databaseUrl!
      pooler = await startPgBouncer(server, 'transaction')
      const pooled = { ...place, databaseUrl: pooler.through(server), databaseDirectUrl: server }
      one = await startPortico({ place: pooled })
      two = await startPortico({ place: pooled })
      organisation = await one.createOrganisation()
      space = await one.createSpace(organisation)
      // A change is on the other instance within a second, not at once.
      const models = () => createApiClient(two.url, organisation.apiKey)('GET', '/v1/gateway/models')
      await vi.waitFor(async () => expectStatus(await models(), 200), { timeout: 20_000 })
    })
    afterAll(async () => {
      await Promise.all([one?.stop(), two?.stop()])
      await pooler?.stop()
      await place?.remove()
    })

    const completion = { model: 'portico/offline', messages: [{ role: 'user', content: 'Good morning' }] }
    const complete = (portico: TestPortico, key: string) =>
      createApiClient(portico.url, key)('POST', '/v1/gateway/chat/completions', completion)

    it('bills the calls of both instances, and the audit finds nothing', async () => {
      const calls = Array.from({ length: 40 }, (_, index) => complete(index % 2 ? one : two, organisation.apiKey))
      for (const answer of await Promise.all(calls)) expectStatus(answer, 200)
      await expect
        .poll(async () => expectStatus(await two.operator('GET', `/api/organisations/${organisation.id}/usage`), 200))
        .toMatchObject({ totals: { requests: 40 } })
      expect(expectStatus(await one.operator('GET', '/api/audit'), 200)).toMatchObject({ findings: [] })
    })

    it('finds and cites on one instance what was uploaded to the other', async () => {
      const form = uploadForm('A ticket of the museum costs 12 euros.', 'museum.md')
      const client = createApiClient(two.url, organisation.apiKey)
      const { id } = expectStatus(await client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
      expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
      for (const portico of [one, two]) {
        const chat = createApiClient(portico.url, organisation.apiKey)
        const question = { messages: [{ role: 'user', content: 'How much does a ticket cost?' }] }
        const answer = await chat('POST', `/v1/endpoints/${space.endpointId}/chat`, question, {
          'service-enable-inline-sources': 'true',
        })
        expect(expectStatus(answer, 200)).toMatchObject({
          content: expect.stringContaining('12 euros'),
          references: [{ title: 'museum.md' }],
        })
      }
    })

    it('a revoked key is refused by the other instance', async () => {
      const team = await one.createOrganisation()
      await expect.poll(async () => (await complete(two, team.apiKey)).status).toBe(200)
      expectStatus(await one.operator('POST', `/api/organisations/${team.id}/api-key`), 201)
      await expect.poll(async () => (await complete(two, team.apiKey)).status, { interval: 10 }).toBe(401)
    })
  },
)
