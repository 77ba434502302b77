import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { stagePrices } from '../harness/gateway-stage.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'

/** The tokens of a prompt, as the provider counts them where it does, on both APIs that ask for them. */

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation
let reply: (path: string) => UpstreamReply

const json = { 'content-type': 'application/json' }
const counts: Record<string, { wireId: string; path: string; counted: object; settings?: object }> = {
  anthropic: {
    wireId: 'claude-sonnet-4-5',
    path: '/anthropic/v1/messages/count_tokens',
    counted: { input_tokens: 1_234 },
  },
  gemini: {
    wireId: 'gemini-2.5-pro',
    path: '/gemini/v1beta/models/gemini-2.5-pro:countTokens',
    counted: { totalTokens: 1_234, totalBillableCharacters: 9 },
  },
  vertex: {
    wireId: 'gemini-2.5-pro',
    path: '/vertex/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:countTokens',
    counted: { totalTokens: 1_234 },
    settings: { project: 'p', region: 'europe-west4' },
  },
  bedrock: {
    // The profile of a geography counts under the id of its model.
    wireId: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    path: `/bedrock/model/${encodeURIComponent('anthropic.claude-sonnet-4-5-20250929-v1:0')}/count-tokens`,
    counted: { inputTokens: 1_234 },
    settings: { region: 'eu-central-1' },
  },
}

beforeAll(async () => {
  upstream = await startUpstream(({ path }) => reply(path))
  const formats = Object.entries({ ...counts, openai: { wireId: 'gpt-4.1', settings: {} } })
  portico = await startPortico({
    settings: {
      ollama: { detect: false },
      providers: formats.map(([id, { settings }]) => ({
        id,
        format: id,
        baseUrl: `${upstream.url}/${id}`,
        apiKey: 'key',
        hosting: 'us',
        models: 'declared',
        ...settings,
      })),
      models: formats.map(([id, { wireId }]) => ({
        id: `house-${id}`,
        contextTokens: 100_000,
        maxOutputTokens: 4_000,
        deployments: [{ provider: id, wireId, prices: stagePrices }],
      })),
    },
  })
  organisation = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})
beforeEach(() => {
  reply = (path) => {
    const known = Object.values(counts).find((count) => count.path === path)
    return known ? { headers: json, body: JSON.stringify(known.counted) } : { status: 404, headers: json, body: '{}' }
  }
})

const schema = { type: 'object', properties: { city: { type: 'string' } } }
const apis = [
  [
    'messages',
    '/v2/gateway/anthropic/v1/messages/count_tokens',
    {
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'How is the weather in Basel?' }],
      tools: [{ name: 'weather', input_schema: schema }],
    },
  ],
  [
    'responses',
    '/v2/gateway/responses/input_tokens',
    {
      instructions: 'Be brief.',
      input: 'How is the weather in Basel?',
      tools: [{ type: 'function', name: 'weather', parameters: schema }],
    },
  ],
] as const
const cases = apis.flatMap(([api, path, body]) => Object.keys(counts).map((format) => ({ api, path, body, format })))

it.each(cases)('$api: $format counts the whole prompt, and the header names it', async ({ path, body, format }) => {
  const sent = upstream.requests.length
  const answer = await organisation.client('POST', path, { model: `house-${format}`, ...body })
  expect(expectStatus(answer, 200).input_tokens).toBe(1_234)
  expect(answer.headers.get('x-portico-counted-by')).toBe('provider')
  const requests = upstream.requests.slice(sent)
  expect(requests.map((request) => request.path)).toEqual([counts[format]!.path])
  for (const part of ['Be brief.', 'Basel', 'weather', 'city']) expect(requests[0]!.body).toContain(part)
  // Fields of the answer have no place in a count.
  expect(requests[0]!.body).not.toMatch(/max_?(output_?)?tokens|generationConfig|inferenceConfig/i)
})

it.each(apis)('%s: Portico counts where the provider does not, or fails', async (_api, path, body) => {
  const own = await organisation.client('POST', path, { model: 'house-openai', ...body })
  expect(own.headers.get('x-portico-counted-by')).toBe('portico')
  const { input_tokens: tokens } = expectStatus(own, 200)
  expect(tokens).toBeGreaterThan(20)
  expect(tokens).toBeLessThan(200)
  for (const status of [400, 403, 500]) {
    const body400 = JSON.stringify({ message: "The provided model doesn't support counting tokens." })
    reply = () => ({ status, headers: json, body: body400 })
    for (const format of Object.keys(counts)) {
      const answer = await organisation.client('POST', path, { model: `house-${format}`, ...body })
      expect(expectStatus(answer, 200).input_tokens, `${format} ${status}`).toBe(tokens)
      expect(answer.headers.get('x-portico-counted-by')).toBe('portico')
    }
  }
})

it('a count that is refused leaves the deployment open to calls', async () => {
  reply = () => ({ status: 403, headers: json, body: '{"message":"not authorized to perform bedrock:CountTokens"}' })
  const [, path, body] = apis[0]
  for (let call = 0; call < 5; call++)
    expectStatus(await organisation.client('POST', path, { model: 'house-bedrock', ...body }), 200)
  const usage = { inputTokens: 11, outputTokens: 7, totalTokens: 18 }
  const output = { message: { role: 'assistant', content: [{ text: 'Sunny.' }] } }
  reply = () => ({ headers: json, body: JSON.stringify({ output, stopReason: 'end_turn', usage }) })
  const answer = await organisation.client('POST', '/v2/gateway/anthropic/v1/messages', {
    model: 'house-bedrock',
    max_tokens: 100,
    ...body,
  })
  expectStatus(answer, 200)
})

it.each(apis)('%s: images count, and an unknown model is 404', async (api, path, body) => {
  const header = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0', 'latin1')
  const data = Buffer.concat([header, Buffer.alloc(300, 7)]).toString('base64')
  const withImage =
    api === 'messages'
      ? {
          messages: [
            { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }] },
          ],
        }
      : { input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}` }] }] }
  const counted = await organisation.client('POST', path, { model: 'house-openai', ...withImage })
  expect(expectStatus(counted, 200).input_tokens).toBeGreaterThan(500)
  expectStatus(await organisation.client('POST', path, { model: 'nothing', ...body }), 404)
})
