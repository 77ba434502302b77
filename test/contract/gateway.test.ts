import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadCompatibleSchemas } from '../harness/openapi-schemas.ts'
import {
  createApiClient,
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
} from '../harness/portico.ts'

let portico: TestPortico
let organisation: TestOrganisation
const schemas = loadCompatibleSchemas()
const hello = [{ role: 'user', content: 'Say hello to the test, please.' }]

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
})
afterAll(() => portico?.stop())

const complete = (body: Record<string, unknown>, from = organisation) =>
  from.client('POST', '/v1/gateway/chat/completions', { model: 'portico/offline', messages: hello, ...body })

async function stream(body: Record<string, unknown>) {
  const response = await fetch(`${portico.url}/v1/gateway/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'portico/offline', messages: hello, stream: true, ...body }),
  })
  const text = await response.text()
  const lines = text.split('\n\n').filter((line) => line !== '')
  return { response, lines, chunks: lines.slice(0, -1).map((line) => JSON.parse(line.replace(/^data: /, ''))) }
}

describe('the models list', () => {
  it('contains ids that a completion accepts, in the standard format', async () => {
    const body = expectStatus(await organisation.client('GET', '/v1/gateway/models'), 200)
    expect(body).toMatchObject({ object: 'list' })
    expect(body.data.map((model: { id: string }) => model.id)).toContain('portico/offline')
    for (const { id } of body.data) expectStatus(await complete({ model: id, max_tokens: 5 }), 200)
  })
})

describe('one model', () => {
  it('is the entry of the list, by id with or without an encoded slash', async () => {
    const list = expectStatus(await organisation.client('GET', '/v1/gateway/models'), 200).data
    const entry = list.find((model: { id: string }) => model.id === 'portico/offline')
    for (const id of ['portico/offline', 'portico%2Foffline'])
      expect(expectStatus(await organisation.client('GET', `/v1/gateway/models/${id}`), 200)).toEqual(entry)
  })

  it('that is unknown is a 404 that names the list', async () => {
    const body = expectStatus(await organisation.client('GET', '/v1/gateway/models/nothing'), 404)
    expect(body.error).toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining('/v1/gateway/models'),
    })
  })
})

describe('a path of the compatible API that is not offered', () => {
  it.each([
    ['POST', '/v1/gateway/responses', 'provider.chat('],
    ['GET', '/v1/gateway/responses/resp_1', 'chat/completions'],
    ['POST', '/v1/gateway/completions', 'chat/completions'],
    ['POST', '/v1/gateway/embeddings', '/v1/documents'],
    ['POST', '/v1/chat/completions', '/v1/gateway'],
    ['GET', '/v1/models', '/v1/gateway'],
    ['POST', '/v1/gateway/v1/chat/completions', 'base URL'],
  ])('%s %s names the call to make instead', async (method, path, hint) => {
    const { error } = expectStatus(await organisation.client(method, path, method === 'POST' ? {} : undefined), 404)
    expect(error).toMatchObject({ code: 'unknown_endpoint', message: expect.stringContaining(hint) })
  })

  it('needs the key, and below the gateway the access to it', async () => {
    const closed = await portico.createOrganisation({ gatewayEnabled: false })
    expectStatus(await createApiClient(portico.url, 'ptc_wrong')('POST', '/v1/gateway/responses', {}), 401)
    expectStatus(await closed.client('POST', '/v1/gateway/responses', {}), 403)
  })
})

describe('a plain completion', () => {
  it('returns one choice, consistent usage, and headers that prove where it was made', async () => {
    const answer = await complete({})
    const body = expectStatus(answer, 200)
    expect(body).toMatchObject({ object: 'chat.completion', model: 'portico/offline' })
    expect(body.choices).toHaveLength(1)
    expect(body.choices[0]).toMatchObject({
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: expect.stringMatching(/\S/) },
    })
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens)
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(answer.headers.get('x-portico-hosting')).toBe('local')
    expect(answer.headers.get('x-portico-deployment')).toBeTruthy()
  })

  it('has a receipt under its request id', async () => {
    const answer = await complete({})
    const { usage } = expectStatus(answer, 200)
    const receipt = expectStatus(await portico.operator('GET', `/api/usage/${answer.headers.get('x-request-id')}`), 200)
    expect(JSON.stringify(receipt)).toContain(String(usage.prompt_tokens))
  })

  it('names ignored fields in a header', async () => {
    const answer = await complete({ top_k: 5, 'odd\r\nname': 1 })
    expectStatus(answer, 200)
    expect(answer.headers.get('x-ignored-params')).toBe('top_k, odd??name')
  })
})

describe('a streamed completion', () => {
  it('sends the role first, deltas, a finish chunk, then [DONE]', async () => {
    const { response, lines, chunks } = await stream({})
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(lines.at(-1)).toBe('data: [DONE]')
    expect(chunks[0].choices[0].delta).toMatchObject({ role: 'assistant', content: '' })
    expect(chunks.at(-1).choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' })
    expect(chunks.slice(0, -1).every((chunk) => chunk.choices[0].finish_reason === null)).toBe(true)
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1)
    const text = chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join('')
    expect(text).toBe(expectStatus(await complete({}), 200).choices[0].message.content)
  })

  it('ends with one usage chunk of empty choices if requested, and with none otherwise', async () => {
    const asked = await stream({ stream_options: { include_usage: true } })
    expect(asked.chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } })
    expect(asked.chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
    const plain = await stream({})
    expect(plain.chunks.every((chunk) => !('usage' in chunk))).toBe(true)
  })
})

describe.skipIf(!schemas)(
  schemas ? 'the published schema' : 'the published schema (skipped: shared data is missing)',
  () => {
    it('holds for the models list, every answer and every chunk', async () => {
      expect(schemas!('ListModelsResponse', (await organisation.client('GET', '/v1/gateway/models')).body)).toEqual([])
      expect(schemas!('CreateChatCompletionResponse', (await complete({})).body)).toEqual([])
      const { chunks } = await stream({ stream_options: { include_usage: true } })
      for (const chunk of chunks) expect(schemas!('CreateChatCompletionStreamResponse', chunk)).toEqual([])
    })
  },
)

describe('refusals', () => {
  const error = (answer: { body: { error: { code: string | null } } }) => answer.body.error

  it('come in the order key, gate, body, model, subscription, budget', async () => {
    const bad = { nonsense: true }
    const none = createApiClient(portico.url, 'ptc_wrong')
    expect(error(await none('POST', '/v1/gateway/chat/completions', bad)).code).toBe('invalid_api_key')

    const team = await portico.createOrganisation({ plan: 'team', monthlyBudgetUsd: '0' })
    expect(await team.client('POST', '/v1/gateway/chat/completions', bad)).toMatchObject({
      status: 403,
      body: { error: { code: 'gateway_not_enabled' } },
    })

    const ended = await portico.createOrganisation({ subscription: { status: 'cancelled' }, monthlyBudgetUsd: '0' })
    expect((await ended.client('POST', '/v1/gateway/chat/completions', bad)).status).toBe(400)
    expect(await complete({ model: 'no-such-model' }, ended)).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found', param: 'model' } },
    })
    expect(await complete({}, ended)).toMatchObject({ status: 402, body: { error: { code: 'subscription_required' } } })
  })

  it('of the gate name what is missing: plan, enablement or opt-in', async () => {
    const cases = [
      [{ plan: 'team' }, /plan/i],
      [{ gatewayEnabled: false }, /operator/i],
      [{ gatewayOptIn: false }, /administrator|opt/i],
    ] as const
    for (const [fields, words] of cases) {
      const closed = await portico.createOrganisation(fields)
      for (const answer of [await complete({}, closed), await closed.client('GET', '/v1/gateway/models')]) {
        expect(answer).toMatchObject({ status: 403, body: { error: { message: expect.stringMatching(words) } } })
      }
    }
  })

  it('of two keys that differ, and of a key that was replaced, are the same 401', async () => {
    const other = await portico.createOrganisation()
    const both = { 'x-api-key': other.apiKey }
    expect((await organisation.client('GET', '/v1/gateway/models', undefined, both)).status).toBe(401)
    expectStatus(await portico.operator('POST', `/api/organisations/${other.id}/api-key`), 201)
    const replaced = await other.client('GET', '/v1/gateway/models')
    const missing = await createApiClient(portico.url, 'x')('GET', '/v1/gateway/models')
    expect(replaced.status).toBe(401)
    expect(replaced.body).toEqual(missing.body)
  })

  it('of a disabled model are a 404, and the model is not listed', async () => {
    const picky = await portico.createOrganisation({ disabledModels: ['portico/offline'] })
    expect((await complete({}, picky)).status).toBe(404)
    const list = expectStatus(await picky.client('GET', '/v1/gateway/models'), 200)
    expect(list.data.map((model: { id: string }) => model.id)).not.toContain('portico/offline')
  })

  it('carry the standard error format and a request id everywhere', async () => {
    const answers = [
      await organisation.client('GET', '/nowhere'),
      await organisation.client('GET', '/v1/gateway/chat/completions'),
      await organisation.client('POST', '/v1/gateway/chat/completions', { model: 'x' }),
      await createApiClient(portico.url, 'none')('GET', '/v1/documents'),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([404, 405, 400, 401])
    for (const { body, headers } of answers) {
      expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type'])
      expect(headers.get('x-request-id')).toMatch(/^req_/)
    }
  })

  it('of a body that is not JSON is 400, and of another content type 415', async () => {
    const send = (body: string, type: string) =>
      fetch(`${portico.url}/v1/gateway/chat/completions`, {
        method: 'POST',
        headers: { 'x-api-key': organisation.apiKey, 'content-type': type },
        body,
      })
    expect((await send('{', 'application/json')).status).toBe(400)
    expect((await send('hello', 'text/plain')).status).toBe(415)
  })
})
