import { once } from 'node:events'
import { request as httpRequest, type ClientRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, question, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { expectStatus, type TestOrganisation } from '../harness/portico.ts'
import { chatAnswer, chatStream, chatStreamBody, errorAnswer } from '../upstream/replies.ts'

/** No behaviour of one organisation's clients or providers starves another organisation. */

const facts = { contextTokens: 200_000, maxOutputTokens: 100_000 }
const stalledClientMs = 400
let stage: GatewayStage

beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      server: { stalledClientMs },
      providers: [{ id: 'shared', baseUrl, apiKey: 'key-shared', hosting: 'us', limits: { maximumConnections: 8 } }],
      models: ['stalls', 'answers', 'floods'].map((id) => ({
        id,
        ...facts,
        deployments: [{ provider: 'shared', prices: stagePrices }],
      })),
    }),
    organisation: { monthlyBudgetUsd: '1000' },
  })
})
afterAll(() => stage?.stop())

function startStream(model: string, organisation: TestOrganisation): ClientRequest {
  const client = httpRequest(`${stage.portico.url}/v1/gateway/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
    agent: false,
  })
  client.on('error', () => {})
  client.on('response', (response) => response.on('error', () => {}).resume())
  client.end(JSON.stringify({ model, messages: question, stream: true }))
  return client
}

describe('an organisation whose calls stall at a provider', () => {
  it('leaves connections for others, and gets 429 when its share is used up', async () => {
    const greedy = stage.organisation
    const other = await stage.portico.createOrganisation({ monthlyBudgetUsd: '1000' })
    const body = chatStreamBody(['Half', ' an answer'])
    stage.play('stalls', { ...chatStream([]), body, stallAfterBytes: body.indexOf(' an answer') })
    stage.play('answers', chatAnswer('Here you are.'))
    const clients = Array.from({ length: 12 }, () => startStream('stalls', greedy))
    try {
      await expect.poll(() => stage.calls('stalls').length).toBe(4)
      expectStatus(await stage.complete('answers', {}, other), 200)

      const refused = await stage.complete('answers', {}, greedy)
      expect(expectStatus(refused, 429).error).toMatchObject({ code: 'rate_limit_exceeded' })
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(stage.calls('stalls')).toHaveLength(4)
    } finally {
      for (const client of clients) client.destroy()
    }
    // Its connections are free again when its clients disconnect; none of this counted as a failure of the provider.
    await expect.poll(async () => (await stage.complete('answers', {}, greedy)).status, { timeout: 10_000 }).toBe(200)
    await expect
      .poll(
        () =>
          stage.expectClean(greedy).then(
            () => true,
            () => false,
          ),
        { timeout: 10_000 },
      )
      .toBe(true)
  })
})

describe('the limits of an organisation', () => {
  it('refuse calls and uploads above them with rate limit headers', async () => {
    const limits = { concurrentCalls: 1, requestsPerMinute: 2, tokensPerMinute: 100_000, concurrentUploads: 1 }
    const limited = await stage.portico.createOrganisation({ limits })
    expect(expectStatus(await stage.portico.operator('GET', `/api/organisations/${limited.id}`), 200)).toMatchObject({
      limits,
    })
    stage.play('answers', chatAnswer('Here you are.'))
    const first = await stage.complete('answers', {}, limited)
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1')
    await stage.complete('answers', {}, limited)
    const refused = await stage.complete('answers', {}, limited)
    expect(expectStatus(refused, 429).error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0')
  })

  it('count the tokens of prompts and answers within a minute', async () => {
    const limits = { tokensPerMinute: 1_000 }
    const limited = await stage.portico.createOrganisation({ limits, monthlyBudgetUsd: '1000' })
    stage.play('answers', chatAnswer('Here you are.', { usage: { prompt_tokens: 300, completion_tokens: 500 } }))
    const first = await stage.complete('answers', {}, limited)
    expectStatus(first, 200)
    expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('1000')
    expect(Number(first.headers.get('x-ratelimit-remaining-tokens'))).toBeGreaterThan(900)
    expect(first.headers.get('x-ratelimit-reset-tokens')).toMatch(/^\d+s$/)
    expect(first.headers.has('x-ratelimit-limit-requests')).toBe(false)

    const second = await stage.complete('answers', {}, limited)
    expectStatus(second, 200)
    expect(Number(second.headers.get('x-ratelimit-remaining-tokens'))).toBeLessThan(300)
    // The answers have used 1,600 tokens, so the third call waits for the tokens of most of a minute.
    const refused = await stage.complete('answers', {}, limited)
    expect(expectStatus(refused, 429).error).toMatchObject({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'This organisation may use 1000 tokens a minute. Try again after the time in `retry-after`.',
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(20)
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('0')

    // A call that fails is not billed and uses no tokens.
    const other = await stage.portico.createOrganisation({ limits, monthlyBudgetUsd: '1000' })
    const long = [{ role: 'user', content: 'word '.repeat(700) }]
    stage.play('answers', errorAnswer(400))
    expectStatus(await stage.complete('answers', { messages: long }, other), 400)
    stage.play('answers', chatAnswer('Here you are.'))
    expectStatus(await stage.complete('answers', { messages: long }, other), 200)
    const tooLong = await stage.complete(
      'answers',
      { messages: [{ role: 'user', content: 'word '.repeat(3_000) }] },
      other,
    )
    expect(expectStatus(tooLong, 429).error).toMatchObject({ param: 'messages' })
    await stage.expectClean(other)
  })

  it('count running calls, including streams, until they end', async () => {
    const limited = await stage.portico.createOrganisation({ limits: { concurrentCalls: 1 }, monthlyBudgetUsd: '1000' })
    const body = chatStreamBody(['Half', ' an answer'])
    stage.play('stalls', { ...chatStream([]), body, stallAfterBytes: body.indexOf(' an answer') })
    const before = stage.calls('stalls').length
    const client = startStream('stalls', limited)
    await expect.poll(() => stage.calls('stalls').length).toBe(before + 1)
    expectStatus(await stage.complete('answers', {}, limited), 429)
    client.destroy()
    stage.play('answers', chatAnswer('Here you are.'))
    await expect.poll(async () => (await stage.complete('answers', {}, limited)).status).toBe(200)
  })

  it('are refused when they are not whole numbers in their range', async () => {
    const path = `/api/organisations/${stage.organisation.id}`
    const answer = await stage.portico.operator('PATCH', path, { limits: { concurrentCalls: 0 } })
    expect(expectStatus(answer, 400).error).toMatchObject({ param: 'limits.concurrentCalls' })
  })
})

describe('a client that reads nothing of its stream', () => {
  it('is disconnected, its call at the provider ends, and the generated text is billed', async () => {
    // More than the buffers of the sockets.
    const words = Array.from({ length: 4_000 }, () => 'x'.repeat(4_000))
    stage.play('floods', chatStream(words))
    const { hostname, port } = new URL(stage.portico.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    const body = JSON.stringify({ model: 'floods', messages: question, stream: true })
    socket.write(
      `POST /v1/gateway/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: ${stage.organisation.apiKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    socket.pause()
    await expect.poll(() => stage.calls('floods').length).toBe(1)
    await stage.upstream.aborted(stage.calls('floods')[0]!.index)
    const path = `/api/organisations/${stage.organisation.id}/usage?by=model`
    await expect
      .poll(async () => {
        const { rows } = expectStatus(await stage.portico.operator('GET', path), 200)
        return rows.find((row: { model: string }) => row.model === 'floods')?.completionTokens ?? 0
      })
      .toBeGreaterThan(0)
    socket.resume()
    await once(socket, 'close')
  })
})
