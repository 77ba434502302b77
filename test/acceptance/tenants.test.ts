import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openBrowser } from '../harness/people.ts'
import {
  type ApiAnswer,
  type ApiClient,
  createApiClient,
  expectStatus,
  startPortico,
  type TestPortico,
  uploadForm,
} from '../harness/portico.ts'
import { apiBodies, lowestRoles, operationsOf } from '../harness/route-table.ts'
import { createTenant, type Tenant, type TenantIds } from '../harness/tenant.ts'

/**
 * Every route of the API description, called with the ids of real objects of an organisation by callers without a right to them. No
 * answer contains their data, and no row changes. A new route fails until it is in the table of roles and its ids are known here.
 */

type Installation = Record<'providerId' | 'modelId' | 'deploymentId' | 'priceId' | 'journalId' | 'deliveryId', string>
type Ids = TenantIds & Installation

/** Routes without an id of another organisation: each caller with the credential gets its own data. */
const ownData = new Set([
  'GET /',
  'GET /livez',
  'GET /readyz',
  'GET /v1/documents/supported-file-types',
  'GET /v2/documents/supported-file-types',
  'GET /v1/gateway/models',
  'GET /v1/gateway/models/{id}',
  'POST /v1/gateway/chat/completions',
  'GET /v2/gateway/models',
  'GET /v2/gateway/models/{id}',
  'POST /v2/gateway/chat/completions',
  'POST /v2/gateway/responses',
  'POST /v2/gateway/responses/input_tokens',
  'GET /v2/gateway/anthropic/v1/models',
  'GET /v2/gateway/anthropic/v1/models/{id}',
  'POST /v2/gateway/anthropic/v1/messages',
  'POST /v2/gateway/anthropic/v1/messages/count_tokens',
  'GET /s/{name}/config',
  'GET /s/{name}/challenge',
  'POST /s/{name}/session',
  'GET /api/setup',
  'GET /api/me',
  'PATCH /api/me',
  'GET /api/me/sessions',
  'GET /api/organisations',
  'GET /api/spaces',
])

const messages = [{ role: 'user', content: 'Hi' }]

/** Bodies that name objects of the organisation, where those of the table of roles do not. */
const bodies: Record<string, (ids: Ids) => unknown> = {
  'POST /v1/documents': () => uploadForm('Text of a stranger.', 'stranger.txt'),
  'POST /v2/documents': () => uploadForm('Text of a stranger.', 'stranger.txt'),
  'POST /api/spaces/{id}/documents': () => uploadForm('Text of a stranger.', 'stranger.txt'),
  'PATCH /v1/documents/{id}': () => ({ name: 'renamed.txt' }),
  'PATCH /v2/documents/{id}': () => ({ name: 'renamed.txt' }),
  'POST /v1/gateway/chat/completions': () => ({ model: 'portico/offline', messages }),
  'POST /v2/gateway/chat/completions': () => ({ model: 'portico/offline', messages }),
  // This installation has no model of these kinds.
  'POST /v2/gateway/embeddings': () => ({ model: 'no-embeddings', input: 'Hi' }),
  'POST /v2/gateway/rerank': () => ({ model: 'no-reranker', query: 'Hi', documents: ['Hi'] }),
  'POST /v2/gateway/responses': () => ({ model: 'portico/offline', input: 'Hi' }),
  'POST /v2/gateway/responses/input_tokens': () => ({ model: 'portico/offline', input: 'Hi' }),
  'POST /v2/gateway/anthropic/v1/messages': () => ({ model: 'portico/offline', max_tokens: 50, messages }),
  'POST /v2/gateway/anthropic/v1/messages/count_tokens': () => ({ model: 'portico/offline', messages }),
  'POST /v2/endpoints/{endpointId}/mcp': () => ({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  'PUT /v2/endpoints/{endpointId}/answers/{requestId}/rating': () => ({ rating: 'down' }),
  'POST /v1/endpoints/{endpointId}/chat': () => ({ messages: [{ role: 'user', content: 'What does a ticket cost?' }] }),
  'POST /v2/endpoints/{endpointId}/chat': () => ({ messages: [{ role: 'user', content: 'What does a ticket cost?' }] }),
  'POST /v2/endpoints/{endpointId}/search': () => ({ query: 'What does a ticket cost?' }),
  'POST /s/{name}/session': () => ({ visitorId: 'a31f8d0e-5c1b-4c55-9f0e-3f5a8f3f2c11' }),
  'POST /api/spaces/{id}/documents/delete': ({ documentId }) => ({ ids: [documentId] }),
  'POST /api/spaces/{id}/documents/retry': ({ documentId }) => ({ ids: [documentId] }),
  'POST /api/spaces/{id}/documents/metadata': ({ documentId }) => ({ ids: [documentId], set: { colour: 'red' } }),
  'POST /api/setup': () => ({ email: 'setup@example.org', name: 'Setup', password: 'a long password' }),
  'PATCH /api/me': () => ({ name: 'stranger' }),
  'PATCH /api/people/{id}': () => ({ isOperator: true }),
  'POST /api/people/{id}/password-reset': () => ({}),
  'POST /api/password-resets/{token}': () => ({ password: 'a new and long password' }),
  'POST /api/operator-invitations': () => ({ email: 'stranger@example.org' }),
  'POST /api/organisations': () => ({ name: 'Stranger', plan: 'enterprise' }),
  'PUT /api/organisations/{id}/webhook': () => ({ url: 'https://stranger.example/' }),
  'PUT /api/providers/{id}': () => ({ format: 'openai', flavour: 'generic', baseUrl: 'https://stranger.example/v1' }),
  'PATCH /api/providers/{id}': () => ({ enabled: false }),
  'POST /api/providers/{id}/deployments': () => ({ models: [{ id: 'stranger' }] }),
  'PUT /api/models/{id}': () => ({ kind: 'chat' }),
  'PATCH /api/models/{id}': () => ({ enabled: false }),
  'PUT /api/deployments/{id}': ({ modelId, providerId }) => ({ model: modelId, provider: providerId }),
  'PATCH /api/deployments/{id}': () => ({ enabled: false }),
  'POST /api/deployments/{id}/prices': () => ({ input: '0', output: '0' }),
}

/** The kind of `{id}`, by the start of the path. */
const idKinds: [RegExp, keyof Ids][] = [
  [/^\/api\/(?:console\/)?organisations\//, 'organisationId'],
  [/^\/api\/(?:console\/)?spaces\//, 'spaceId'],
  [/^\/v2\/documents\/sources\//, 'sourceId'],
  [/^\/(?:api|v[12])\/documents\//, 'documentId'],
  [/^\/api\/people\//, 'personId'],
  [/^\/api\/me\/sessions\//, 'sessionId'],
  [/^\/api\/operator-invitations\//, 'invitationId'],
  [/^\/api\/providers\//, 'providerId'],
  [/^\/api\/(?:console\/)?models\//, 'modelId'],
  [/^\/v[12]\/gateway\/(?:anthropic\/v1\/)?models\//, 'modelId'],
  [/^\/api\/deployments\//, 'deploymentId'],
]

let portico: TestPortico
let tenant: Tenant
let stranger: Tenant
let installation: Installation
let before: string[]

beforeAll(async () => {
  portico = await startPortico({ settings: { ollama: { detect: false } } })
  installation = await createInstallation()
  tenant = await createTenant(portico, 'zebra7731')
  stranger = await createTenant(portico, 'lizard4462')
  before = await steadyRows()
}, 180_000)
afterAll(() => portico?.stop())

async function createInstallation(): Promise<Installation> {
  const { operator } = portico
  const provider = { format: 'openai', flavour: 'generic', baseUrl: 'http://127.0.0.1:9/v1', hosting: 'us' }
  const declared = { ...provider, models: 'declared', apiKey: 'sk-zebra7731-secret-of-the-provider' }
  expectStatus(await operator('PUT', '/api/providers/walked', declared), 200)
  const model = { kind: 'chat', maxOutputTokens: 100, contextTokens: 1000 }
  expectStatus(await operator('PUT', '/api/models/walked-model', model), 200)
  const deployment = { model: 'walked-model', provider: 'walked' }
  expectStatus(await operator('PUT', '/api/deployments/walked-deployment', deployment), 200)
  const prices = { input: '1', output: '1' }
  const price = expectStatus(await operator('POST', '/api/deployments/walked-deployment/prices', prices), 201)
  // Nothing on the embedded engine has one.
  const journalId = '7fb8a9de-6f4e-4a0c-9c62-0e5a1a1d7b11'
  // Only operators reach messages about alerts.
  const deliveryId = '3c1de0f2-50f5-4d0e-8e1f-0a4f6a1f2b22'
  return {
    providerId: 'walked',
    modelId: 'walked-model',
    deploymentId: 'walked-deployment',
    priceId: price.id,
    journalId,
    deliveryId,
  }
}

/**
 * All rows of both databases that belong to the tenant or to the installation. Not the counts of answers and visits, which are written some seconds
 * after the tenant's own question.
 */
async function tenantRows(): Promise<string[]> {
  const names = [...Object.values(tenant.ids), ...Object.values(installation), tenant.marker]
  const found: string[] = []
  for (const name of ['control', 'corpus'] as const) {
    const database = portico.service[name]
    const tables = await database.query<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
       AND relname NOT IN ('insight_answers', 'insight_citations', 'site_days')`,
    )
    for (const table of tables) {
      const rows = await database.query<{ row: string }>(
        `SELECT t::text AS row FROM ${table.name} t WHERE t::text ~ $1::text ORDER BY 1`,
        [names.join('|')],
      )
      found.push(...rows.map(({ row }) => `${table.name}: ${row}`))
    }
  }
  return found
}

/** Background work that the objects have started ends first. */
async function steadyRows(): Promise<string[]> {
  let rows = await tenantRows()
  const isSteady = async () => {
    const last = rows
    rows = await tenantRows()
    return rows.join('\n') === last.join('\n')
  }
  await vi.waitUntil(isSteady, { timeout: 60_000, interval: 1_500 })
  return rows
}

function addressOf(route: string, ids: Ids, last: Ids = ids): string {
  const path = route.split(' ')[1]!
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const target = names.reduce((address, name, index) => {
    // Only the last id of a path names the object itself; the others name what contains it.
    const from = index === names.length - 1 ? last : ids
    return address.replace(`{${name}}`, idOf(path, name, from))
  }, path)
  return /^\/v[12]\/documents(?:\/sources)?$/.test(target) ? `${target}?spaceId=${last.spaceId}` : target
}

function idOf(path: string, name: string, ids: Ids): string {
  if (name === 'token') return ids.invitationId
  const kind = name === 'id' ? idKinds.find(([start]) => start.test(path))?.[1] : (name as keyof Ids)
  const id = kind && ids[kind]
  if (id === undefined) throw new Error(`the walk has no object for {${name}} of ${path}: add one to createTenant`)
  return id
}

const tenantIds = (): Ids => ({ ...tenant.ids, ...installation })
const strangerIds = (): Ids => ({ ...stranger.ids, ...installation })

/** Calls the route with the tenant's ids. A stream that opens against expectation ends after the time limit. */
async function walk(call: ApiClient, route: string, container: Ids = tenantIds()): Promise<Walked> {
  const address = addressOf(route, container, tenantIds())
  const body = (bodies[route] ?? apiBodies[route])?.(tenantIds())
  const answer = await call(route.split(' ')[0]!, address, body)
  return { route, address, sent: body instanceof FormData ? '' : JSON.stringify(body ?? ''), answer }
}

interface Walked {
  route: string
  address: string
  sent: string
  answer: ApiAnswer
}

/** Neither a text of the tenant nor an id that the request did not name. */
function expectNoData({ route, address, sent, answer }: Walked) {
  const text = JSON.stringify(answer.body) + JSON.stringify([...answer.headers])
  const foreign = [tenant.marker, tenant.organisation.apiKey, ...Object.values(tenant.ids)]
  const leaked = foreign.filter((part) => text.includes(part) && !address.includes(part) && !sent.includes(part))
  expect([route, leaked]).toEqual([route, []])
}

function expectRefused(walked: Walked, statuses: number[]) {
  const { route, answer } = walked
  expect([route, answer.status, statuses.includes(answer.status)]).toEqual([route, answer.status, true])
  const kind = route.includes('/anthropic/') ? { type: expect.any(String) } : { code: expect.any(String) }
  expect(answer.body.error).toMatchObject({ ...kind, message: expect.any(String) })
  expectNoData(walked)
}

const routes = Object.entries(lowestRoles)

test('the table of roles has every route of the API description, and no other', async () => {
  const described = operationsOf((await openBrowser(portico.url).call('GET', '/openapi.json')).body)
  expect(Object.keys(lowestRoles).toSorted()).toEqual(described.toSorted())
})

describe.each(routes)('%s', (route, lowest) => {
  test('refuses a caller without a credential', async () => {
    const walked = await walk(openBrowser(portico.url).call, route)
    if (lowest === 'none' || lowest === 'visitor') expectOpen(walked)
    else expectRefused(walked, [401])
  })

  test('refuses the API key of another organisation', async () => {
    const walked = await walk(createApiClient(portico.url, stranger.organisation.apiKey), route)
    if (lowest === 'none') expectOpen(walked)
    else if (lowest !== 'key') expectRefused(walked, [401])
    else if (ownData.has(route)) expectOpen(walked)
    else expectRefused(walked, [404])
  })

  test('refuses a team administrator of another organisation', async () => {
    const walked = await walk(stranger.administrator.call, route)
    if (lowest === 'key' || lowest === 'visit') expectRefused(walked, [401])
    else if (lowest === 'operator') expectRefused(walked, [403])
    else if (ownData.has(route)) expectOpen(walked)
    else expectRefused(walked, [404])
  })

  test('refuses a member of the organisation where it needs a higher role', async () => {
    if (lowest !== 'administrator' && lowest !== 'operator') return
    const { answer } = await walk(tenant.member.call, route)
    expect([answer.status, answer.body.error?.code]).toEqual([403, 'forbidden_role'])
  })
})

/** No right is needed; a token that does not exist is a 404. */
function expectOpen(walked: Walked) {
  expect([walked.route, ownData.has(walked.route) ? 200 : 404]).toEqual([walked.route, walked.answer.status])
  expectNoData(walked)
}

describe('an object of another organisation below an own Space or organisation', () => {
  const nested = routes.filter(
    ([route, lowest]) =>
      lowest !== 'operator' && lowest !== 'visit' && (/\{\w+\}.*\{\w+\}/.test(route) || bodies[route] !== undefined),
  )
  test.each(nested)('is not found by %s', async (route, lowest) => {
    const isNested = /\{\w+\}.*\{\w+\}/.test(route)
    const isOfKey = isNested && lowest === 'key'
    const call = isOfKey ? createApiClient(portico.url, stranger.organisation.apiKey) : stranger.administrator.call
    const walked = await walk(call, route, strangerIds())
    expectNoData(walked)
    if (isNested) expectRefused(walked, [404])
  })
})

test('no row of the organisation or of the installation has changed', async () => {
  const after = await steadyRows()
  const changed = before.filter((row) => !after.includes(row))
  expect(changed).toEqual([])
  expect(after.filter((row) => !before.includes(row))).toEqual([])
})
