import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { type TestOrganisation, expectStatus } from '../harness/portico.ts'
import { chatAnswer, chatStream } from '../upstream/replies.ts'

/** Changes of budget, subscription and access, and the reported cost of requests: over HTTP, with a scripted provider. */

let stage: GatewayStage
const usage = { prompt_tokens: 100, completion_tokens: 50 }
/** 100 tokens at 1 and 50 at 2 dollars a million, and 25 %. */
const billedUsd = '0.00025'

beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [{ id: 'main', baseUrl, apiKey: 'key', hosting: 'us' }],
      models: ['plain', 'streamed', 'detailed', 'small', 'crowd', 'unbounded'].map((id) => ({
        id,
        contextTokens: 8000,
        maxOutputTokens: 2000,
        deployments: [{ provider: 'main', prices: { ...stagePrices, cacheRead: '0.1', reasoning: '4' } }],
      })),
    }),
  })
  stage.play('plain', chatAnswer('Fine.', { usage }))
  stage.play('streamed', chatStream(['Fine', ' indeed.'], { usage }))
})
afterAll(() => stage?.stop())

const organisationWith = (fields: Record<string, unknown> = {}) =>
  stage.portico.createOrganisation({ markupPercent: '25', ...fields })
const change = async (organisation: TestOrganisation, fields: Record<string, unknown>) =>
  expectStatus(await stage.portico.operator('PATCH', `/api/organisations/${organisation.id}`, fields), 200)
const budgetOf = async ({ id }: TestOrganisation) =>
  expectStatus(await stage.portico.operator('GET', `/api/organisations/${id}/budget`), 200)

describe('access that ends', () => {
  const changes = [
    ['plan', { plan: 'team' }, { plan: 'enterprise' }, /plan/i],
    ['enablement', { gatewayEnabled: false }, { gatewayEnabled: true }, /operator/i],
  ] as const

  it('is a 403 on the next request, for list and completion, until it is restored', async () => {
    for (const [what, away, back, words] of changes) {
      const organisation = await organisationWith()
      expect((await stage.complete('plain', {}, organisation)).status, what).toBe(200)
      await change(organisation, away)
      const refused = await stage.complete('plain', {}, organisation)
      expect(refused).toMatchObject({
        status: 403,
        body: {
          error: { code: 'gateway_not_enabled', type: 'permission_error', message: expect.stringMatching(words) },
        },
      })
      expect((await stage.stream('plain', {}, organisation)).status).toBe(403)
      expect((await organisation.client('GET', '/v1/gateway/models')).status).toBe(403)
      await change(organisation, back)
      expect((await stage.complete('plain', {}, organisation)).status, what).toBe(200)
    }
  })

  it('with a withdrawn opt-in has the same effect', async () => {
    const organisation = await organisationWith()
    const optIn = async (value: boolean) =>
      expectStatus(
        await stage.portico.operator('PUT', `/api/organisations/${organisation.id}/opt-in`, { optIn: value }),
        200,
      )
    await optIn(false)
    expect((await stage.complete('plain', {}, organisation)).status).toBe(403)
    await optIn(true)
    expect((await stage.complete('plain', {}, organisation)).status).toBe(200)
  })

  it('with an ended subscription is a 402 on the next completion; the list still works', async () => {
    const organisation = await organisationWith()
    expect((await stage.complete('plain', {}, organisation)).status).toBe(200)
    const before = stage.calls('plain').length
    await change(organisation, { subscription: { status: 'cancelled' } })
    for (const answer of [
      await stage.complete('plain', {}, organisation),
      await stage.stream('plain', {}, organisation),
    ]) {
      const error = 'body' in answer ? answer.body.error : answer.error
      expect({ status: answer.status, ...error }).toMatchObject({ status: 402, code: 'subscription_required' })
    }
    expect(stage.calls('plain')).toHaveLength(before)
    expect((await organisation.client('GET', '/v1/gateway/models')).status).toBe(200)
    await change(organisation, { subscription: { status: 'active' } })
    expect((await stage.complete('plain', {}, organisation)).status).toBe(200)
  })
})

describe('a budget', () => {
  it('that is exhausted is a 402 without a call to the provider, and raising it takes effect at once', async () => {
    const organisation = await organisationWith({ monthlyBudgetUsd: '0' })
    const before = stage.calls('plain').length
    for (const way of ['complete', 'stream'] as const) {
      const answer = await stage[way]('plain', {}, organisation)
      const error = 'body' in answer ? answer.body.error : answer.error
      expect({ status: answer.status, ...error }).toMatchObject({
        status: 402,
        code: 'insufficient_quota',
        type: 'insufficient_quota',
      })
    }
    expect(stage.calls('plain')).toHaveLength(before)
    await change(organisation, { monthlyBudgetUsd: '1' })
    const answer = await stage.complete('plain', {}, organisation)
    expect(answer.status).toBe(200)
    expect(await stage.receipt(answer)).toMatchObject({ billedUsd })
    expect(await budgetOf(organisation)).toMatchObject({ budgetUsd: '1', spentUsd: billedUsd, heldUsd: '0' })
    await change(organisation, { monthlyBudgetUsd: billedUsd })
    expect((await stage.complete('plain', {}, organisation)).status).toBe(402)
  })

  it('is not overrun by a provider that ignores its cap: the excess is written off', async () => {
    const words = Array.from({ length: 400 }, (_, index) => ` word${index}`)
    stage.play('unbounded', (call) =>
      call === 0
        ? chatAnswer(words.join(''), { usage: { prompt_tokens: 20, completion_tokens: 4000 } })
        : chatStream(words, { usage: { prompt_tokens: 20, completion_tokens: 4000 } }),
    )
    for (const way of ['complete', 'stream'] as const) {
      const organisation = await organisationWith({ monthlyBudgetUsd: '0.001' })
      const answer = await stage[way]('unbounded', {}, organisation)
      expect(answer.status).toBe(200)
      const receipt = await stage.receipt(answer)
      expect(Number(receipt.billedUsd)).toBeLessThanOrEqual(0.001)
      // 20 at 1 and 4000 at 2 dollars a million, and 25 %.
      expect(Number(receipt.billedUsd) + Number(receipt.writtenOffUsd)).toBeCloseTo(0.010_025, 12)
      expect((await budgetOf(organisation)).heldUsd).toBe('0')
      expect((await stage[way]('plain', {}, organisation)).status).toBe(402)
    }
  })

  it('that is nearly exhausted lowers the cap for the provider, and the response names it', async () => {
    stage.play('small', chatAnswer('Fine.'))
    // 2.5 dollars a million tokens of output with markup: about 400 tokens.
    const organisation = await organisationWith({ monthlyBudgetUsd: '0.001' })
    const answer = await stage.complete('small', { max_tokens: 2000 }, organisation)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-adjusted-params')).toContain('max_completion_tokens')
    const sent = stage.calls('small')[0]!.body.max_tokens
    expect(sent).toBeGreaterThanOrEqual(128)
    expect(sent).toBeLessThanOrEqual(400)
    const plenty = await stage.complete('small', { max_tokens: 2000 })
    expect(plenty.headers.get('x-adjusted-params')).toBeNull()
    expect(stage.calls('small')[1]!.body.max_tokens).toBe(2000)
  })

  it('is never overrun by parallel calls: some succeed, the others are 402, and no hold stays open', async () => {
    stage.play('crowd', chatAnswer('Fine.', { usage: { prompt_tokens: 20, completion_tokens: 120 } }))
    const organisation = await organisationWith({ monthlyBudgetUsd: '0.005' })
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => stage.complete('crowd', { max_tokens: 150 }, organisation)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 402]))
    const { spentUsd, heldUsd } = await budgetOf(organisation)
    // 20 at 1 and 120 at 2 dollars a million, and 25 %.
    expect(Number(spentUsd)).toBeCloseTo(statuses.filter((status) => status === 200).length * 0.000325, 12)
    expect(Number(spentUsd)).toBeLessThanOrEqual(0.005)
    expect(heldUsd).toBe('0')
    await stage.expectClean(organisation)
  })
})

describe('the cost of a request', () => {
  it('is the same in the answer, in the usage chunk of a stream and in the receipt, class by class', async () => {
    const wireUsage = {
      ...usage,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 30 },
    }
    stage.play('detailed', (call) =>
      call === 0 ? chatAnswer('Fine.', { usage: wireUsage }) : chatStream(['Fine.'], { usage: wireUsage }),
    )
    const plain = await stage.complete('detailed')
    const streamed = await stage.stream('detailed', { stream_options: { include_usage: true } })
    expect(streamed.done).toBe(true)
    const last = streamed.chunks.at(-1)
    expect(last.choices).toEqual([])
    expect(last.usage).toEqual(plain.body.usage)
    expect(last.usage).toEqual(wireUsage)
    expect(stage.calls('detailed')[1]!.body.stream_options).toEqual({ include_usage: true })
    for (const answer of [plain, streamed]) {
      const receipt = await stage.receipt(answer)
      expect(receipt).toMatchObject({
        estimated: false,
        ending: 'completed',
        usage: { promptTokens: 100, completionTokens: 50, cachedTokens: 60, reasoningTokens: 30 },
        // 40 at 1, 60 at 0.1, 20 at 2 and 30 at 4 dollars a million.
        billedUsd: '0.000206',
      })
    }
  })

  it('is requested in every stream, and sent to the client only if it asked', async () => {
    const before = stage.calls('streamed').length
    const silent = await stage.stream('streamed')
    expect(stage.calls('streamed')[before]!.body.stream_options).toEqual({ include_usage: true })
    expect(silent.chunks.every((chunk) => !('usage' in chunk))).toBe(true)
    expect(await stage.receipt(silent)).toMatchObject({ estimated: false, usage: { promptTokens: 100 } })
  })
})

describe('usage', () => {
  it('adds up by day, model and surface, as JSON and as CSV', async () => {
    const organisation = await organisationWith()
    for (let count = 0; count < 3; count++) expectStatus(await stage.complete('plain', {}, organisation), 200)
    expect((await stage.stream('streamed', {}, organisation)).done).toBe(true)
    const path = `/api/organisations/${organisation.id}/usage?by=day,model,surface`
    const { rows, totals } = expectStatus(await stage.portico.operator('GET', path), 200)
    const today = new Date().toISOString().slice(0, 10)
    expect(rows).toHaveLength(2)
    for (const [model, requests, cost] of [
      ['plain', 3, '0.00075'],
      ['streamed', 1, billedUsd],
    ] as const) {
      const row = rows.find((one: { model: string }) => one.model === model)
      expect(row).toMatchObject({ model, surface: 'gateway', requests, billedUsd: cost, promptTokens: 100 * requests })
      // A run over midnight may report one more day.
      expect(row.day <= today).toBe(true)
    }
    expect(totals).toMatchObject({ requests: 4, billedUsd: '0.001', completionTokens: 200, estimatedRequests: 0 })
    expect((await budgetOf(organisation)).spentUsd).toBe('0.001')

    for (const csv of [
      await stage.portico.operator('GET', `${path}&format=csv`),
      await stage.portico.operator('GET', path, undefined, { accept: 'text/csv' }),
    ]) {
      expect(csv.headers.get('content-type')).toContain('text/csv')
      const [head, ...lines] = String(csv.body).trim().split('\r\n')
      expect(head).toMatch(/^day,model,surface,requests,/)
      expect(lines).toHaveLength(2)
      const columns = head!.split(',')
      const billed = lines.map((line) => Number(line.split(',')[columns.indexOf('billedUsd')]))
      expect(billed.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(0.001, 12)
    }
  })

  it('of a removed organisation stays readable in the days of its time zone', async () => {
    const organisation = await organisationWith({ timeZone: 'Asia/Tokyo' })
    expectStatus(await stage.complete('plain', {}, organisation), 200)
    const path = `/api/organisations/${organisation.id}`
    const before = expectStatus(await stage.portico.operator('GET', `${path}/usage`), 200)
    expect(before).toMatchObject({ timeZone: 'Asia/Tokyo', totals: { requests: 1 } })
    expectStatus(await stage.portico.operator('DELETE', path), 204)
    expect(expectStatus(await stage.portico.operator('GET', `${path}/usage`), 200)).toEqual(before)
    expect((await stage.portico.operator('GET', `${path}/budget`)).status).toBe(404)
    const unknown = await stage.portico.operator('GET', '/api/organisations/00000000-0000-4000-8000-000000000000/usage')
    expect(unknown.status).toBe(404)
  })

  it('leaves no open hold and matching totals', () => stage.expectClean())
})
