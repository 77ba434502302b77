import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, question, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { expectStatus } from '../harness/portico.ts'
import { chatAnswer, chatStream, chatStreamBody, errorAnswer, quotaUsedUp, rateLimited } from '../upstream/replies.ts'
import type { UpstreamReply } from '../upstream/upstream.ts'

/** Which deployment answers, which may be tried instead, and which calls are never repeated: over HTTP, observed at both ends. */

let stage: GatewayStage

const facts = { contextTokens: 8000, maxOutputTokens: 1000 }
/** A model with two US and two EU deployments; each has a different name on the wire. */
const twoSided = (id: string) => ({
  id,
  ...facts,
  aliases: [`${id}-latest`],
  deployments: [
    { provider: 'us', wireId: `${id}-us-1` },
    { provider: 'us', wireId: `${id}-us-2` },
    { provider: 'eu', wireId: `${id}-eu-1` },
    { provider: 'eu', wireId: `${id}-eu-2` },
  ].map((deployment) => ({ ...deployment, prices: stagePrices })),
})
const oneSided = (id: string, provider = 'us') => ({ id, ...facts, deployments: [{ provider, prices: stagePrices }] })
const twoSidedIds = ['sides', 'all-fail', 'fallback', 'quota', 'limits', 'streams', 'once'] as const
const usOnly = ['later', 'breaker', 'cancelled-plain', 'cancelled-early', 'cancelled-stream', 'leaving'] as const

beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [
        { id: 'us', baseUrl, apiKey: 'key-us', hosting: 'us' },
        { id: 'eu', baseUrl, apiKey: 'key-eu', hosting: 'eu' },
        { id: 'tested', baseUrl, apiKey: 'key-tested', hosting: 'us' },
        { id: 'empty', baseUrl, hosting: 'us' },
        { id: 'mistral', baseUrl, apiKey: 'key-mistral', flavour: 'mistral', hosting: 'global' },
        { id: 'openai-like', baseUrl, apiKey: 'key-openai', flavour: 'openai', hosting: 'global' },
      ],
      models: [
        ...twoSidedIds.map(twoSided),
        ...usOnly.map((id) => oneSided(id)),
        {
          id: 'weighted',
          ...facts,
          deployments: [
            { provider: 'us', wireId: 'weighted-heavy', weight: 9, prices: stagePrices },
            { provider: 'us', wireId: 'weighted-light', weight: 1, prices: stagePrices },
          ],
        },
        {
          id: 'cancelled-second',
          ...facts,
          deployments: [
            { provider: 'us', wireId: 'cancelled-second-1', weight: 1_000_000, prices: { input: '5', output: '5' } },
            { provider: 'us', wireId: 'cancelled-second-2', weight: 0.000_001, prices: stagePrices },
          ],
        },
        oneSided('tested-model', 'tested'),
        { ...oneSided('tested-costly', 'tested'), tier: 'premium' },
        oneSided('eu-only', 'eu'),
        oneSided('mistral-small', 'mistral'),
        { ...oneSided('thinker', 'openai-like'), reasoning: true, acceptsTemperature: false },
        { ...oneSided('talker', 'openai-like'), aliases: ['talker-latest'] },
      ],
    }),
  })
})
afterAll(() => stage?.stop())

const proof = ({ headers }: { headers: Headers }) => ({
  deployment: headers.get('x-portico-deployment'),
  hosting: headers.get('x-portico-hosting'),
})
const callsOf = (...wireModels: string[]) => wireModels.map((wireModel) => stage.calls(wireModel).length)

describe('the side of a call', () => {
  it('is the EU for eu/ ids and elsewhere for all others, and the response headers prove it', async () => {
    for (const suffix of ['us-1', 'us-2', 'eu-1', 'eu-2']) stage.play(`sides-${suffix}`, chatAnswer('Here.'))
    for (let count = 0; count < 6; count++) {
      const eu = await stage.complete(count % 2 === 0 ? 'eu/sides' : 'eu/sides-latest')
      expect(eu.status).toBe(200)
      expect(proof(eu)).toEqual({ deployment: expect.stringMatching(/^eu\/sides/), hosting: 'eu' })
      expect(eu.body.model).toBe('sides')
      const elsewhere = await stage.complete(count % 2 === 0 ? 'sides' : 'sides-latest')
      expect(proof(elsewhere)).toEqual({ deployment: expect.stringMatching(/^us\/sides/), hosting: 'us' })
      expect(elsewhere.body.model).toBe('sides')
      expect(await stage.receipt(eu)).toMatchObject({ hosting: 'eu', model: 'sides' })
    }
    const ofSide = (side: string) => stage.calls(`sides-${side}-1`).concat(stage.calls(`sides-${side}-2`))
    expect([ofSide('us').length, ofSide('eu').length]).toEqual([6, 6])
    expect(new Set(ofSide('eu').map((call) => call.headers.authorization))).toEqual(new Set(['Bearer key-eu']))
  })

  it('is kept in every failure: no eu/ call leaves the EU, and no other call enters it', async () => {
    const failures: UpstreamReply[] = [
      errorAnswer(500),
      errorAnswer(401),
      quotaUsedUp(),
      rateLimited('none', 0),
      errorAnswer(404),
      { resetAfterBytes: 0 },
    ]
    for (const suffix of ['eu-1', 'eu-2']) stage.play(`all-fail-${suffix}`, (call) => failures[call % failures.length]!)
    for (const suffix of ['us-1', 'us-2']) stage.play(`all-fail-${suffix}`, chatAnswer('Never for the EU.'))
    for (let count = 0; count < 6; count++) {
      const answer = count % 2 === 0 ? await stage.complete('eu/all-fail') : await stage.stream('eu/all-fail')
      expect(answer.status).toBeGreaterThanOrEqual(429)
    }
    expect(callsOf('all-fail-us-1', 'all-fail-us-2')).toEqual([0, 0])
    const seen = stage.calls('all-fail-eu-1').length + stage.calls('all-fail-eu-2').length
    expectStatus(await stage.complete('all-fail'), 200)
    expect(stage.calls('all-fail-eu-1').length + stage.calls('all-fail-eu-2').length).toBe(seen)
  })

  it('without a deployment is a 404 and not listed, in both directions', async () => {
    const missing = { status: 404, body: { error: { code: 'model_not_found', param: 'model' } } }
    expect(await stage.complete('eu-only')).toMatchObject(missing)
    expect(await stage.complete('eu/later')).toMatchObject(missing)
    const list = expectStatus(await stage.organisation.client('GET', '/v1/gateway/models'), 200)
    const ids = list.data.map((entry: { id: string }) => entry.id)
    expect(ids).toEqual(expect.arrayContaining(['eu/eu-only', 'later', 'sides', 'eu/sides']))
    expect(ids).not.toContain('eu-only')
    expect(ids).not.toContain('eu/later')
  })
})

describe('several deployments', () => {
  it('share the calls by weight', async () => {
    stage.play('weighted-heavy', chatAnswer('Heavy.'))
    stage.play('weighted-light', chatAnswer('Light.'))
    const calls = 60
    await Promise.all(Array.from({ length: calls }, () => stage.complete('weighted')))
    const [heavy, light] = callsOf('weighted-heavy', 'weighted-light')
    expect(heavy! + light!).toBe(calls)
    // 9 of 10 on average; fewer than 40 of 60 occur once in ten million runs.
    expect(heavy).toBeGreaterThan(40)
  })

  it('replace one another before the first byte: overload, rate limit, no credit, refused key', async () => {
    const failures = [errorAnswer(503), rateLimited('retry-after', 60), quotaUsedUp(), errorAnswer(401)]
    for (const [index, failure] of failures.entries()) {
      const model = (['fallback', 'quota', 'limits', 'streams'] as const)[index]!
      // The one that is chosen first fails once.
      let failed = false
      const firstFails = (): UpstreamReply => {
        if (failed) return index % 2 === 0 ? chatAnswer('From the second.') : chatStream(['From the second.'])
        failed = true
        return failure
      }
      stage.play(`${model}-us-1`, firstFails)
      stage.play(`${model}-us-2`, firstFails)
      const answer = index % 2 === 0 ? await stage.complete(model) : await stage.stream(model)
      expect(answer.status, model).toBe(200)
      expect(callsOf(`${model}-us-1`, `${model}-us-2`, `${model}-eu-1`, `${model}-eu-2`)).toEqual([1, 1, 0, 0])
      const receipt = await stage.receipt(answer)
      expect(receipt).toMatchObject({ billedUsd: '0.000025', ending: 'completed' })
      expect(receipt.deploymentId).toBe(proof(answer).deployment)
    }
  })

  it('are not tried where the first call may have been billed, nor after the first byte', async () => {
    const body = chatStreamBody(['Half', ' an answer'])
    const failures: UpstreamReply[] = [
      { resetAfterBytes: 0 },
      { ...chatAnswer('Half an answer'), resetAfterBytes: 30 },
      { headers: { 'content-type': 'text/html' }, body: '<p>Sign in</p>' },
      { headers: { 'content-type': 'text/event-stream' }, body, endAfterBytes: body.indexOf(' an answer') },
      errorAnswer(504),
    ]
    for (const [index, failure] of failures.entries()) {
      for (const suffix of ['us-1', 'us-2']) stage.play(`once-${suffix}`, failure)
      const streamed = index === 3
      const answer = streamed ? await stage.stream('once') : await stage.complete('once')
      expect(answer.status).toBe(streamed ? 200 : index === 4 ? 504 : 502)
      const [first, second] = callsOf('once-us-1', 'once-us-2')
      expect(first! + second!, `after failure ${index}`).toBe(index + 1)
    }
  })
})

describe('one deployment', () => {
  it('is tried again after a pause when it refused explicitly', async () => {
    stage.play('later', (call) => (call < 2 ? errorAnswer(500) : chatAnswer('At last.')))
    const answer = await stage.complete('later')
    expect(expectStatus(answer, 200).choices[0].message.content).toBe('At last.')
    expect(callsOf('later')).toEqual([3])
    expect(await stage.receipt(answer)).toMatchObject({ billedUsd: '0.000025' })
  })

  it('that keeps failing is not called, and GET /api/models reports it', async () => {
    stage.play('breaker', errorAnswer(500))
    const health = async () => {
      const { data } = expectStatus(await stage.portico.operator('GET', '/api/models'), 200)
      return data.find((model: { id: string }) => model.id === 'breaker').deployments[0].health
    }
    expect(await health()).toMatchObject({ circuit: 'closed', blockedUntil: null, recentFailures: 0 })
    await Promise.all(Array.from({ length: 4 }, () => stage.complete('breaker')))
    expect(await health()).toMatchObject({
      circuit: 'open',
      blockedUntil: expect.stringMatching(/^20/),
      lastError: { class: 'server_error', status: 500 },
    })
    const before = stage.calls('breaker').length
    const refused = await stage.complete('breaker')
    expect(refused).toMatchObject({ status: 502, body: { error: { code: 'upstream_error' } } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(stage.calls('breaker')).toHaveLength(before)
  })
})

describe("the operator's test of a provider", () => {
  const test = (id: string, body: Record<string, unknown> = {}) =>
    stage.portico.operator('POST', `/api/providers/${id}/test`, body)
  const problems = async () => {
    const { data } = expectStatus(await stage.portico.operator('GET', '/api/deployments'), 200)
    return data
      .filter(({ provider }: { provider: string }) => provider === 'tested')
      .map(({ problem }: { problem: string | null }) => problem)
  }

  it('makes a real call, and shows a rejected key at its deployments until a call succeeds', async () => {
    stage.play('tested-model', errorAnswer(401))
    expect(expectStatus(await test('tested', { model: 'tested-model' }), 200)).toMatchObject({
      ok: false,
      deployment: 'tested/tested-model',
      error: { class: 'authentication', status: 401 },
    })
    expect(await problems()).toEqual(Array(2).fill(expect.stringContaining('rejects the key')))

    stage.play('tested-model', chatAnswer('OK'))
    expect(expectStatus(await test('tested', { model: 'tested-model' }), 200)).toMatchObject({ ok: true, error: null })
    expect(stage.calls('tested-model')).toHaveLength(2)
    expect(await problems()).toEqual([null, null])
  })

  it('requests only the listing when there is no model, and is refused for an unknown model or provider', async () => {
    const listing = expectStatus(await test('empty'), 200)
    expect(listing).toMatchObject({ ok: false, deployment: null, error: { class: 'model_not_found' } })
    expect(listing.steps.at(-1)).toMatchObject({ step: 'answer', result: 'skipped' })
    expect(expectStatus(await test('tested', { model: 'other' }), 400).error).toMatchObject({ param: 'model' })
    expectStatus(await test('nowhere'), 404)
  })
})

/** A client that can leave. */
function leavingClient(body: Record<string, unknown>, apiKey = stage.organisation.apiKey) {
  const request = httpRequest(`${stage.portico.url}/v1/gateway/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    agent: false,
  })
  request.on('error', () => {})
  request.end(JSON.stringify({ messages: question, ...body }))
  return request
}

describe('a client that leaves', () => {
  /** The newest receipt is found by the totals: a client that left never received its request id. */
  async function usageOf(model: string) {
    const path = `/api/organisations/${stage.organisation.id}/usage?by=model`
    const deadline = Date.now() + 5000
    for (;;) {
      const { rows } = expectStatus(await stage.portico.operator('GET', path), 200)
      const row = rows.find((one: { model: string }) => one.model === model)
      if (row || Date.now() > deadline) return row
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  const untilClosed = (wireModel: string) => stage.upstream.aborted(stage.calls(wireModel)[0]!.index)

  it('ends the provider’s call, plain, and its prompt is billed', async () => {
    stage.play('cancelled-plain', { headersAfterMs: 'never' })
    const client = leavingClient({ model: 'cancelled-plain' })
    await stage.called('cancelled-plain')
    client.destroy()
    await untilClosed('cancelled-plain')
    const usage = await usageOf('cancelled-plain')
    expect(usage).toMatchObject({ requests: 1, estimatedRequests: 1, completionTokens: 0 })
    expect(usage.promptTokens).toBeGreaterThan(0)
    expect(Number(usage.billedUsd)).toBeCloseTo(usage.promptTokens / 1e6, 12)
  })

  it('ends the provider’s call before the stream begins', async () => {
    stage.play('cancelled-early', { headersAfterMs: 'never' })
    const client = leavingClient({ model: 'cancelled-early', stream: true })
    await stage.called('cancelled-early')
    client.destroy()
    await untilClosed('cancelled-early')
    expect((await usageOf('cancelled-early')).promptTokens).toBeGreaterThan(0)
  })

  it('ends a running stream, and the prompt and the generated text are billed', async () => {
    const body = chatStreamBody(['These', ' words', ' were', ' seen', ' and these not'])
    stage.play('cancelled-stream', {
      headers: { 'content-type': 'text/event-stream' },
      body,
      stallAfterBytes: body.indexOf(' and these not') - 200,
    })
    const client = leavingClient({ model: 'cancelled-stream', stream: true })
    const [response] = await once(client, 'response')
    let seen = ''
    for await (const bytes of response) {
      seen += bytes
      if (seen.includes(' words')) break
    }
    client.destroy()
    await untilClosed('cancelled-stream')
    const usage = await usageOf('cancelled-stream')
    expect(usage).toMatchObject({ requests: 1, estimatedRequests: 1 })
    expect(usage.promptTokens).toBeGreaterThan(0)
    expect(usage.completionTokens).toBeGreaterThanOrEqual(2)
    expect(usage.completionTokens).toBeLessThanOrEqual(4)
    expect(Number(usage.billedUsd)).toBeCloseTo((usage.promptTokens + 2 * usage.completionTokens) / 1e6, 12)
  })

  it('is billed at the prices of the deployment that was called, not of the first in the list', async () => {
    stage.play('cancelled-second-1', errorAnswer(500))
    stage.play('cancelled-second-2', { headersAfterMs: 'never' })
    const client = leavingClient({ model: 'cancelled-second' })
    await stage.called('cancelled-second-2')
    client.destroy()
    const usage = await usageOf('cancelled-second')
    expect(Number(usage.billedUsd)).toBeCloseTo(usage.promptTokens / 1e6, 12)
  })
})

describe('the request to the provider', () => {
  const instructed = [{ role: 'system', content: 'Be brief.' }, { role: 'developer', content: 'Be kind.' }, ...question]
  const wire = (model: string) => stage.calls(model).at(-1)!.body

  it('has a scaled temperature and omitted fields where the provider needs it, and the response names them', async () => {
    stage.play('mistral-small', chatAnswer('Fine.'))
    const answer = await stage.complete('mistral-small', {
      messages: instructed,
      temperature: 1.4,
      max_completion_tokens: 50,
      seed: 7,
      user: 'somebody',
    })
    expectStatus(answer, 200)
    expect(wire('mistral-small')).toMatchObject({ temperature: 0.7, max_tokens: 50, random_seed: 7 })
    expect(wire('mistral-small')).not.toHaveProperty('user')
    expect(wire('mistral-small')).not.toHaveProperty('max_completion_tokens')
    expect(wire('mistral-small').messages.map((message: { role: string }) => message.role)).not.toContain('developer')
    const adjusted = answer.headers.get('x-adjusted-params')!.split(', ')
    expect(adjusted).toEqual(expect.arrayContaining(['temperature', 'user']))
  })

  it('has no temperature for a reasoning model, the cap under its new name, and developer messages', async () => {
    stage.play('thinker', (call) => (call === 0 ? chatAnswer('Fine.') : chatStream(['Fine.'])))
    const fields = { messages: instructed, temperature: 0.5, max_tokens: 60 }
    const plain = await stage.complete('thinker', fields)
    const streamed = await stage.stream('thinker', fields)
    for (const [index, answer] of [plain, streamed].entries()) {
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-adjusted-params')).toContain('temperature')
      const { body } = stage.calls('thinker')[index]!
      expect(body).toMatchObject({ max_completion_tokens: 60 })
      expect(body).not.toHaveProperty('temperature')
      expect(body).not.toHaveProperty('max_tokens')
      const roles = body.messages.map((message: { role: string }) => message.role)
      expect(new Set(roles)).toEqual(new Set(['developer', 'user']))
    }
  })

  it('is unchanged where the provider accepts it, and no field is named', async () => {
    stage.play('talker', chatAnswer('Fine.'))
    const answer = await stage.complete('talker-latest', { messages: instructed, temperature: 1.4, max_tokens: 50 })
    expect(expectStatus(answer, 200).model).toBe('talker')
    expect(answer.headers.get('x-adjusted-params')).toBeNull()
    expect(wire('talker')).toMatchObject({ model: 'talker', temperature: 1.4, max_completion_tokens: 50 })
    expect(wire('talker').messages[0]).toMatchObject({ role: 'system' })
  })
})

describe('clients that leave at the moment of the answer', () => {
  const clients = 40

  it('leave no hold behind, at whichever step they leave', async () => {
    const leaving = new Map<string, ReturnType<typeof leavingClient>>()
    let answered = 0
    stage.play('leaving', async (call) => {
      // The calls arrive in any order: the current one leaves, some steps before its answer.
      const { body } = stage.calls('leaving')[call]!
      for (let step = 0; step < call % 4; step++) await new Promise((resolve) => setImmediate(resolve))
      leaving.get(body.messages[0].content)!.destroy()
      for (let step = 0; step < (call >> 2) % 4; step++) await new Promise((resolve) => setImmediate(resolve))
      answered++
      return body.stream ? chatStream(['Too', ' late.']) : chatAnswer('Too late.')
    })
    const organisation = await stage.portico.createOrganisation()
    for (let index = 0; index < clients; index++) {
      const content = `client-${index}`
      const messages = [{ role: 'user', content }]
      leaving.set(content, leavingClient({ model: 'leaving', messages, stream: index % 4 !== 0 }, organisation.apiKey))
    }
    await expect.poll(() => answered, { timeout: 10_000 }).toBe(clients)
    const path = `/api/organisations/${organisation.id}/usage`
    await expect
      .poll(async () => (await stage.portico.operator('GET', path)).body.totals.requests, { timeout: 10_000 })
      .toBe(clients)
    await stage.expectClean(organisation)
  })
})

describe('after all tests of this file', () => {
  it('no hold is open, totals match, and no call is left at the provider', async () => {
    await stage.upstream.quiet()
    await stage.expectClean()
  })
})
