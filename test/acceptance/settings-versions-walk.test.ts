import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { absentVersion } from '../../src/contract/settings-version.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import { expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'
import { lowestRoles } from '../harness/route-table.ts'
import { shopFile } from '../harness/tool-services.ts'

/** Every route that changes settings takes the version that was read, and refuses any other. */

/** What one person writes, or content: no settings. */
const withoutVersion = ['PATCH /api/documents/{id}', 'PATCH /api/spaces/{id}/own-chats/{chatId}']

interface Change {
  body?: object
  /** Where the version is read, if not at the address of the change. */
  from?: string
}

const organisation = '/api/organisations/{id}'
const webhook = { url: 'https://hooks.example/portico' }
const provider = { format: 'openai', baseUrl: 'https://models.example/v1' }
const shop = { name: 'shop', url: 'https://shop.example/v1', document: shopFile }

const changes: Record<string, Change> = {
  'PATCH /api/me': { body: { name: 'Another' } },
  'PATCH /api/people/{id}': { from: '/api/people', body: { isOperator: true, acceptUnverifiedEmail: true } },
  'PATCH /api/alerts/settings': { body: { recipients: ['a@example.com'] } },
  'PUT /api/alerts/webhook': { from: '/api/alerts/settings', body: webhook },
  'DELETE /api/alerts/webhook': { from: '/api/alerts/settings' },
  'PATCH /api/organisations/{id}': { body: { name: 'Another' } },
  'PUT /api/organisations/{id}/opt-in': { from: organisation, body: { optIn: false } },
  'PUT /api/organisations/{id}/webhook': { from: organisation, body: webhook },
  'DELETE /api/organisations/{id}/webhook': { from: organisation },
  'PATCH /api/organisations/{id}/models': { from: organisation, body: { disable: ['portico/offline'] } },
  'PATCH /api/organisations/{id}/members/{personId}': {
    from: '/api/organisations/{id}/members',
    body: { role: 'administrator' },
  },
  'PUT /api/single-sign-on': { body: { name: 'Id', issuer: 'https://id.example', clientId: 'a', clientSecret: 'b' } },
  'PUT /api/single-sign-on/active': { from: '/api/single-sign-on' },
  'DELETE /api/single-sign-on/active': { from: '/api/single-sign-on' },
  'PUT /api/semantic-search': { body: { model: 'walked-embedding' } },
  'DELETE /api/semantic-search': {},
  'PUT /api/providers/{id}': { body: { ...provider, hosting: 'local' } },
  'PATCH /api/providers/{id}': { body: { hosting: 'eu' } },
  'PUT /api/models/{id}': { body: { kind: 'chat', contextTokens: 1_000 } },
  'PATCH /api/models/{id}': { body: { contextTokens: 2_000 } },
  'PUT /api/deployments/{id}': { body: { model: 'walked', provider: 'walked', wireId: 'other' } },
  'PATCH /api/deployments/{id}': { body: { weight: 7 } },
  'PATCH /api/spaces/{id}': { body: { name: 'Another' } },
  'PUT /api/spaces/{id}/site': { body: { enabled: false, name: 'walked', title: 'Walked', dailyCapUsd: '1' } },
  'PATCH /api/spaces/{id}/golden-questions/settings': { body: { maximumCostUsd: 3 } },
  'PATCH /api/spaces/{id}/golden-questions/{questionId}': { body: { mustAbstain: true } },
  'PUT /api/spaces/{id}/tools/{serverId}': { from: '/api/spaces/{id}/tools', body: { ...shop, name: 'renamed' } },
}

let portico: TestPortico
let operator: Browser
/** The ids of the objects, by the beginning of an address. */
let ids: Record<string, string>

beforeAll(async () => {
  portico = await startPortico()
  operator = await createPerson(portico, { email: 'operator@example.org' })
  const team = await portico.createOrganisation()
  const space = await portico.createSpace(team)
  const member = await createPerson(portico, { email: 'member@example.org', organisationId: team.id })
  const { person } = (await member.call('GET', '/api/me')).body
  const put = async (path: string, body: object) => expectStatus(await operator.call('PUT', path, body), 200)
  await put('/api/providers/walked', { ...provider, apiKey: 'a-key' })
  await put('/api/models/walked', { kind: 'chat' })
  await put('/api/deployments/walked', { model: 'walked', provider: 'walked', wireId: 'm' })
  await put('/api/models/walked-embedding', { kind: 'embedding', dimensions: 4, contextTokens: 1_000 })
  await put('/api/deployments/embedding', { model: 'walked-embedding', provider: 'walked', wireId: 'e' })
  const prices = { input: '1', output: '0' }
  expectStatus(await operator.call('POST', '/api/deployments/embedding/prices', prices), 201)
  const tools = `/api/spaces/${space.id}/tools`
  const asked = { messages: [{ role: 'user', content: 'What does a ticket cost?' }] }
  const question = expectStatus(await operator.call('POST', `/api/spaces/${space.id}/golden-questions`, asked), 201)
  const server = expectStatus(await operator.call('POST', tools, { kind: 'openapi', ...shop }), 201)
  ids = {
    '/organisations/{id}': team.id,
    '/spaces/{id}': space.id,
    '/people/{id}': person.id,
    '{personId}': person.id,
    '{serverId}': server.id,
    '{questionId}': question.id,
    '{id}': 'walked',
  }
})
afterAll(() => portico?.stop())

const fill = (address: string) =>
  Object.entries(ids).reduce((text, [place, id]) => text.replace(place, place.replace(/\{\w+\}/, id)), address)

/** In quotes, as the header has it: the version of settings, or their generation. */
async function versionOf(route: string): Promise<string> {
  const [, address] = route.split(' ')
  const { body } = await operator.call('GET', fill(changes[route]!.from ?? address!))
  const items = body.items ?? [body.site ?? body.person ?? body]
  const found =
    items.find(({ id, personId }: { id?: string; personId?: string }) =>
      fill(address!).endsWith(`/${personId ?? id}`),
    ) ?? items[0]
  return `"${found.version ?? found.generation ?? 0}"`
}

const change = (route: string, version: string) => {
  const [method, address] = route.split(' ')
  return operator.call(method!, fill(address!), changes[route]!.body, { 'if-match': version })
}

it('is every route of the API that changes settings', () => {
  const routes = Object.keys(lowestRoles).filter((route) => /^(PUT|PATCH) \/api\//.test(route))
  const walked = Object.keys(changes).filter((route) => !route.startsWith('DELETE'))
  expect([...walked, ...withoutVersion].toSorted()).toEqual(routes.toSorted())
})

describe.each(Object.keys(changes))('%s', (route) => {
  it('refuses another version than the stored one, and takes that', async () => {
    const refused = await change(route, '"999999999"')
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict', param: 'if-match' } } })
    const version = await versionOf(route)
    const taken = await change(route, version)
    expect([taken.status, taken.body?.error?.param]).not.toEqual([409, 'if-match'])
    if (changes[route]!.body) {
      expect(taken.status).toBeLessThan(300)
      expect(await versionOf(route)).not.toBe(version)
    }
  })
})

it('creates a provider only where there is none', async () => {
  const put = () =>
    operator.call('PUT', '/api/providers/absent', { ...provider, hosting: 'eu' }, { 'if-match': `"${absentVersion}"` })
  expectStatus(await put(), 200)
  expect(await put()).toMatchObject({ status: 409, body: { error: { param: 'if-match' } } })
})

it('gives a webhook another version with each signing secret, so that a second new one is refused', async () => {
  for (const route of ['PUT /api/organisations/{id}/webhook', 'PUT /api/alerts/webhook']) {
    const version = await versionOf(route)
    expectStatus(await change(route, version), 200)
    expect((await change(route, version)).body.error.param).toBe('if-match')
  }
})
