import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, createPerson, openBrowser } from '../harness/people.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico, uploadForm } from '../harness/portico.ts'
import { apiBodies, lowestRoles, operationsOf, type RoleObjects } from '../harness/route-table.ts'

/** Every route below /api with every kind of caller. */

const table = Object.fromEntries(Object.entries(lowestRoles).filter(([route]) => route.includes(' /api/')))

const order = ['stranger', 'member', 'administrator', 'operator'] as const
type Caller = (typeof order)[number]

let portico: TestPortico
let organisation: TestOrganisation
let other: TestOrganisation
let ids: RoleObjects
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

function addressOf(route: string, { organisationId, spaceId, documentId, requestId }: RoleObjects): string {
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
async function request(
  browser: Browser,
  route: string,
  given: RoleObjects = ids,
): Promise<{ status: number; code: unknown }> {
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
  const { status, body } = await browser.call(method, address, apiBodies[route]?.(given))
  return { status, code: body?.error?.code }
}

/** Neither 401 nor 403. A 404 is about the thing of the path, which does not exist on most routes of operators. */
const wasAllowed = ({ status, code }: { status: number; code: unknown }) =>
  status !== 401 && status !== 403 && code !== 'organisation_not_found' && code !== 'space_not_found'

/** Calls that are allowed are made for reads and harmless changes only: others would remove what later calls need. */
const destructive = /^DELETE|rotate|\/backup$|^POST \/api\/organisations$|^POST \/api\/setup|\/api-key$/

describe('the table of roles', () => {
  test('has every route of /api, and no other', async () => {
    const routes = operationsOf((await portico.operator('GET', '/openapi.json')).body)
    expect(Object.keys(table).toSorted()).toEqual(routes.filter((route) => route.includes(' /api/')).toSorted())
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
    const call = (headers = {}) => openBrowser(portico.url).call(method, address, apiBodies[route]?.(ids), headers)
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
