import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, question, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { type Browser, createPerson } from '../harness/people.ts'
import { expectStatus, type TestOrganisation } from '../harness/portico.ts'
import { chatAnswer, chatStream, chatStreamBody } from '../upstream/replies.ts'

/** Completions of a signed-in administrator: the gateway's own handler behind a session. test/acceptance/roles.test.ts has the roles. */

let stage: GatewayStage
let administrator: Browser
const usage = { prompt_tokens: 100, completion_tokens: 50 }

beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [{ id: 'main', baseUrl, apiKey: 'key', hosting: 'us' }],
      models: ['plain', 'streamed', 'left'].map((id) => ({
        id,
        contextTokens: 8000,
        maxOutputTokens: 2000,
        deployments: [{ provider: 'main', prices: stagePrices }],
      })),
    }),
    organisation: { markupPercent: '25', limits: { requestsPerMinute: 1000 } },
  })
  administrator = await createPerson(stage.portico, {
    email: 'a@example.org',
    organisationId: stage.organisation.id,
    role: 'administrator',
  })
  stage.play('plain', chatAnswer('Fine.', { usage }))
  stage.play('streamed', chatStream(['Fine', ' indeed.'], { usage }))
})
afterAll(() => stage?.stop())

const pathOf = ({ id }: Pick<TestOrganisation, 'id'>) => `/api/organisations/${id}/chat/completions`
const complete = (model: string, more: object = {}, headers: Record<string, string> = {}) =>
  administrator.call('POST', pathOf(stage.organisation), { model, messages: question, ...more }, headers)
const change = async (fields: Record<string, unknown>) =>
  expectStatus(await stage.portico.operator('PATCH', `/api/organisations/${stage.organisation.id}`, fields), 200)

describe('a completion with a session', () => {
  it('has the answer and the receipt of a completion with the key', async () => {
    const [withKey, withSession] = [await stage.complete('plain'), await complete('plain', { unheard: 1 })]
    expect(withSession.status).toBe(200)
    const { id: _id, created: _created, ...same } = withKey.body
    expect(withSession.body).toMatchObject(same)
    expect(withSession.headers.get('x-portico-deployment')).toBe(withKey.headers.get('x-portico-deployment'))
    expect(withSession.headers.get('x-ignored-params')).toBe('unheard')
    expect(withSession.headers.get('x-ratelimit-limit-requests')).toBe('1000')
    const receipt = await stage.receipt(withSession)
    expect(receipt).toMatchObject({ surface: 'gateway', spaceId: null, billedUsd: '0.00025', ending: 'completed' })
    expect(receipt).toMatchObject(stripped(await stage.receipt(withKey)))
  })

  it('streams the same chunks', async () => {
    const streamed = await complete('streamed', { stream: true, stream_options: { include_usage: true } })
    expect(streamed.headers.get('content-type')).toContain('text/event-stream')
    const withKey = await stage.organisation.client('POST', '/v1/gateway/chat/completions', {
      model: 'streamed',
      messages: question,
      stream: true,
      stream_options: { include_usage: true },
    })
    const plain = (text: string) => text.replaceAll(/"(?:id|created)":(?:"[^"]*"|\d+),/g, '')
    expect(plain(streamed.body)).toBe(plain(withKey.body))
    expect(streamed.body).toContain('data: [DONE]')
    expect(await stage.receipt(streamed)).toMatchObject({ billedUsd: '0.00025' })
  })

  it('of version 2 takes tools, with the answer and the receipt of a completion with the key', async () => {
    const body = { model: 'plain', messages: question, tools: [{ type: 'function', function: { name: 'weather' } }] }
    const path = `/api/organisations/${stage.organisation.id}/v2/chat/completions`
    const withKey = await stage.organisation.client('POST', '/v2/gateway/chat/completions', body)
    const withSession = await administrator.call('POST', path, body)
    expectStatus(withSession, 200)
    const { id: _id, created: _created, ...same } = withKey.body
    expect(withSession.body).toMatchObject(same)
    expect(stage.calls('plain').at(-1)!.body.tools).toHaveLength(1)
    expect(await stage.receipt(withSession)).toMatchObject(stripped(await stage.receipt(withKey)))
    const foreign = path.replace(stage.organisation.id, crypto.randomUUID())
    expect((await administrator.call('POST', foreign, body)).status).toBe(404)
  })

  it.each([
    ['plan', { plan: 'team' }, { plan: 'enterprise' }, 403, 'gateway_not_enabled'],
    ['enablement', { gatewayEnabled: false }, { gatewayEnabled: true }, 403, 'gateway_not_enabled'],
    [
      'subscription',
      { subscription: { status: 'cancelled' } },
      { subscription: { status: 'active' } },
      402,
      'subscription_required',
    ],
    ['budget', { monthlyBudgetUsd: '0' }, { monthlyBudgetUsd: '100' }, 402, 'insufficient_quota'],
    ['model', { disabledModels: ['plain'] }, { disabledModels: [] }, 404, 'model_not_found'],
  ])('needs the same %s', async (_what, away, back, status, code) => {
    const before = stage.calls('plain').length
    await change(away)
    const refused = await complete('plain')
    expect([refused.status, refused.body.error.code]).toEqual([status, code])
    await change(back)
    expect(stage.calls('plain')).toHaveLength(before)
  })

  it('needs the opt-in, and is refused before its body is read', async () => {
    const optIn = (value: boolean) =>
      administrator.call('PUT', `/api/organisations/${stage.organisation.id}/opt-in`, { optIn: value })
    expectStatus(await optIn(false), 200)
    expect((await complete('plain', { messages: 'wrong' })).body.error.code).toBe('gateway_not_enabled')
    expectStatus(await optIn(true), 200)
    expect((await complete('plain', { messages: 'wrong' })).body.error).toMatchObject({ param: 'messages' })
  })

  it('of another site is refused', async () => {
    const before = stage.calls('plain').length
    const answer = await complete('plain', {}, { origin: 'https://evil.example' })
    expect([answer.status, answer.body.error.code]).toEqual([403, 'cross_site_request'])
    expect(stage.calls('plain')).toHaveLength(before)
  })
})

describe('a client that leaves a stream', () => {
  it('ends the call of the provider, and is billed for the text that it was sent', async () => {
    const body = chatStreamBody(['These', ' words', ' were', ' seen', ' and these not'])
    stage.play('left', {
      headers: { 'content-type': 'text/event-stream' },
      body,
      stallAfterBytes: body.indexOf(' and these not') - 200,
    })
    const client = httpRequest(stage.portico.url + pathOf(stage.organisation), {
      method: 'POST',
      headers: { cookie: administrator.cookie(), origin: stage.portico.url, 'content-type': 'application/json' },
      agent: false,
    })
    client.on('error', () => {})
    client.end(JSON.stringify({ model: 'left', messages: question, stream: true }))
    const [response] = await once(client, 'response')
    let seen = ''
    for await (const bytes of response) {
      seen += bytes
      if (seen.includes(' words')) break
    }
    client.destroy()
    await stage.upstream.aborted(stage.calls('left')[0]!.index)
    const headers = new Headers({ 'x-request-id': response.headers['x-request-id'] })
    await expect.poll(() => stage.receipt({ headers }).catch(() => undefined)).toBeDefined()
    const receipt = await stage.receipt({ headers })
    expect(receipt).toMatchObject({ ending: 'client_closed', estimated: true })
    expect(receipt.usage.completionTokens).toBeGreaterThanOrEqual(2)
    expect(receipt.usage.completionTokens).toBeLessThanOrEqual(4)
    const { promptTokens, completionTokens } = receipt.usage
    expect(Number(receipt.billedUsd)).toBeCloseTo((1.25 * (promptTokens + 2 * completionTokens)) / 1e6, 12)
  })

  it('leaves no open hold and matching totals', () => stage.expectClean())
})

function stripped(receipt: object): object {
  const { requestId: _id, startedAt: _started, settledAt: _settled, ...rest } = receipt as Record<string, unknown>
  return rest
}
