import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminActions, type AdminLogEntryBody } from '../../src/contract/admin-log.ts'
import { adminChanges, type Ids, organisation } from '../harness/admin-changes.ts'
import { changesNothing, conversationChanges, documentChanges } from '../harness/other-changes.ts'
import { type Browser, createPerson, openBrowser, testPassword } from '../harness/people.ts'
import { expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'

/** A changing route of the OpenAPI document that the table of changes lacks fails the test. */

const ids = {} as Ids
let portico: TestPortico
let operator: Browser
let member: Browser

beforeAll(async () => {
  portico = await startPortico()
  const first = { email: 'root@example.org', name: 'Root', password: testPassword }
  expectStatus(await portico.operator('POST', '/api/setup', first), 201)
  operator = openBrowser(portico.url)
  expectStatus(
    await operator.call('POST', '/api/auth/sign-in/email', { email: first.email, password: testPassword }),
    200,
  )
})
afterAll(() => portico.stop())

async function newest(filter = ''): Promise<AdminLogEntryBody[]> {
  return expectStatus(await portico.operator('GET', `/api/admin-log?limit=5${filter}`), 200).items
}

/** What a change needs that no change of the table has made. */
async function prepare(route: string): Promise<void> {
  if (route === 'POST /api/invitations/{token}/accept') {
    const invited = { email: 'mia@example.org', role: 'member' }
    ids.invitation = expectStatus(await operator.call('POST', `${organisation(ids)}/invitations`, invited), 201).token
  }
  if (route === 'DELETE /api/me/sessions/{id}') {
    member = openBrowser(portico.url)
    const signIn = { email: 'mia@example.org', password: testPassword }
    expectStatus(await member.call('POST', '/api/auth/sign-in/email', signIn), 200)
    expectStatus(await openBrowser(portico.url).call('POST', '/api/auth/sign-in/email', signIn), 200)
    const { items } = (await member.call('GET', '/api/me/sessions')).body
    ids.session = items.find((session: { current: boolean }) => !session.current).id
  }
  // The first rotation of this installation creates the token; the second replaces it.
  if (route === 'POST /api/operator-token/rotate') await operator.call('POST', '/api/operator-token/rotate')
  if (route.includes('{personId}')) {
    const { items } = (await operator.call('GET', `${organisation(ids)}/members`)).body
    ids.member = items[0].personId
  }
}

const actors = { operator: 'root@example.org', visitor: 'mia@example.org', member: 'mia@example.org' }

describe('the table of changes', () => {
  test('has every changing route of the API', async () => {
    const { paths } = (await portico.operator('GET', '/openapi.json')).body
    const routes = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      path.startsWith('/api/')
        ? Object.keys(methods)
            .filter((method) => method !== 'get')
            .map((method) => `${method.toUpperCase()} ${path}`)
        : [],
    )
    const known = [
      ...adminChanges.map(({ route }) => route),
      ...changesNothing,
      ...documentChanges,
      ...conversationChanges,
      'POST /api/setup',
    ]
    expect(routes.filter((route) => !known.includes(route))).toEqual([])
    expect(known.filter((route) => !routes.includes(route))).toEqual([])
  })

  test('the first account is recorded with the operator token as the actor', async () => {
    expect((await newest('&action=person.created'))[0]).toMatchObject({
      actor: 'operator',
      subjectName: 'root@example.org',
      before: null,
      after: { email: 'root@example.org', isOperator: true },
    })
  })
})

describe.each(adminChanges)('$route', ({ route, path, body, by = 'operator' as const, keep, entry }) => {
  test('is recorded with its person and the values before and after', async () => {
    await prepare(route)
    const browser = { operator, visitor: openBrowser(portico.url), member }[by as keyof typeof actors]
    const answer = await browser.call(route.split(' ')[0]!, path(ids), body?.(ids))
    expect([answer.status, answer.body?.error]).toEqual([expect.toSatisfy((status) => status < 300), undefined])
    keep?.(answer.body, ids)
    const found = (await newest()).find(({ action }) => action === entry.action)
    expect(found).toMatchObject({
      actor: actors[by as keyof typeof actors],
      requestId: answer.headers.get('x-request-id'),
    })
    expect(found!.personId).toMatch(/^[0-9a-f-]{36}$/)
    expect(adminActions).toContain(found!.action)
    for (const side of ['before', 'after'] as const)
      if (entry[side] === null) expect(found![side]).toBeNull()
      else expect(found![side]).toMatchObject(entry[side])
    const text = JSON.stringify(found)
    for (const secret of ['secret-path', 'a secret of the webhook', 'sk-a-secret', testPassword])
      expect(text).not.toContain(secret)
  })
})

describe('GET /api/admin-log', () => {
  test('pages through all entries once, in order', async () => {
    const all = expectStatus(await portico.operator('GET', '/api/admin-log?limit=100'), 200)
    expect(all.nextCursor).toBeNull()
    const paged: AdminLogEntryBody[] = []
    let cursor = ''
    for (;;) {
      const page = expectStatus(await portico.operator('GET', `/api/admin-log?limit=7${cursor}`), 200)
      paged.push(...page.items)
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    expect(paged).toEqual(all.items)
    expect(paged.length).toBeGreaterThan(30)
  })

  test('filters by actor, action, subject, organisation and time', async () => {
    const everyOf = async (filter: string, matches: (entry: AdminLogEntryBody) => boolean) => {
      const found = expectStatus(await portico.operator('GET', `/api/admin-log?limit=100&${filter}`), 200).items
      expect(found.length).toBeGreaterThan(0)
      expect(found.filter((entry: AdminLogEntryBody) => !matches(entry))).toEqual([])
      return found as AdminLogEntryBody[]
    }
    await everyOf('actor=Root@example.org', ({ actor }) => actor === 'root@example.org')
    await everyOf('action=space.updated', ({ action }) => action === 'space.updated')
    await everyOf('subjectType=provider&subjectId=added', ({ subjectId }) => subjectId === 'added')
    const own = await everyOf(
      `organisationId=${ids.organisation}`,
      ({ organisationId }) => organisationId === ids.organisation,
    )
    const middle = own[4]!.at
    await everyOf(`from=${middle}`, ({ at }) => at >= middle)
    await everyOf(`to=${middle}`, ({ at }) => at < middle)
  })

  test.each([
    ['cursor=1', 'cursor'],
    ['limit=101', 'limit'],
    ['action=nothing', 'action'],
    ['from=yesterday', 'from'],
    ['organisationId=7', 'organisationId'],
  ])('refuses %s and names the field', async (query, param) => {
    const { status, body } = await portico.operator('GET', `/api/admin-log?${query}`)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('of an organisation shows its administrators its own entries only', async () => {
    const [one, other] = await Promise.all([
      portico.createOrganisation({ name: 'One' }),
      portico.createOrganisation({ name: 'Other' }),
    ])
    const email = 'admin@example.org'
    const administrator = await createPerson(portico, { email, organisationId: one.id, role: 'administrator' })
    const page = expectStatus(
      await administrator.call('GET', `/api/organisations/${one.id}/admin-log?organisationId=${other.id}&limit=100`),
      200,
    )
    expect(page.items.length).toBeGreaterThan(3)
    expect(new Set(page.items.map((entry: AdminLogEntryBody) => entry.organisationId))).toEqual(new Set([one.id]))
    expect(page.items[0].organisationName).toBe('One')
    const hidden = await administrator.call('GET', `/api/organisations/${other.id}/admin-log`)
    expect([hidden.status, hidden.body.error.code]).toEqual([404, 'organisation_not_found'])
    expect((await administrator.call('GET', '/api/admin-log')).status).toBe(403)
  })
})
