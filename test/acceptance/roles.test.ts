import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, createPerson, openBrowser } from '../harness/people.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico, uploadForm } from '../harness/portico.ts'

/**
 * Every route below /api with every kind of caller. The table names the lowest role that may call a route; a route that is missing
 * here fails the test.
 */

type Lowest = 'none' | 'visitor' | 'person' | 'member' | 'administrator' | 'operator'

const table: Record<string, Lowest> = {
  'GET /api/setup': 'none',
  'POST /api/setup': 'operator',
  'GET /api/me': 'person',
  'PATCH /api/me': 'person',
  'GET /api/me/sessions': 'person',
  'DELETE /api/me/sessions/{id}': 'person',
  'GET /api/people': 'operator',
  'PATCH /api/people/{id}': 'operator',
  'DELETE /api/people/{id}': 'operator',
  'GET /api/console/people': 'operator',
  'GET /api/console/organisations/{id}/members': 'administrator',
  'POST /api/people/{id}/password-reset': 'operator',
  'GET /api/password-resets/{token}': 'none',
  'POST /api/password-resets/{token}': 'none',
  'GET /api/operator-invitations': 'operator',
  'POST /api/operator-invitations': 'operator',
  'DELETE /api/operator-invitations/{id}': 'operator',
  'GET /api/invitations/{token}': 'none',
  'POST /api/invitations/{token}/accept': 'visitor',
  'GET /api/organisations': 'person',
  'POST /api/organisations': 'operator',
  'GET /api/organisations/{id}': 'administrator',
  'PATCH /api/organisations/{id}': 'administrator',
  'DELETE /api/organisations/{id}': 'operator',
  'POST /api/organisations/{id}/api-key': 'administrator',
  'PUT /api/organisations/{id}/opt-in': 'administrator',
  'POST /api/organisations/{id}/chat/completions': 'administrator',
  'PUT /api/organisations/{id}/webhook': 'operator',
  'DELETE /api/organisations/{id}/webhook': 'operator',
  'PATCH /api/organisations/{id}/models': 'administrator',
  'GET /api/console/organisations/{id}/developer-tools': 'administrator',
  'GET /api/organisations/{id}/members': 'administrator',
  'PATCH /api/organisations/{id}/members/{personId}': 'administrator',
  'DELETE /api/organisations/{id}/members/{personId}': 'administrator',
  'GET /api/organisations/{id}/invitations': 'administrator',
  'POST /api/organisations/{id}/invitations': 'administrator',
  'DELETE /api/organisations/{id}/invitations/{invitationId}': 'administrator',
  'GET /api/organisations/{id}/admin-log': 'administrator',
  'GET /api/organisations/{id}/usage': 'administrator',
  'GET /api/console/organisations/{id}/usage': 'administrator',
  'GET /api/console/organisations/{id}/usage/export': 'administrator',
  'GET /api/console/organisations/{id}/usage/requests': 'administrator',
  'GET /api/organisations/{id}/budget': 'administrator',
  'GET /api/usage/{requestId}': 'administrator',
  'GET /api/console/organisations/{id}/spaces': 'member',
  'GET /api/console/organisations/{id}/space-models': 'member',
  'GET /api/console/spaces/{id}': 'member',
  'GET /api/console/spaces/{id}/publication': 'administrator',
  'GET /api/spaces': 'person',
  'POST /api/spaces': 'member',
  'GET /api/spaces/{id}': 'member',
  'PATCH /api/spaces/{id}': 'member',
  'DELETE /api/spaces/{id}': 'member',
  'POST /api/spaces/{id}/chat': 'member',
  'POST /api/spaces/{id}/publish': 'administrator',
  'POST /api/spaces/{id}/unpublish': 'administrator',
  'POST /api/spaces/{id}/search': 'member',
  'GET /api/spaces/{id}/golden-questions': 'member',
  'POST /api/spaces/{id}/golden-questions': 'member',
  'GET /api/spaces/{id}/golden-questions/candidates': 'administrator',
  'GET /api/spaces/{id}/golden-questions/export': 'member',
  'POST /api/spaces/{id}/golden-questions/import': 'member',
  'GET /api/spaces/{id}/golden-questions/settings': 'member',
  'PATCH /api/spaces/{id}/golden-questions/settings': 'administrator',
  'GET /api/spaces/{id}/golden-questions/{questionId}': 'member',
  'PATCH /api/spaces/{id}/golden-questions/{questionId}': 'member',
  'DELETE /api/spaces/{id}/golden-questions/{questionId}': 'member',
  'GET /api/spaces/{id}/conversations': 'administrator',
  'GET /api/spaces/{id}/conversations/{conversationId}': 'administrator',
  'DELETE /api/spaces/{id}/conversations/{conversationId}': 'administrator',
  'GET /api/spaces/{id}/conversations/export': 'administrator',
  'POST /api/spaces/{id}/conversations/erase': 'administrator',
  'GET /api/spaces/{id}/golden-runs': 'member',
  'POST /api/spaces/{id}/golden-runs': 'member',
  'GET /api/spaces/{id}/golden-runs/{runId}': 'member',
  'GET /api/spaces/{id}/golden-runs/{runId}/results': 'member',
  'POST /api/spaces/{id}/golden-runs/{runId}/cancel': 'member',
  'GET /api/spaces/{id}/publication-gate': 'member',
  'GET /api/spaces/{id}/documents': 'member',
  'GET /api/spaces/{id}/documents/events': 'member',
  'POST /api/spaces/{id}/documents': 'member',
  'POST /api/spaces/{id}/documents/delete': 'member',
  'POST /api/spaces/{id}/documents/retry': 'member',
  'POST /api/spaces/{id}/documents/metadata': 'member',
  'GET /api/spaces/{id}/documents/operations/{operationId}': 'member',
  'POST /api/spaces/{id}/documents/operations/{operationId}/stop': 'member',
  'GET /api/documents/{id}': 'member',
  'PATCH /api/documents/{id}': 'member',
  'DELETE /api/documents/{id}': 'member',
  'POST /api/documents/{id}/retry': 'member',
  'GET /api/documents/{id}/chunks': 'member',
  'GET /api/documents/{id}/content': 'member',
  'GET /api/documents/{id}/text': 'member',
  'GET /api/documents/{id}/view': 'member',
  'GET /api/providers': 'operator',
  'GET /api/providers/{id}': 'operator',
  'PUT /api/providers/{id}': 'operator',
  'PATCH /api/providers/{id}': 'operator',
  'POST /api/providers/{id}/discover': 'operator',
  'POST /api/providers/{id}/deployments': 'operator',
  'DELETE /api/providers/{id}': 'operator',
  'POST /api/providers/{id}/test': 'operator',
  'GET /api/models': 'operator',
  'GET /api/models/{id}': 'operator',
  'PUT /api/models/{id}': 'operator',
  'PATCH /api/models/{id}': 'operator',
  'DELETE /api/models/{id}': 'operator',
  'GET /api/deployments': 'operator',
  'GET /api/deployments/{id}': 'operator',
  'PUT /api/deployments/{id}': 'operator',
  'PATCH /api/deployments/{id}': 'operator',
  'DELETE /api/deployments/{id}': 'operator',
  'GET /api/deployments/{id}/prices': 'operator',
  'POST /api/deployments/{id}/prices': 'operator',
  'DELETE /api/deployments/{id}/prices/{priceId}': 'operator',
  'GET /api/console/providers': 'operator',
  'GET /api/console/deployments': 'operator',
  'GET /api/console/models': 'operator',
  'GET /api/console/models/{id}': 'operator',
  'GET /api/admin-log': 'operator',
  'GET /api/console/system': 'operator',
  'GET /api/console/organisations': 'operator',
  'GET /api/console/organisations/{id}': 'operator',
  'POST /api/operator-token/rotate': 'operator',
  'GET /api/audit': 'operator',
}

/** Bodies that pass validation, so that the role decides; other routes get none or are decided before their body. */
const bodies: Record<string, (ids: Ids) => unknown> = {
  'POST /api/spaces': ({ organisationId }) => ({ organisationId, name: 'A Space', model: 'portico/offline' }),
  'POST /api/spaces/{id}/search': () => ({ messages: [{ role: 'user', content: 'What?' }] }),
  'PATCH /api/spaces/{id}': () => ({ name: 'Another name' }),
  'POST /api/spaces/{id}/chat': () => ({ messages: [{ role: 'user', content: 'Hello' }] }),
  'POST /api/spaces/{id}/golden-questions': () => ({ messages: [{ role: 'user', content: crypto.randomUUID() }] }),
  'POST /api/spaces/{id}/golden-questions/import': () => ({ questions: [] }),
  'PATCH /api/spaces/{id}/golden-questions/settings': () => ({ agentic: false }),
  'PATCH /api/spaces/{id}/golden-questions/{questionId}': () => ({ mustAbstain: true }),
  'POST /api/spaces/{id}/conversations/erase': () => ({ all: true }),
  'POST /api/spaces/{id}/documents/delete': () => ({ ids: ['00000000-0000-4000-8000-000000000000'] }),
  'POST /api/spaces/{id}/documents/retry': () => ({ filter: {} }),
  'POST /api/spaces/{id}/documents/metadata': () => ({ filter: {}, set: { colour: 'red' } }),
  'PATCH /api/documents/{id}': () => ({ name: 'Another name.txt' }),
  'PATCH /api/organisations/{id}': () => ({ disabledModels: [] }),
  'PATCH /api/organisations/{id}/models': () => ({ enable: ['portico/offline'] }),
  'PUT /api/organisations/{id}/opt-in': () => ({ optIn: true }),
  'POST /api/organisations/{id}/chat/completions': () => ({
    model: 'portico/offline',
    messages: [{ role: 'user', content: 'Hello' }],
  }),
  'PATCH /api/organisations/{id}/members/{personId}': () => ({ role: 'member' }),
  'POST /api/organisations/{id}/invitations': () => ({ email: 'somebody@example.org', role: 'member' }),
  'POST /api/invitations/{token}/accept': () => ({}),
}

interface Ids {
  organisationId: string
  spaceId: string
  documentId: string
  requestId: string
}

const order = ['stranger', 'member', 'administrator', 'operator'] as const
type Caller = (typeof order)[number]

let portico: TestPortico
let organisation: TestOrganisation
let other: TestOrganisation
let ids: Ids
let callers: Record<Caller, Browser>

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  other = await portico.createOrganisation({ name: 'Other organisation' })
  const organisationId = organisation.id
  callers = {
    // The highest role, but in another organisation.
    stranger: await createPerson(portico, { email: 's@example.org', organisationId: other.id, role: 'administrator' }),
    member: await createPerson(portico, { email: 'm@example.org', organisationId }),
    administrator: await createPerson(portico, { email: 'a@example.org', organisationId, role: 'administrator' }),
    operator: await createPerson(portico, { email: 'o@example.org' }),
  }
  const space = await portico.createSpace(organisation)
  const form = uploadForm('Some text.', 'file.txt')
  const document = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
  const completion = await organisation.client('POST', '/v1/gateway/chat/completions', {
    model: 'portico/offline',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  expectStatus(completion, 200)
  ids = {
    organisationId,
    spaceId: space.id,
    documentId: document.id,
    requestId: completion.headers.get('x-request-id')!,
  }
})
afterAll(() => portico.stop())

function addressOf(route: string, { organisationId, spaceId, documentId, requestId }: Ids): string {
  const missing = '00000000-0000-4000-8000-000000000000'
  return route
    .split(' ')[1]!
    .replace('/organisations/{id}', `/organisations/${organisationId}`)
    .replace('/spaces/{id}', `/spaces/${spaceId}`)
    .replace('/documents/{id}', `/documents/${documentId}`)
    .replace('{requestId}', requestId)
    .replaceAll(/\{\w+\}/g, missing)
}

/** The status, and the code of an error. A stream of events is read up to its headers. */
async function request(browser: Browser, route: string, given: Ids = ids): Promise<{ status: number; code: unknown }> {
  const method = route.split(' ')[0]!
  const address = addressOf(route, given)
  if (route.endsWith('/events')) {
    const stop = new AbortController()
    const headers = browser.cookie() === '' ? {} : { cookie: browser.cookie() }
    const response = await fetch(portico.url + address, { headers, signal: stop.signal })
    const code = response.ok ? undefined : ((await response.json()) as { error: { code: string } }).error.code
    stop.abort()
    return { status: response.status, code }
  }
  const { status, body } = await browser.call(method, address, bodies[route]?.(given))
  return { status, code: body?.error?.code }
}

/** Neither 401 nor 403. A 404 is about the thing of the path, which does not exist on most routes of operators. */
const wasAllowed = ({ status, code }: { status: number; code: unknown }) =>
  status !== 401 && status !== 403 && code !== 'organisation_not_found' && code !== 'space_not_found'

/** Calls that are allowed are made for reads and harmless changes only: others would remove what later calls need. */
const destructive = /^DELETE|rotate|^POST \/api\/organisations$|^POST \/api\/setup|\/api-key$/

describe('the table of roles', () => {
  test('has every route of /api, and no other', async () => {
    const { paths } = (await portico.operator('GET', '/openapi.json')).body
    const routes = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      path.startsWith('/api/') ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`) : [],
    )
    expect(Object.keys(table).toSorted()).toEqual(routes.toSorted())
  })
})

describe.each(Object.entries(table))('%s', (route, lowest) => {
  test('is open to its roles only', async () => {
    const visitor = await request(openBrowser(portico.url), route)
    if (lowest === 'none' || lowest === 'visitor') {
      expect(visitor.status).not.toBe(401)
      return
    }
    expect(visitor).toEqual({ status: 401, code: 'not_signed_in' })
    for (const caller of order) {
      const isAllowed =
        lowest === 'person' || (caller !== 'stranger' && order.indexOf(caller) >= order.indexOf(lowest as Caller))
      if (isAllowed && destructive.test(route)) continue
      const answer = await request(callers[caller], route)
      if (isAllowed) expect([caller, answer, wasAllowed(answer)]).toEqual([caller, answer, true])
      else if (caller === 'stranger' && lowest !== 'operator') {
        expect([caller, answer.status]).toEqual([caller, 404])
        // The answer must not show that the thing exists.
        const nowhere = {
          organisationId: crypto.randomUUID(),
          spaceId: crypto.randomUUID(),
          documentId: crypto.randomUUID(),
        }
        const absent = await request(callers.stranger, route, { ...nowhere, requestId: `req_${'0'.repeat(32)}` })
        expect(absent).toEqual(answer)
      } else expect([caller, answer]).toEqual([caller, { status: 403, code: 'forbidden_role' }])
    }
  })
})

/** The API key of the organisation and of another one, in each header that carries a key. */
function keyHeaders(): Record<string, string>[] {
  const keys = [organisation.apiKey, other.apiKey]
  return [...keys.map((key) => ({ authorization: `Bearer ${key}` })), ...keys.map((key) => ({ 'x-api-key': key }))]
}

describe.each(Object.keys(table))('%s', (route) => {
  test('accepts no API key, neither of the organisation nor of another one', async () => {
    const [method, address] = [route.split(' ')[0]!, addressOf(route, ids)]
    const call = (headers = {}) => openBrowser(portico.url).call(method, address, bodies[route]?.(ids), headers)
    const visitor = await call()
    for (const headers of keyHeaders()) {
      const answer = await call(headers)
      // Routes that need no sign-in do not read credentials.
      if (table[route] === 'none') expect([answer.status, answer.body]).toEqual([visitor.status, visitor.body])
      else expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_operator_token'])
    }
  })
})

describe('the sign-in endpoints', () => {
  test('find no session by an API key', async () => {
    for (const headers of keyHeaders()) {
      const answer = await openBrowser(portico.url).call('GET', '/api/auth/get-session', undefined, headers)
      expect([answer.status, answer.body]).toEqual([200, null])
    }
  })
})

describe('lists', () => {
  test('show people their own organisations and Spaces', async () => {
    const totalOf = async (caller: Caller, path: string) => (await callers[caller].call('GET', path)).body.total
    expect(await totalOf('operator', '/api/organisations')).toBe(2)
    expect(await totalOf('administrator', '/api/organisations')).toBe(1)
    expect(await totalOf('member', '/api/organisations')).toBe(0)
    expect(await totalOf('stranger', '/api/spaces')).toBe(0)
    expect(await totalOf('stranger', `/api/spaces?organisationId=${organisation.id}`)).toBe(0)
    expect(await totalOf('member', '/api/spaces')).toBe(await totalOf('operator', '/api/spaces'))
  })
})

describe('an administrator', () => {
  test('may change the disabled models of the organisation, but not its budget', async () => {
    const path = `/api/organisations/${organisation.id}`
    const { call } = callers.administrator
    expect((await call('PATCH', path, { disabledModels: ['portico/offline'] })).body.disabledModels).toHaveLength(1)
    expect((await call('PATCH', path, { disabledModels: [], monthlyBudgetUsd: '1000' })).status).toBe(403)
    expect((await call('PATCH', path, { disabledModels: [] })).status).toBe(200)
  })

  test('is the actor of the change in the admin log', async () => {
    const { call } = callers.administrator
    const { key } = expectStatus(await call('POST', `/api/organisations/${organisation.id}/api-key`), 201)
    expect(key).toMatch(/^ptc_/)
    const me = (await call('GET', '/api/me')).body
    const { items } = (await portico.operator('GET', `/api/admin-log?organisationId=${organisation.id}&limit=1`)).body
    expect(items[0]).toMatchObject({
      action: 'api_key.rotated',
      actor: 'a@example.org',
      personId: me.person.id,
      sessionId: me.sessionId,
    })
  })

  test('loses the role with the next request after it is taken away', async () => {
    const { id } = await portico.createOrganisation({ name: 'A third one' })
    const former = await createPerson(portico, { email: 'f@example.org', organisationId: id, role: 'administrator' })
    const { person } = (await former.call('GET', '/api/me')).body
    const member = `/api/organisations/${id}/members/${person.id}`
    expect((await former.call('GET', `/api/organisations/${id}`)).status).toBe(200)
    expect((await portico.operator('PATCH', member, { role: 'member' })).status).toBe(204)
    expect((await former.call('GET', `/api/organisations/${id}`)).status).toBe(403)
    expect((await portico.operator('DELETE', member)).status).toBe(204)
    expect((await former.call('GET', `/api/organisations/${id}`)).status).toBe(404)
  })
})

describe('an invitation', () => {
  test('can be used once, and not after it was withdrawn', async () => {
    const path = `/api/organisations/${organisation.id}/invitations`
    const { call } = callers.administrator
    const { token } = expectStatus(await call('POST', path, { email: 'New@Example.org', role: 'member' }), 201)
    const visitor = openBrowser(portico.url)
    expect((await visitor.call('GET', `/api/invitations/${token}`)).body).toMatchObject({
      email: 'new@example.org',
      organisationName: 'Test organisation',
      accountExists: false,
    })
    const accept = () =>
      visitor.call('POST', `/api/invitations/${token}/accept`, { name: 'New', password: 'a long password' })
    const used = await Promise.all([accept(), accept()])
    expect(used.map(({ status }) => status).toSorted()[0]).toBe(200)
    expect(used.map(({ status }) => status).toSorted()[1]).toBeGreaterThanOrEqual(404)
    expect((await accept()).status).toBe(404)
    const second = expectStatus(await call('POST', path, { email: 'late@example.org', role: 'member' }), 201)
    expect((await call('DELETE', `${path}/${second.id}`)).status).toBe(204)
    expect((await visitor.call('GET', `/api/invitations/${second.token}`)).status).toBe(404)
  })

  test('of an existing account needs its sign-in, and no other', async () => {
    const { id } = await portico.createOrganisation({ name: 'A second organisation' })
    const invited = { email: 'm@example.org', role: 'administrator' }
    const { token } = expectStatus(await portico.operator('POST', `/api/organisations/${id}/invitations`, invited), 201)
    const path = `/api/invitations/${token}/accept`
    const account = { name: 'Impostor', password: 'a long password' }
    expect((await openBrowser(portico.url).call('POST', path, account)).status).toBe(409)
    expect((await callers.administrator.call('POST', path, {})).status).toBe(409)
    expect((await callers.member.call('POST', path, {}, { origin: 'https://evil.example' })).status).toBe(403)
    const { organisations } = expectStatus(await callers.member.call('POST', path, {}), 200)
    expect(organisations).toHaveLength(2)
  })
})
