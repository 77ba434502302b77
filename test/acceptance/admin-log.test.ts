import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminActions, type AdminLogEntryBody } from '../../src/contract/admin-log.ts'
import { type Browser, createPerson, openBrowser, testPassword } from '../harness/people.ts'
import { type ApiAnswer, expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'

/**
 * Every change that /api offers, and its entry in the admin log. A changing route of the OpenAPI document that is missing in
 * `changes` and in `changesNothing` fails the test.
 */

const changesNothing = new Set([
  // Makes a call to the provider, which the ledger records.
  'POST /api/providers/{id}/test',
  // Calls of models, which the ledger records.
  'POST /api/organisations/{id}/chat/completions',
  'POST /api/spaces/{id}/chat',
])

/** Ids that earlier changes have made. */
type Ids = Record<
  | 'organisation'
  | 'emptied'
  | 'space'
  | 'member'
  | 'invitation'
  | 'operatorInvitation'
  | 'person'
  | 'price'
  | 'session',
  string
>

interface Change {
  route: string
  path: (ids: Ids) => string
  body?: (ids: Ids) => unknown
  /** Default: a person who is an operator. */
  by?: 'visitor' | 'member'
  keep?: (body: ApiAnswer['body'], ids: Ids) => void
  /** null: the action has no values there. */
  entry: { action: string; before: object | null; after: object | null }
}

const organisation = ({ organisation: id }: Ids) => `/api/organisations/${id}`
const space = ({ space: id }: Ids) => `/api/spaces/${id}`
const deployment = () => '/api/deployments/added%2Fmodel'

/** In the order in which they are made. */
const changes: Change[] = [
  {
    route: 'POST /api/organisations',
    path: () => '/api/organisations',
    body: () => ({ name: 'Acme', plan: 'team', monthlyBudgetUsd: '25' }),
    keep: ({ id }, ids) => (ids.organisation = id),
    entry: { action: 'organisation.created', before: null, after: { name: 'Acme', monthlyBudgetUsd: '25' } },
  },
  {
    route: 'PATCH /api/organisations/{id}',
    path: organisation,
    body: () => ({ plan: 'enterprise', monthlyBudgetUsd: '50', gatewayEnabled: true }),
    entry: {
      action: 'organisation.updated',
      before: { plan: 'team', monthlyBudgetUsd: '25', gatewayEnabled: false },
      after: { plan: 'enterprise', monthlyBudgetUsd: '50', gatewayEnabled: true },
    },
  },
  {
    route: 'PUT /api/organisations/{id}/opt-in',
    path: (ids) => `${organisation(ids)}/opt-in`,
    body: () => ({ optIn: true }),
    entry: { action: 'organisation.updated', before: { gatewayOptIn: false }, after: { gatewayOptIn: true } },
  },
  {
    route: 'POST /api/organisations/{id}/api-key',
    path: (ids) => `${organisation(ids)}/api-key`,
    entry: { action: 'api_key.created', before: null, after: { prefix: expect.stringMatching(/^ptc_/) } },
  },
  {
    route: 'PUT /api/organisations/{id}/webhook',
    path: (ids) => `${organisation(ids)}/webhook`,
    body: () => ({ url: 'https://hooks.example/secret-path', secret: 'a secret of the webhook' }),
    entry: {
      action: 'webhook.set',
      before: { webhookOrigin: null },
      after: { webhookOrigin: 'https://hooks.example', addressChanged: true, secretChanged: true },
    },
  },
  {
    route: 'DELETE /api/organisations/{id}/webhook',
    path: (ids) => `${organisation(ids)}/webhook`,
    entry: {
      action: 'webhook.removed',
      before: { webhookOrigin: 'https://hooks.example' },
      after: { webhookOrigin: null },
    },
  },
  {
    route: 'POST /api/organisations/{id}/invitations',
    path: (ids) => `${organisation(ids)}/invitations`,
    body: () => ({ email: 'lost@example.org', role: 'member' }),
    keep: ({ id }, ids) => (ids.invitation = id),
    entry: { action: 'invitation.created', before: null, after: { email: 'lost@example.org', role: 'member' } },
  },
  {
    route: 'DELETE /api/organisations/{id}/invitations/{invitationId}',
    path: (ids) => `${organisation(ids)}/invitations/${ids.invitation}`,
    entry: { action: 'invitation.removed', before: { email: 'lost@example.org', role: 'member' }, after: null },
  },
  {
    route: 'POST /api/invitations/{token}/accept',
    path: ({ invitation }) => `/api/invitations/${invitation}/accept`,
    body: () => ({ name: 'Mia', password: testPassword }),
    by: 'visitor',
    entry: { action: 'member.added', before: null, after: { role: 'member', email: 'mia@example.org' } },
  },
  {
    route: 'PATCH /api/organisations/{id}/members/{personId}',
    path: (ids) => `${organisation(ids)}/members/${ids.member}`,
    body: () => ({ role: 'administrator' }),
    entry: { action: 'member.updated', before: { role: 'member' }, after: { role: 'administrator' } },
  },
  {
    route: 'DELETE /api/organisations/{id}/members/{personId}',
    path: (ids) => `${organisation(ids)}/members/${ids.member}`,
    entry: { action: 'member.removed', before: { role: 'administrator', email: 'mia@example.org' }, after: null },
  },
  {
    route: 'PATCH /api/people/{id}',
    path: ({ member }) => `/api/people/${member}`,
    body: () => ({ isOperator: true }),
    entry: { action: 'person.updated', before: { isOperator: false }, after: { isOperator: true } },
  },
  {
    route: 'DELETE /api/me/sessions/{id}',
    path: ({ session }) => `/api/me/sessions/${session}`,
    by: 'member',
    entry: { action: 'person.session_ended', before: { sessionId: expect.any(String) }, after: null },
  },
  {
    route: 'DELETE /api/people/{id}',
    path: ({ member }) => `/api/people/${member}`,
    entry: { action: 'person.removed', before: { email: 'mia@example.org', name: 'Mia' }, after: null },
  },
  {
    route: 'POST /api/operator-invitations',
    path: () => '/api/operator-invitations',
    body: () => ({ email: 'ops@example.org' }),
    keep: ({ id }, ids) => (ids.operatorInvitation = id),
    entry: { action: 'invitation.created', before: null, after: { email: 'ops@example.org', role: 'operator' } },
  },
  {
    route: 'DELETE /api/operator-invitations/{id}',
    path: ({ operatorInvitation }) => `/api/operator-invitations/${operatorInvitation}`,
    entry: { action: 'invitation.removed', before: { email: 'ops@example.org', role: 'operator' }, after: null },
  },
  {
    route: 'POST /api/spaces',
    path: () => '/api/spaces',
    body: (ids) => ({ organisationId: ids.organisation, name: 'Manuals', model: 'portico/offline' }),
    keep: ({ id }, ids) => (ids.space = id),
    entry: { action: 'space.created', before: null, after: { name: 'Manuals', published: false } },
  },
  {
    route: 'PATCH /api/spaces/{id}',
    path: space,
    body: () => ({ name: 'Handbooks' }),
    entry: { action: 'space.updated', before: { name: 'Manuals' }, after: { name: 'Handbooks' } },
  },
  {
    route: 'POST /api/spaces/{id}/publish',
    path: (ids) => `${space(ids)}/publish`,
    entry: {
      action: 'space.published',
      before: { published: false, endpointId: null },
      after: { published: true, endpointId: expect.any(String) },
    },
  },
  {
    route: 'POST /api/spaces/{id}/unpublish',
    path: (ids) => `${space(ids)}/unpublish`,
    entry: { action: 'space.unpublished', before: { published: true }, after: { published: false } },
  },
  {
    route: 'DELETE /api/spaces/{id}',
    path: space,
    entry: { action: 'space.removed', before: { name: 'Handbooks' }, after: null },
  },
  {
    route: 'PUT /api/providers/{id}',
    path: () => '/api/providers/added',
    body: () => ({ format: 'openai', baseUrl: 'https://models.example/v1', apiKey: 'sk-a-secret-of-ours-WXYZ' }),
    entry: { action: 'provider.created', before: null, after: { enabled: true, apiKeyLastFour: 'WXYZ' } },
  },
  {
    route: 'PUT /api/models/{id}',
    path: () => '/api/models/added%2Fmodel',
    body: () => ({ tier: 'base' }),
    entry: { action: 'model.created', before: null, after: { tier: 'base' } },
  },
  {
    route: 'PUT /api/deployments/{id}',
    path: deployment,
    body: () => ({ model: 'added/model', provider: 'added' }),
    entry: { action: 'deployment.created', before: null, after: { model: 'added/model', provider: 'added' } },
  },
  {
    route: 'POST /api/deployments/{id}/prices',
    path: () => `${deployment()}/prices`,
    body: () => ({ input: '1', output: '2', validFrom: new Date(Date.now() + 86_400_000).toISOString() }),
    keep: ({ id }, ids) => (ids.price = id),
    entry: { action: 'price.created', before: null, after: { input: '1', output: '2' } },
  },
  {
    route: 'DELETE /api/deployments/{id}/prices/{priceId}',
    path: ({ price }) => `${deployment()}/prices/${price}`,
    entry: { action: 'price.removed', before: { input: '1', output: '2' }, after: null },
  },
  {
    route: 'DELETE /api/deployments/{id}',
    path: deployment,
    entry: { action: 'deployment.removed', before: { model: 'added/model' }, after: null },
  },
  {
    route: 'DELETE /api/models/{id}',
    path: () => '/api/models/added%2Fmodel',
    entry: { action: 'model.removed', before: { tier: 'base' }, after: null },
  },
  {
    route: 'DELETE /api/providers/{id}',
    path: () => '/api/providers/added',
    entry: { action: 'provider.removed', before: { enabled: true, apiKeyLastFour: 'WXYZ' }, after: null },
  },
  {
    route: 'PATCH /api/organisations/{id}/models',
    path: (ids) => `${organisation(ids)}/models`,
    body: () => ({ disable: ['portico/offline'] }),
    entry: {
      action: 'organisation.updated',
      before: { disabledModels: [] },
      after: { disabledModels: ['portico/offline'] },
    },
  },
  {
    route: 'DELETE /api/organisations/{id}',
    path: organisation,
    entry: {
      action: 'organisation.removed',
      before: { name: 'Acme', apiKey: { prefix: expect.any(String), lastFour: expect.any(String) } },
      after: null,
    },
  },
  {
    route: 'POST /api/operator-token/rotate',
    path: () => '/api/operator-token/rotate',
    entry: {
      action: 'operator_token.rotated',
      before: { prefix: expect.stringMatching(/^pto_/), lastFour: expect.any(String) },
      after: { prefix: expect.stringMatching(/^pto_/), lastFour: expect.any(String) },
    },
  },
]

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
    const known = [...changes.map(({ route }) => route), ...changesNothing, 'POST /api/setup']
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

describe.each(changes)('$route', ({ route, path, body, by = 'operator' as const, keep, entry }) => {
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
