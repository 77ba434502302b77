import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { providerCall, toolConversation, weatherTool } from '../../../test/harness/provider-call.ts'
import { chatAnswer, chatStream } from '../../../test/upstream/replies.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../../../test/upstream/upstream.ts'
import { createProvider, type Provider, type ProviderRequest, type ProviderSettings } from './index.ts'

let upstream: Upstream
let providers: Provider[]
let refusals: { deployment: string; field: string }[]
const clock = createFakeClock()

beforeEach(async () => {
  upstream = await startUpstream()
  providers = []
  refusals = []
})
afterEach(async () => {
  await Promise.all(providers.map((provider) => provider.close()))
  await upstream.close()
})

function connect(settings: Partial<ProviderSettings> = {}): Provider {
  const all = {
    id: 'p',
    format: 'openai',
    flavour: 'generic',
    baseUrl: upstream.url,
    apiKey: 'k',
    region: 'eu-central-1',
  }
  const provider = createProvider({ ...all, ...settings } as ProviderSettings, {
    clock,
    onRefusal: (refusal) => refusals.push(refusal),
  })
  providers.push(provider)
  return provider
}

const refusal = (body: unknown, status = 400): UpstreamReply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** Answers each request with the next reply; the last one is repeated. */
function replies(...list: UpstreamReply[]) {
  upstream.script(({ index }) => list[Math.min(index, list.length - 1)]!)
}

const bodyOf = (index: number) => JSON.parse(upstream.requests[index]!.body) as Record<string, unknown>
const anthropicAnswer: UpstreamReply = {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ type: 'message', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' }),
}
const geminiAnswer: UpstreamReply = {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }),
}
const bedrockAnswer: UpstreamReply = {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ output: { message: { content: [{ text: 'Hi' }] } }, stopReason: 'end_turn' }),
}

const openAiError = (message: string, param: string | null = null, code: string | null = null) =>
  refusal({ error: { message, type: 'invalid_request_error', param, code } })

describe('a field that a host refuses by name', () => {
  test.each<
    [string, Partial<ProviderSettings>, Partial<ProviderRequest>, UpstreamReply, UpstreamReply, string, string]
  >([
    [
      'OpenAI, a parameter',
      {},
      { stop: ['x'] },
      openAiError("Unsupported parameter: 'stop' is not supported with this model.", 'stop', 'unsupported_parameter'),
      chatAnswer('Hi'),
      'stop',
      'stop',
    ],
    [
      'OpenAI, a value',
      {},
      { temperature: 0.3 },
      openAiError(
        "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
        'temperature',
        'unsupported_value',
      ),
      chatAnswer('Hi'),
      'temperature',
      'temperature',
    ],
    [
      'OpenAI, an argument',
      {},
      { seed: 1 },
      openAiError('Unrecognized request argument supplied: seed'),
      chatAnswer('Hi'),
      'seed',
      'seed',
    ],
    [
      'Mistral',
      { flavour: 'mistral' },
      { seed: 1 },
      refusal(
        { detail: [{ type: 'extra_forbidden', loc: ['body', 'random_seed'], msg: 'Extra inputs are not permitted' }] },
        422,
      ),
      chatAnswer('Hi'),
      'random_seed',
      'seed',
    ],
    [
      'Groq',
      { flavour: 'groq' },
      { presencePenalty: 1 },
      openAiError("'presence_penalty' : property 'presence_penalty' is unsupported"),
      chatAnswer('Hi'),
      'presence_penalty',
      'presence_penalty',
    ],
    [
      'xAI',
      { flavour: 'xai' },
      { presencePenalty: 1 },
      refusal({
        code: 'Client specified an invalid argument',
        error: 'Model grok-9 does not support parameter presencePenalty.',
      }),
      chatAnswer('Hi'),
      'presence_penalty',
      'presence_penalty',
    ],
    [
      'Moonshot',
      { flavour: 'moonshotai' },
      { temperature: 0.3 },
      openAiError('invalid temperature: only 1 is allowed for this model'),
      chatAnswer('Hi'),
      'temperature',
      'temperature',
    ],
    [
      'Anthropic',
      { format: 'anthropic' },
      { user: 'u' },
      refusal({
        type: 'error',
        error: { type: 'invalid_request_error', message: 'metadata.user_id: Extra inputs are not permitted' },
      }),
      anthropicAnswer,
      'metadata',
      'user',
    ],
    [
      'Anthropic, deprecated',
      { format: 'anthropic' },
      { temperature: 1 },
      refusal({
        type: 'error',
        error: { type: 'invalid_request_error', message: '`temperature` is deprecated for this model.' },
      }),
      anthropicAnswer,
      'temperature',
      'temperature',
    ],
    [
      'Gemini',
      { format: 'gemini' },
      { seed: 1 },
      refusal({
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'Invalid JSON payload received. Unknown name "seed" at \'generation_config\': Cannot find field.',
        },
      }),
      geminiAnswer,
      'generationConfig',
      'seed',
    ],
    [
      'Bedrock',
      { format: 'bedrock' },
      { stop: ['x'] },
      refusal({
        message:
          'Malformed input request: #: extraneous key [stopSequences] is not permitted, please reformat your input and try again.',
      }),
      bedrockAnswer,
      'inferenceConfig',
      'stop',
    ],
  ])(
    '(%s) is omitted, the call is sent once more, and the answer reports it',
    async (_, settings, request, refused, answer, field, name) => {
      replies(refused, answer)
      const provider = connect(settings)
      const call = { ...providerCall(request), deployment: 'd1' }
      const answered = await provider.complete(call)
      expect(answered.adjusted).toContain(name)
      expect(upstream.requests).toHaveLength(2)
      expect(bodyOf(0)).toHaveProperty(field)
      expect(bodyOf(1)).not.toHaveProperty(field)
      expect(refusals).toEqual([{ deployment: 'd1', field: name }])
      // From now on the next call omits it at once.
      expect((await provider.complete(call)).adjusted).toContain(name)
      expect(upstream.requests).toHaveLength(3)
      expect(bodyOf(2)).not.toHaveProperty(field)
    },
  )

  test('is recorded for its deployment only, and for an hour', async () => {
    const refused = openAiError("Unsupported parameter: 'stop' is not supported with this model.")
    upstream.script(({ body }) => (body.includes('"stop"') ? refused : chatAnswer('Hi')))
    const provider = connect()
    const call = providerCall({ stop: ['x'] })
    await provider.complete({ ...call, deployment: 'd1' })
    await provider.complete({ ...call, deployment: 'd2' })
    expect(upstream.requests).toHaveLength(4)
    clock.advance(60 * 60_000 - 1)
    await provider.complete({ ...call, deployment: 'd1' })
    expect(upstream.requests).toHaveLength(5)
    clock.advance(2)
    await provider.complete({ ...call, deployment: 'd1' })
    expect(upstream.requests).toHaveLength(7)
  })

  test('is omitted from a stream before its first byte, and never twice in one call', async () => {
    replies(openAiError("Unsupported parameter: 'stop' is not supported."), chatStream(['Hi']))
    const stream = await connect().stream(providerCall({ stop: ['x'] }))
    expect(stream.adjusted).toEqual(['stop'])
    for await (const _ of stream.events);
    upstream.script(({ body }) =>
      openAiError(`Unsupported parameter: '${body.includes('"stop"') ? 'stop' : 'seed'}' is not supported.`),
    )
    const before = upstream.requests.length
    const failed = connect().complete(providerCall({ stop: ['x'], seed: 1 }))
    await expect(failed).rejects.toMatchObject({ errorClass: 'invalid_request' })
    expect(upstream.requests.length - before).toBe(2)
  })

  test.each([
    ['messages', "Unsupported value: 'messages[0].role' does not support 'developer' with this model."],
    ['model', "Unsupported parameter: 'model' is not supported."],
    ['a cap', "Unsupported parameter: 'max_tokens' is not supported with this model."],
    ['something that was not sent', "Unsupported parameter: 'logit_bias' is not supported."],
    ['nothing', 'The request is not valid.'],
  ])('is never %s', async (_, message) => {
    replies(openAiError(message, 'messages'))
    const call = providerCall({ maxOutputTokens: 5, stop: ['x'] })
    await expect(connect().complete(call)).rejects.toMatchObject({ errorClass: 'invalid_request' })
    expect(upstream.requests).toHaveLength(1)
    expect(refusals).toEqual([])
  })

  test('is renamed if the host states its other name: a cap is never lost', async () => {
    replies(
      openAiError(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
        'unsupported_parameter',
      ),
      chatAnswer('Hi'),
    )
    expect((await connect().complete(providerCall({ maxOutputTokens: 5 }))).adjusted).toEqual([])
    expect(bodyOf(1)).toMatchObject({ max_completion_tokens: 5 })
    expect(bodyOf(1)).not.toHaveProperty('max_tokens')
  })
})

const tools = { messages: toolConversation, tools: [weatherTool] }

test('a model that requires an effort of none with tools gets it from then on', async () => {
  replies(
    openAiError(
      "Function tools with reasoning_effort are not supported for gpt-9 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      'reasoning_effort',
    ),
    chatAnswer('Hi'),
  )
  const provider = connect()
  await provider.complete(providerCall(tools))
  expect(bodyOf(1)).toMatchObject({ reasoning_effort: 'none', tools: [{}] })
  await provider.complete(providerCall())
  expect(bodyOf(2)).not.toHaveProperty('reasoning_effort')
})

test('a model that cannot call tools in a stream gets a request for the whole answer', async () => {
  replies(refusal({ message: "This model doesn't support tool use in streaming mode." }), bedrockAnswer)
  const stream = await connect({ format: 'bedrock' }).stream(providerCall(tools, { id: 'meta.newest' }))
  const events = []
  for await (const read of stream.events) events.push(...read)
  expect(events).toMatchObject([{ type: 'text', text: 'Hi' }, { type: 'finish' }])
  expect(upstream.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['converse-stream', 'converse'])
})

test('every call has a user-agent with name and version', async () => {
  upstream.script(({ path }) =>
    path.endsWith('/models')
      ? { body: '{"data":[]}' }
      : path.endsWith('/embeddings')
        ? { body: '{"data":[{"index":0,"embedding":[1]}]}' }
        : chatAnswer('Hi'),
  )
  const provider = connect()
  const call = providerCall()
  await provider.complete(call)
  await provider.embed!({ ...call, texts: ['a'], purpose: 'query' })
  await provider.listModels!(call.signal)
  const agents = upstream.requests.map(({ headers }) => headers['user-agent'])
  expect(agents).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^portico\/\d+\.\d+\.\d+/)))
})
