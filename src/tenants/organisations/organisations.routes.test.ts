import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestPortico, createApiClient, expectStatus, startPortico } from '../../../test/harness/portico.ts'

let portico: TestPortico
beforeAll(async () => {
  portico = await startPortico()
})
afterAll(() => portico.stop())

const unknownId = '00000000-0000-4000-8000-000000000000'
const create = async (fields: object = {}) =>
  expectStatus(await portico.operator('POST', '/api/organisations', { name: 'Acme', ...fields }), 201)

describe('POST /api/organisations', () => {
  test('returns the organisation, closed by default, and its address', async () => {
    const answer = await portico.operator('POST', '/api/organisations', { name: 'Acme' })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`/api/organisations/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      name: 'Acme',
      plan: 'free',
      subscription: { status: 'active', endsAt: null, active: true },
      gatewayEnabled: false,
      gatewayOptIn: false,
      monthlyBudgetUsd: '0',
      markupPercent: '0',
      timeZone: 'UTC',
      periodAnchorDay: 1,
      disabledModels: [],
      webhookUrl: null,
      apiKey: null,
    })
    expect(expectStatus(await portico.operator('GET', `/api/organisations/${answer.body.id}`), 200)).toEqual(
      answer.body,
    )
  })

  test('accepts money and markup as text or numbers and returns them exactly', async () => {
    expect(await create({ monthlyBudgetUsd: '50.00', markupPercent: '12.50' })).toMatchObject({
      monthlyBudgetUsd: '50',
      markupPercent: '12.5',
    })
    expect(await create({ monthlyBudgetUsd: 0.1, markupPercent: 3 })).toMatchObject({
      monthlyBudgetUsd: '0.1',
      markupPercent: '3',
    })
    expect(await create({ monthlyBudgetUsd: '0.000000000001' })).toMatchObject({ monthlyBudgetUsd: '0.000000000001' })
  })

  test.each([
    ['name', {}],
    ['name', { name: '' }],
    ['plan', { name: 'x', plan: 'gold' }],
    ['monthlyBudgetUsd', { name: 'x', monthlyBudgetUsd: 'ten' }],
    ['monthlyBudgetUsd', { name: 'x', monthlyBudgetUsd: '-1' }],
    ['monthlyBudgetUsd', { name: 'x', monthlyBudgetUsd: '0.0000000000001' }],
    ['markupPercent', { name: 'x', markupPercent: '12.345' }],
    ['timeZone', { name: 'x', timeZone: 'Mars' }],
    ['periodAnchorDay', { name: 'x', periodAnchorDay: 29 }],
    ['subscription.endsAt', { name: 'x', subscription: { endsAt: 'tomorrow' } }],
    ['disabledModels', { name: 'x', disabledModels: ['no-such-model'] }],
  ])('names the wrong field: %s', async (param, body) => {
    const answer = await portico.operator('POST', '/api/organisations', body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', param })
    expect(answer.body.error.message).toContain(param)
  })

  test('rejects an unknown field', async () => {
    const answer = await portico.operator('POST', '/api/organisations', { name: 'x', budget: 5 })
    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toContain('budget')
  })
})

describe('the list of organisations', () => {
  test('accepts pages of 1 to 100 entries and rejects other sizes', async () => {
    for (const query of ['limit=0', 'limit=101', 'offset=-1', 'limit=ten']) {
      const answer = await portico.operator('GET', `/api/organisations?${query}`)
      expect([query, answer.status, answer.body.error?.param]).toEqual([query, 400, query.split('=')[0]])
    }
    const name = 'Listed organisation'
    const made = [await create({ name }), await create({ name })]
    const page = expectStatus(await portico.operator('GET', '/api/organisations?search=LISTED&limit=1&offset=1'), 200)
    expect(page).toEqual({ total: 2, limit: 1, offset: 1, items: [made[0]] })
  })
})

describe('PATCH /api/organisations/{id}', () => {
  test('changes the given fields for the next request', async () => {
    const organisation = await portico.createOrganisation()
    const models = () => organisation.client('GET', '/v1/gateway/models')
    expect((await models()).status).toBe(200)
    expectStatus(
      await portico.operator('PATCH', `/api/organisations/${organisation.id}`, { gatewayEnabled: false }),
      200,
    )
    const refused = await models()
    expect(refused.status).toBe(403)
    expect(refused.body.error).toMatchObject({
      code: 'gateway_not_enabled',
      message: expect.stringContaining('operator'),
    })
    expectStatus(
      await portico.operator('PATCH', `/api/organisations/${organisation.id}`, { gatewayEnabled: true }),
      200,
    )
    expectStatus(await portico.operator('PUT', `/api/organisations/${organisation.id}/opt-in`, { optIn: false }), 200)
    expect((await models()).body.error).toMatchObject({
      code: 'gateway_not_enabled',
      message: expect.stringContaining('opted in'),
    })
  })

  test('makes the next completion a 402 when it cancels the subscription', async () => {
    const organisation = await portico.createOrganisation()
    const complete = () =>
      organisation.client('POST', '/v1/gateway/chat/completions', {
        model: 'portico/offline',
        messages: [{ role: 'user', content: 'Hello' }],
      })
    expect((await complete()).status).toBe(200)
    const cancel = { subscription: { status: 'cancelled' } }
    const changed = expectStatus(await portico.operator('PATCH', `/api/organisations/${organisation.id}`, cancel), 200)
    expect(changed.subscription).toMatchObject({ status: 'cancelled', active: false })
    const refused = await complete()
    expect(refused.status).toBe(402)
    expect(refused.body.error.code).toBe('subscription_required')
  })

  test('hides a disabled model from the next list and call', async () => {
    const organisation = await portico.createOrganisation()
    const path = `/api/organisations/${organisation.id}`
    expectStatus(await portico.operator('PATCH', path, { disabledModels: ['portico/offline'] }), 200)
    const listed = expectStatus(await organisation.client('GET', '/v1/gateway/models'), 200)
    expect(listed.data.map(({ id }: { id: string }) => id)).not.toContain('portico/offline')
    const answer = await organisation.client('POST', '/v1/gateway/chat/completions', {
      model: 'portico/offline',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    expect([answer.status, answer.body.error.code]).toEqual([404, 'model_not_found'])
  })

  test('is rejected without a field or for an unknown organisation', async () => {
    const { id } = await create()
    expect((await portico.operator('PATCH', `/api/organisations/${id}`, {})).status).toBe(400)
    for (const wrong of [unknownId, 'x']) {
      const answer = await portico.operator('PATCH', `/api/organisations/${wrong}`, { name: 'x' })
      expect([answer.status, answer.body.error.code]).toEqual([404, 'organisation_not_found'])
    }
  })
})

describe('the API key', () => {
  test('is shown once, and a new key invalidates the old one at once', async () => {
    const organisation = await portico.createOrganisation()
    const path = `/api/organisations/${organisation.id}`
    const made = await portico.operator('POST', `${path}/api-key`)
    expect(made.status).toBe(201)
    expect(made.headers.get('cache-control')).toBe('no-store')
    expect((await organisation.client('GET', '/')).status).toBe(401)
    expect((await createApiClient(portico.url, made.body.key)('GET', '/')).status).toBe(200)
    const shown = await portico.operator('GET', path)
    const { prefix, lastFour } = made.body
    expect(shown.body.apiKey).toMatchObject({ prefix, lastFour })
    expect(JSON.stringify(shown.body)).not.toContain(made.body.key)
  })

  test('gives no access to operator routes, and the operator token none to routes of organisations', async () => {
    const { client } = await portico.createOrganisation()
    for (const path of ['/api/organisations', '/api/spaces', '/api/admin-log']) {
      const answer = await client('GET', path)
      expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_operator_token'])
    }
    expect((await portico.operator('GET', '/')).body.error.code).toBe('invalid_api_key')
  })
})

describe('DELETE /api/organisations/{id}', () => {
  test('is rejected while the organisation has Spaces, then invalidates its key', async () => {
    const organisation = await portico.createOrganisation()
    const space = await portico.createSpace(organisation)
    const refused = await portico.operator('DELETE', `/api/organisations/${organisation.id}`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict'])
    expect((await portico.operator('DELETE', `/api/spaces/${space.id}`)).status).toBe(204)
    const removed = await portico.operator('DELETE', `/api/organisations/${organisation.id}`)
    expect([removed.status, removed.body]).toEqual([204, ''])
    expect((await organisation.client('GET', '/')).status).toBe(401)
    expect((await portico.operator('GET', `/api/organisations/${organisation.id}`)).status).toBe(404)
  })
})

describe('the webhook', () => {
  test('shows its secret once', async () => {
    const { id } = await create()
    const path = `/api/organisations/${id}/webhook`
    const set = expectStatus(await portico.operator('PUT', path, { url: 'https://hooks.example/a' }), 200)
    expect(set.secret).toMatch(/^whsec_/)
    const shown = expectStatus(await portico.operator('GET', `/api/organisations/${id}`), 200)
    expect(shown.webhookUrl).toBe('https://hooks.example/a')
    expect(JSON.stringify(shown)).not.toContain(set.secret)
    expect((await portico.operator('PUT', path, { url: 'file:///etc/passwd' })).body.error.param).toBe('url')
    expect((await portico.operator('DELETE', path)).status).toBe(204)
    expect((await portico.operator('GET', `/api/organisations/${id}`)).body.webhookUrl).toBeNull()
  })
})

describe('the admin log', () => {
  test('has the request id of each change', async () => {
    const { id } = await create({ name: 'Logged' })
    const changed = await portico.operator('PATCH', `/api/organisations/${id}`, { plan: 'enterprise' })
    const page = expectStatus(await portico.operator('GET', `/api/admin-log?organisationId=${id}`), 200)
    expect(page.items).toHaveLength(2)
    expect(page.items[0]).toMatchObject({
      actor: 'operator',
      requestId: changed.headers.get('x-request-id'),
      action: 'organisation.updated',
      before: { plan: 'free' },
      after: { plan: 'enterprise' },
    })
  })
})

describe('the operator token', () => {
  test('is valid at once after a rotation, and the configured token stays valid', async () => {
    const { token } = expectStatus(await portico.operator('POST', '/api/operator-token/rotate'), 200)
    const next = createApiClient(portico.url, token)
    const { token: second } = expectStatus(await next('POST', '/api/operator-token/rotate'), 200)
    expect((await next('GET', '/api/spaces')).status).toBe(401)
    expect((await createApiClient(portico.url, second)('GET', '/api/spaces')).status).toBe(200)
    expect((await portico.operator('GET', '/api/spaces')).status).toBe(200)
  })
})
