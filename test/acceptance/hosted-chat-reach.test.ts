import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl } from '../harness/database.ts'
import { createApiClient, expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'
import { apiBodies, lowestRoles } from '../harness/route-table.ts'
import { enterSite, openSite, openVisit, type Visitor } from '../harness/site.ts'

/** What a session of a visitor reaches: the chat of its site, on every instance, and nothing else. */

let place: DatabasePlace
let portico: TestPortico
let visitor: Visitor
let name: string
let otherName: string
let ids: Record<string, string>

beforeAll(async () => {
  place = await freshDatabasePlace()
  portico = await startPortico({ place })
  const organisation = await portico.createOrganisation()
  const space = await portico.createSpace(organisation)
  name = await openSite(portico, space)
  visitor = await enterSite(portico.url, name)
  otherName = await openSite(portico, await portico.createSpace(organisation))
  ids = { organisationId: organisation.id, spaceId: space.id, endpointId: space.endpointId }
}, 60_000)
afterAll(async () => {
  await portico?.stop()
  await place?.remove()
})

/** The path with the visitor's own organisation, Space and endpoint, and with the site of another Space. */
function addressOf(route: string): string {
  return route
    .split(' ')[1]!
    .replace('/organisations/{id}', `/organisations/${ids.organisationId}`)
    .replace('/spaces/{id}', `/spaces/${ids.spaceId}`)
    .replace('{endpointId}', ids.endpointId!)
    .replace('/s/{name}', `/s/${otherName}`)
    .replaceAll(/\{\w+\}/g, randomUUID())
}

// Routes without a credential give everyone the same.
const closed = Object.entries(lowestRoles).filter(([, lowest]) => lowest !== 'none')

describe('a session of a visitor', () => {
  test.each(closed)('does not reach %s', async (route) => {
    const body = apiBodies[route]?.({ organisationId: ids.organisationId! })
    const [method] = route.split(' ')
    const credentials: Record<string, string>[] = [
      { authorization: `Bearer ${visitor.session}` },
      { authorization: '', 'x-api-key': visitor.session },
      { authorization: '', cookie: `portico.session_token=${visitor.session}` },
    ]
    for (const headers of credentials) {
      const answer = await createApiClient(portico.url, '')(method!, addressOf(route), body, headers)
      expect([route, [401, 403, 404].includes(answer.status), answer.status]).toEqual([route, true, answer.status])
    }
  })

  test('reaches the chat of its site', async () => {
    expectStatus(await visitor.ask(), 200)
  })
})

describe.skipIf(testServerUrl() === undefined)('a second instance', () => {
  test('serves the session, and refuses it from the moment at which the first one has paused the site', async () => {
    await using second = await startPortico({ place })
    const there = createApiClient(second.url, visitor.session)
    const ask = () => there('POST', `/s/${name}/chat`, { messages: [{ role: 'user', content: 'Hello' }] })
    expectStatus(await ask(), 200)
    for (const change of ['pause', 'resume']) {
      expectStatus(await portico.operator('POST', `/api/spaces/${ids.spaceId}/site/${change}`), 200)
      // Whether the second instance has received the change or not: the database decides before a model is called.
      expect([401, 403]).toContain((await ask()).status)
    }
    expect((await openVisit(portico.url, name)).status).toBe(200)
  })
})
