import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type TestPortico,
  expectStatus,
  startPortico,
  uploadForm,
  waitForDocument,
} from '../../../test/harness/portico.ts'

let portico: TestPortico
beforeAll(async () => {
  portico = await startPortico()
})
afterAll(() => portico.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'

test('creates a Space with defaults, changes it and lists it for its organisation only', async () => {
  const { operator } = portico
  const one = await portico.createOrganisation()
  const other = await portico.createOrganisation()
  const made = await operator('POST', '/api/spaces', { organisationId: one.id, name: 'Handbook' })
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe(`/api/spaces/${made.body.id}`)
  expect(made.body).toMatchObject({
    organisationId: one.id,
    name: 'Handbook',
    instructions: '',
    model: 'portico/offline',
    settings: {
      maximumPassages: 30,
      maximumPassageTokens: 8_000,
      wholeSpaceTokens: 6_000,
      baseTierFallback: false,
      temperature: null,
      maximumOutputTokens: null,
      keepUnansweredQuestions: false,
      queryRewriting: 'auto',
    },
    published: false,
    endpointId: null,
  })
  expect(expectStatus(await operator('GET', `/api/spaces/${made.body.id}`), 200)).toEqual(made.body)
  const change = { instructions: 'Be brief.', settings: { maximumPassages: 3 } }
  const changed = expectStatus(await operator('PATCH', `/api/spaces/${made.body.id}`, change), 200)
  expect(changed).toMatchObject({ name: 'Handbook', instructions: 'Be brief.', settings: { maximumPassages: 3 } })
  const page = expectStatus(await operator('GET', `/api/spaces?organisationId=${one.id}`), 200)
  expect(page).toEqual({ total: 1, limit: 20, offset: 0, items: [changed] })
  expect(expectStatus(await operator('GET', `/api/spaces?organisationId=${other.id}`), 200).total).toBe(0)
})

test.each([
  ['organisationId', 'POST', '/api/spaces', { name: 'x' }],
  ['organisationId', 'POST', '/api/spaces', { organisationId: 'x', name: 'x' }],
  ['name', 'POST', '/api/spaces', { organisationId: unknownId, name: '' }],
  [
    'settings.temperature',
    'POST',
    '/api/spaces',
    { organisationId: unknownId, name: 'x', settings: { temperature: 3 } },
  ],
  ['organisationId', 'GET', '/api/spaces?organisationId=x', undefined],
  ['limit', 'GET', '/api/spaces?limit=101', undefined],
])('rejects an invalid %s with a 400 that names it: %s %s', async (param, method, path, body) => {
  const answer = await portico.operator(method, path, body)
  expect([answer.status, answer.body.error.param]).toEqual([400, param])
})

test('answers 404 with a specific code for a missing Space or organisation', async () => {
  const { operator } = portico
  for (const id of [unknownId, 'x']) {
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/publish'],
      ['POST', '/unpublish'],
    ] as const) {
      const answer = await operator(method, `/api/spaces/${id}${path}`)
      expect([answer.status, answer.body.error.code]).toEqual([404, 'space_not_found'])
    }
  }
  const orphan = await operator('POST', '/api/spaces', { organisationId: unknownId, name: 'x' })
  expect([orphan.status, orphan.body.error.code]).toEqual([404, 'organisation_not_found'])
})

test('an endpoint answers while its Space is published, then 404 at once, and keeps its id', async () => {
  const organisation = await portico.createOrganisation()
  const space = await portico.createSpace(organisation)
  const ask = () =>
    organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, {
      messages: [{ role: 'user', content: 'Hello?' }],
    })
  expect((await ask()).status).toBe(200)
  expectStatus(await portico.operator('POST', `/api/spaces/${space.id}/unpublish`), 200)
  expect((await ask()).status).toBe(404)
  const again = expectStatus(await portico.operator('POST', `/api/spaces/${space.id}/publish`), 200)
  expect(again.endpointId).toBe(space.endpointId)
  expect((await ask()).status).toBe(200)
})

test('deleting a Space removes its documents and its endpoint, and later requests answer 404', async () => {
  const organisation = await portico.createOrganisation()
  const { client } = organisation
  const space = await portico.createSpace(organisation)
  const form = uploadForm('The otter sleeps at noon.', 'otter.txt')
  const { id } = expectStatus(await client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
  expect(await waitForDocument(client, id)).toMatchObject({ status: 'ready' })
  expect((await portico.operator('DELETE', `/api/spaces/${space.id}`)).status).toBe(204)
  expect((await client('GET', `/v1/documents?spaceId=${space.id}`)).status).toBe(404)
  const chat = await client('POST', `/v1/endpoints/${space.endpointId}/chat`, {
    messages: [{ role: 'user', content: '?' }],
  })
  expect(chat.status).toBe(404)
  await expect
    .poll(async () => (await client('GET', `/v1/documents/${id}`)).status, { interval: 20, timeout: 10_000 })
    .toBe(404)
})
