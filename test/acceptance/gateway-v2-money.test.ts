import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stagePrices } from '../harness/gateway-stage.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import {
  anthropicReply,
  type FormatReply,
  geminiReply,
  type ModelTurn,
  openaiReply,
  turnUsage,
} from '../upstream/format-replies.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** What calls with tools and an image set aside and cost, on the three client APIs in front of hosts of three formats. */

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation
let turn: ModelTurn
let change: (reply: UpstreamReply) => UpstreamReply | Promise<UpstreamReply>

/** Images of 1,024 by 1,024 pixels; the most tokens by the provider's published rule (see media-tokens.ts). */
const models = [
  { format: 'openai', wireId: 'gpt-4o', imageTokens: 85 + 4 * 170 },
  { format: 'anthropic', wireId: 'claude-sonnet-4-6', imageTokens: Math.ceil(1_024 ** 2 / 750) },
  { format: 'gemini', wireId: 'gemini-2.5-flash', imageTokens: 4 * 258 },
] as const
const replies: Record<(typeof models)[number]['format'], FormatReply> = {
  openai: openaiReply,
  anthropic: anthropicReply,
  gemini: geminiReply,
}

const header = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0', 'latin1')
const png = Buffer.concat([header, Buffer.alloc(300, 7)]).toString('base64')
const url = `data:image/png;base64,${png}`
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const tool = { name: 'weather', description: 'Weather of a city', parameters }

const apis = {
  'chat completions': {
    path: '/v2/gateway/chat/completions',
    body: {
      tools: [{ type: 'function', function: tool }],
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    },
  },
  responses: {
    path: '/v2/gateway/responses',
    body: {
      tools: [{ type: 'function', ...tool }],
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
    },
  },
  messages: {
    path: '/v2/gateway/anthropic/v1/messages',
    body: {
      max_tokens: 1_000,
      tools: [{ name: tool.name, description: tool.description, input_schema: parameters }],
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }],
        },
      ],
    },
  },
}

const cases = Object.entries(apis).flatMap(([api, { path, body }]) =>
  models.map((model) => ({ api, path, body: { model: `house-${model.format}`, ...body }, ...model })),
)

beforeAll(async () => {
  upstream = await startUpstream((request) => {
    const format = request.path.includes('/messages')
      ? 'anthropic'
      : /generateContent/i.test(request.path)
        ? 'gemini'
        : 'openai'
    return change(replies[format](turn, request))
  })
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: models.map(({ format }) => ({
        id: format,
        format,
        baseUrl: upstream.url,
        apiKey: 'key',
        hosting: 'us',
        models: 'declared',
      })),
      models: models.map(({ format, wireId }) => ({
        id: `house-${format}`,
        contextTokens: 100_000,
        maxOutputTokens: 4_000,
        deployments: [{ provider: format, wireId, prices: stagePrices }],
      })),
    },
  })
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(async () => {
  organisation = await portico.createOrganisation({ markupPercent: 10 })
  turn = { text: ['Let me ', 'look.'], calls: [{ id: 'call_1', name: 'weather', args: { city: 'Basel' } }] }
  change = (reply) => reply
})

const budget = async () =>
  expectStatus(await portico.operator('GET', `/api/organisations/${organisation.id}/budget`), 200)
const receiptOf = ({ headers }: { headers: Headers }) =>
  portico.operator('GET', `/api/usage/${headers.get('x-request-id')}`)
/** With the markup, in US dollars. Prices are 1 and 2 dollars per million tokens. */
const cost = (prompt: number, completion: number) => ((prompt + 2 * completion) * 1.1) / 1e6

async function expectClean() {
  expect((await budget()).heldUsd).toMatch(/^0(\.0+)?$/)
  expect(expectStatus(await portico.operator('GET', '/api/audit'), 200)).toMatchObject({ ok: true, findings: [] })
}

describe.each(cases)('$api with tools and an image at $format', ({ path, body, format, imageTokens }) => {
  it.each([false, true])(
    'holds an upper bound and bills exactly what the provider counted, stream: %s',
    async (stream) => {
      let held = 0
      change = async (reply) => {
        held = Number((await budget()).heldUsd)
        return reply
      }
      const answer = await organisation.client('POST', path, { ...body, stream })
      expectStatus(answer, 200)
      expect(held).toBeGreaterThan(cost(imageTokens, 0))
      const receipt = expectStatus(await receiptOf(answer), 200)
      expect(receipt).toMatchObject({
        usage: { promptTokens: turnUsage.prompt, completionTokens: turnUsage.completion },
        costBasis: 'tokens',
        billedUsd: '0.0000275',
        ending: 'completed',
      })
      expect((await budget()).spentUsd).toBe(receipt.billedUsd)
      await expectClean()
    },
  )

  it('bills a stream that its client leaves once: as counted by a provider of hidden reasoning, else with the image estimated', async () => {
    let go = () => {}
    const until = new Promise<void>((resolve) => (go = resolve))
    change = async (reply) => {
      const text = String(reply.body)
      return { ...reply, holdAt: { bytes: text.indexOf('look.') - 5, until } }
    }
    const client = new AbortController()
    const response = await fetch(portico.url + path, {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
      signal: client.signal,
    })
    await response.body!.getReader().read()
    client.abort()
    // The server has seen the end of the connection before it answers this.
    await budget()
    go()
    await expect.poll(async () => (await receiptOf(response)).body.ending).toBe('client_closed')
    const receipt = expectStatus(await receiptOf(response), 200)
    if (format === 'openai') {
      const { promptTokens, completionTokens } = receipt.usage
      expect(receipt.estimated).toBe(true)
      expect(promptTokens).toBeGreaterThan(imageTokens)
      expect(Number(receipt.billedUsd)).toBeCloseTo(cost(promptTokens, completionTokens), 12)
    } else expect(receipt).toMatchObject({ estimated: false, billedUsd: '0.0000275' })
    expect((await budget()).spentUsd).toBe(receipt.billedUsd)
    await expectClean()
  })
})

describe.each(['house-openai', 'house-anthropic', 'house-gemini'])('an answer of %s to a schema', (model) => {
  const schema = { ...parameters, required: ['city'], additionalProperties: false }
  const requests = [
    [
      '/v2/gateway/chat/completions',
      {
        messages: [{ role: 'user', content: 'Where?' }],
        response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
      },
    ],
    ['/v2/gateway/responses', { input: 'Where?', text: { format: { type: 'json_schema', name: 'place', schema } } }],
    [
      '/v2/gateway/anthropic/v1/messages',
      {
        max_tokens: 1_000,
        messages: [{ role: 'user', content: 'Where?' }],
        output_config: { format: { type: 'json_schema', schema } },
      },
    ],
  ] as const

  const answers = [
    ['{"city":"Basel"}', null, null],
    ['{"city":7}', '/city type', 'type'],
    ['{"town":"Basel"}', '/ required', 'required'],
    ['{"city":"Ba', '/ json', 'json'],
  ] as const

  it.each(requests)(
    'names in a header of %s the place that does not match, and the rule in the receipt',
    async (path, body) => {
      for (const [text, place, schemaMismatch] of answers) {
        turn = { text: [text] }
        const answer = await organisation.client('POST', path, { model, ...body })
        expectStatus(answer, 200)
        expect(answer.headers.get('x-portico-schema-mismatch'), text).toBe(place)
        expect(expectStatus(await receiptOf(answer), 200).schemaMismatch, text).toBe(schemaMismatch)
      }
      await expectClean()
    },
  )

  it.each(requests)(
    'names the rule that a stream of %s breaks in the receipt and in the list of calls',
    async (path, body) => {
      for (const [text, , schemaMismatch] of answers) {
        turn = { text: [text.slice(0, 5), text.slice(5)] }
        const answer = await organisation.client('POST', path, { model, ...body, stream: true })
        expectStatus(answer, 200)
        const receipt = expectStatus(await receiptOf(answer), 200)
        expect(receipt.schemaMismatch, text).toBe(schemaMismatch)
        const calls = await portico.operator('GET', `/api/console/organisations/${organisation.id}/usage/requests`)
        expect(expectStatus(calls, 200).items).toContainEqual(
          expect.objectContaining({ requestId: receipt.requestId, schemaMismatch }),
        )
      }
      await expectClean()
    },
  )

  it('has no verdict on calls of tools', async () => {
    const [path, body] = requests[0]
    for (const stream of [false, true]) {
      turn = { text: ['I look.'], calls: [{ id: 'call_1', name: 'weather', args: {} }] }
      const answer = await organisation.client('POST', path, {
        model,
        ...body,
        tools: [{ type: 'function', function: tool }],
        stream,
      })
      // Some hosts of formats take no schema next to tools.
      if (answer.status === 400) continue
      expectStatus(answer, 200)
      expect(expectStatus(await receiptOf(answer), 200)).toMatchObject({
        schemaMismatch: null,
        finishReason: 'tool_calls',
      })
    }
  })
})

describe.each(['house-openai', 'house-anthropic', 'house-gemini'])('one call of a forced tool at %s', (model) => {
  const one = { id: 'call_1', name: 'weather', args: { city: 'Basel' } }
  const two = { id: 'call_2', name: 'weather', args: { city: 'Bern' } }
  const requests = [
    [
      'chat completions',
      '/v2/gateway/chat/completions',
      {
        messages: [{ role: 'user', content: 'Where?' }],
        tools: [{ type: 'function', function: tool }],
        tool_choice: { type: 'function', function: { name: 'weather' } },
        parallel_tool_calls: false,
      },
    ],
    [
      'the Responses API',
      '/v2/gateway/responses',
      { input: 'Where?', tools: [{ type: 'function', ...tool }], tool_choice: 'required', parallel_tool_calls: false },
    ],
    [
      'the Messages API',
      '/v2/gateway/anthropic/v1/messages',
      {
        max_tokens: 1_000,
        messages: [{ role: 'user', content: 'Where?' }],
        tools: [{ name: tool.name, input_schema: parameters }],
        tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
      },
    ],
  ] as const

  it.each(requests)('is what %s passes on', async (_api, path, body) => {
    turn = { calls: [one] }
    for (const stream of [false, true]) {
      const answer = await organisation.client('POST', path, { model, ...body, stream })
      expectStatus(answer, 200)
      expect(JSON.stringify(answer.body)).toContain('Basel')
      expect(expectStatus(await receiptOf(answer), 200)).toMatchObject({ ending: 'completed' })
      if (model === 'house-gemini') expect(answer.headers.get('x-adjusted-params')).toContain('parallel_tool_calls')
    }
  })

  it.each(requests)(
    'is all that %s passes on: an answer with two is an error, and billed',
    async (_api, path, body) => {
      turn = { calls: [one, two] }
      for (const stream of [false, true]) {
        const answer = await organisation.client('POST', path, { model, ...body, stream })
        expectStatus(answer, stream ? 200 : 400)
        const text = JSON.stringify(answer.body)
        expect(text).toContain('several times')
        // Blocks of Anthropic's hosts are passed on as they come.
        if (model !== 'house-anthropic' || !path.includes('anthropic')) expect(text).not.toContain('Bern')
        const receipt = expectStatus(await receiptOf(answer), 200)
        expect(receipt).toMatchObject({ ending: 'provider_failed', billedUsd: '0.0000275', estimated: false })
      }
      await expectClean()
    },
  )
})

it('a limit of one call without a forced tool needs a host that has it', async () => {
  const body = {
    model: 'house-gemini',
    messages: [{ role: 'user', content: 'Where?' }],
    tools: [{ type: 'function', function: tool }],
    parallel_tool_calls: false,
  }
  const answer = await organisation.client('POST', '/v2/gateway/chat/completions', body)
  expectStatus(answer, 400)
  expect(answer.body.error).toMatchObject({ param: 'parallel_tool_calls', code: 'unsupported_parameter' })
  expect(answer.body.error.message).toContain('`house-openai`')
})
