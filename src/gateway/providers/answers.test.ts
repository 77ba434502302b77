import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../test/harness/provider-call.ts'
import { errorOf } from '../../../test/harness/recorded-wire.ts'
import { foldStream, pieces } from '../../../test/upstream/fold-answer.ts'
import { createAnthropicAdapter } from './anthropic/index.ts'
import { createBedrockAdapter } from './bedrock/index.ts'
import { createCohereAdapter } from './cohere/index.ts'
import { createGeminiAdapter, createVertexAdapter } from './gemini/index.ts'
import { createOllamaAdapter } from './ollama/index.ts'
import { createOpenAiAdapter } from './openai/index.ts'
import type { ProviderEvent, ProviderSettings } from './port.ts'
import type { WireAdapter } from './wire-adapter.ts'

const settings = { id: 'x', apiKey: 'test-key', region: 'eu-central-1' }
const openai = (flavour = 'generic') =>
  createOpenAiAdapter({ ...settings, format: 'openai', flavour, baseUrl: 'http://host.test/v1' } as ProviderSettings)
const anthropic = createAnthropicAdapter({ ...settings, format: 'anthropic' })
const gemini = createGeminiAdapter({ ...settings, format: 'gemini' })
const vertex = createVertexAdapter({ ...settings, format: 'vertex', project: 'p' })
const bedrock = createBedrockAdapter({ ...settings, format: 'bedrock' })
const cohere = createCohereAdapter({ ...settings, format: 'cohere' })
const ollama = createOllamaAdapter({ ...settings, format: 'ollama' })

const json = (value: unknown) => bytesOf(JSON.stringify(value))
const sse = (...events: (object | string)[]) =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('')
const delta = (fields: object, more: object = {}, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
  ...more,
})
const whole = (choice: object, more: object = {}) => ({ choices: [{ index: 0, ...choice }], ...more })
const message = (content: string, more: object = {}) => ({
  message: { role: 'assistant', content, ...more },
  finish_reason: 'stop',
})
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

/** Events before the failure, read as a whole and byte by byte: both must be equal. */
function eventsAndError(adapter: WireAdapter, body: string) {
  const run = (cut: Iterable<Uint8Array>) => {
    const reader = adapter.createStreamReader()
    const events: ProviderEvent[] = []
    const error = errorOf(() => {
      for (const piece of cut) {
        events.push(...reader.push(piece))
        const pending = reader.pendingError?.()
        if (pending) throw pending
      }
      events.push(...reader.end())
    })
    return { events, errorClass: error.errorClass, message: error.message }
  }
  const result = run([bytesOf(body)])
  expect(run(pieces(bytesOf(body), () => 1))).toEqual(result)
  return result
}

describe('an answer withheld by a filter', () => {
  test('has no message at Azure, and is an answer with its usage', () => {
    const answer = openai('azure').fromResponse(json(whole({ finish_reason: 'content_filter' }, { usage })))
    expect(answer).toMatchObject({ text: '', finishReason: 'content_filter', usage: { promptTokens: 7 } })
  })

  test('is recognised by finish reasons that are not in the list', () => {
    for (const word of ['sensitive', 'SAFETY_BLOCKED', 'moderation'])
      expect(openai().fromResponse(json(whole({ ...message('x'), finish_reason: word }))).finishReason).toBe(
        'content_filter',
      )
    const candidate = { finishReason: 'LANGUAGE', content: { parts: [] } }
    expect(gemini.fromResponse(json({ candidates: [candidate] })).finishReason).toBe('content_filter')
  })
})

describe('a truncated answer', () => {
  test('with a failure in the SSE field `error` is a failure, even if [DONE] follows', () => {
    const body = `${sse(delta({ content: 'Half' }))}error: {"code":500,"message":"slot failed","type":"server_error"}\n\n${sse('[DONE]')}`
    const { events, errorClass, message: words } = eventsAndError(openai('llamacpp'), body)
    expect(events).toMatchObject([{ type: 'text', text: 'Half' }])
    expect({ errorClass, words }).toEqual({ errorClass: 'server_error', words: 'slot failed' })
  })

  test.each(['network_error', 'error', 'abort', 'timeout', 'engine_failure'])(
    'with the finish reason %s is a failure',
    (word) => {
      expect(
        errorOf(() => openai().fromResponse(json(whole({ ...message('Half'), finish_reason: word })))).errorClass,
      ).toBe('server_error')
      expect(eventsAndError(openai(), sse(delta({ content: 'Half' }), delta({}, {}, word), '[DONE]')).errorClass).toBe(
        'server_error',
      )
    },
  )

  test('with [DONE] but without a finish reason is a failure', () => {
    expect(eventsAndError(openai(), sse(delta({ content: 'Half' }), '[DONE]')).errorClass).toBe('connection')
  })

  test('that a proxy begins again is a failure', () => {
    const start = (id: string) => ({ type: 'message_start', message: { id, usage: { input_tokens: 5 } } })
    const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } }
    expect(eventsAndError(anthropic, sse(start('msg_1'), text, start('msg_2'), text)).errorClass).toBe('connection')
    const end = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }]
    const repeated = sse(start('msg_1'), start('msg_1'), text, ...end)
    expect(foldStream(anthropic.createStreamReader(), [bytesOf(repeated)]).text).toBe('Half')
  })

  test('with a tool call that Google could not parse is a failure, not an empty answer', () => {
    for (const finishReason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL']) {
      const body = { candidates: [{ finishReason, content: {} }], usageMetadata: { promptTokenCount: 5 } }
      expect(errorOf(() => gemini.fromResponse(json(body)))).toMatchObject({
        errorClass: 'server_error',
        code: finishReason,
      })
      expect(eventsAndError(gemini, sse(body)).errorClass).toBe('server_error')
    }
  })

  test('keeps what was decoded before a broken frame in the same read', () => {
    const { events, errorClass } = eventsAndError(openai(), `${sse(delta({ content: 'Half' }))}data: {"cho\n\n`)
    expect(events).toMatchObject([{ type: 'text', text: 'Half' }])
    expect(errorClass).toBe('connection')
    const lines = `${JSON.stringify({ message: { content: 'Half' }, done: false })}\n{"mess\n`
    expect(eventsAndError(ollama, lines).events).toMatchObject([{ type: 'text', text: 'Half' }])
  })

  test('keeps the usage of the chunk with the error', () => {
    const failed = { error: { message: 'The engine died.', type: 'server_error' }, usage, choices: [] }
    const { events } = eventsAndError(openai(), sse(delta({ content: 'Half' }), failed))
    expect(events.at(-1)).toMatchObject({ type: 'usage', usage: { promptTokens: 7, completionTokens: 3 } })
  })

  test.each([
    { message: 'The maximum output tokens limit was reached.', code: 'max_tokens' },
    { message: 'Generation stopped: max_tokens exceeded' },
    { message: 'Output token limit reached', code: 'token_limit_reached' },
  ])('at its token limit after text ends with `length`: $message', (error) => {
    const body = bytesOf(sse(delta({ content: 'A long' }), { error, usage, choices: [] }, '[DONE]'))
    for (const cut of [[body], pieces(body, () => 1)])
      expect(foldStream(openai().createStreamReader(), cut)).toMatchObject({
        text: 'A long',
        finishReason: 'length',
        usage: { completionTokens: 3 },
      })
  })
})

describe('a prompt longer than the context', () => {
  const openAiError = (words: string, code: string | null = null) =>
    JSON.stringify({ error: { message: words, type: 'invalid_request_error', code } })
  const cases: [string, WireAdapter, number, string, Record<string, string>?][] = [
    ['Bedrock, its own', bedrock, 400, '{"message":"Input is too long for requested model."}'],
    [
      'Bedrock, of Claude',
      bedrock,
      400,
      '{"message":"The model returned the following errors: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}',
    ],
    [
      'Bedrock, of Titan',
      bedrock,
      400,
      '{"message":"Malformed input request: expected maxLength: 50000, actual: 90000, please reformat your input and try again."}',
    ],
    [
      'Bedrock, of Nova',
      bedrock,
      400,
      '{"message":"Input Tokens Exceeded: Number of input tokens exceeds maximum length."}',
    ],
    [
      'Vertex',
      vertex,
      400,
      '{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Unable to submit request because the input token count is 40000 but model only supports up to 32767."}}',
    ],
    [
      'Gemini',
      gemini,
      400,
      '{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}',
    ],
    ['Perplexity', openai('perplexity'), 400, openAiError('Input exceeds the maximum context length of 127072 tokens')],
    [
      'Moonshot',
      openai('moonshotai'),
      400,
      openAiError('Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)'),
    ],
    [
      'DashScope',
      openai('alibaba'),
      400,
      openAiError(
        '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]',
        'invalid_parameter_error',
      ),
    ],
    ['z.ai', openai(), 400, '{"error":{"code":"1261","message":"Prompt exceeds max length"}}'],
    [
      'vLLM',
      openai('vllm'),
      400,
      '{"object":"error","message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","code":400}',
    ],
    [
      'TGI',
      openai(),
      422,
      '{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`","error_type":"validation"}',
    ],
    [
      'llama.cpp',
      openai('llamacpp'),
      500,
      '{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}',
    ],
    [
      'Groq',
      openai('groq'),
      413,
      '{"error":{"message":"Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}',
    ],
    [
      'OpenAI',
      openai('openai'),
      429,
      '{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.","type":"tokens","code":"rate_limit_exceeded"}}',
    ],
    [
      'Anthropic',
      anthropic,
      400,
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
    ],
    [
      'Cohere',
      cohere,
      400,
      '{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."}',
    ],
  ]
  test.each(cases)('is recognised in the message of %s, and not retried', (_host, adapter, status, body) => {
    const error = adapter.mapError({ status, headers: { 'x-amzn-errortype': 'ValidationException' }, body })
    expect(error).toMatchObject({ errorClass: 'context_length', retryable: false })
  })

  test('is not confused with an output cap above the model’s', () => {
    const body =
      '{"message":"The maximum tokens you requested exceeds the model limit of 10000. Try again with a maximum tokens value that is lower than 10000."}'
    const headers = { 'x-amzn-errortype': 'ValidationException' }
    expect(bedrock.mapError({ status: 400, headers, body }).errorClass).toBe('invalid_request')
  })
})

test.each([
  ['openai', openai(), '{"error":{"message":"The model is currently at capacity.","type":"rate_limit_error"}}'],
  [
    'mistral',
    openai('mistral'),
    '{"object":"error","message":"Service tier capacity exceeded for this model.","code":"3505"}',
  ],
  [
    'gemini',
    gemini,
    '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"The model is overloaded. Please try again later."}}',
  ],
  ['bedrock', bedrock, '{"message":"The model has reached its capacity. Try again."}'],
])('a 429 of %s with a message about capacity is an overload', (_host, adapter, body) => {
  const headers = { 'x-amzn-errortype': 'ThrottlingException' }
  expect(adapter.mapError({ status: 429, headers, body })).toMatchObject({ errorClass: 'overloaded', retryable: true })
})

describe('usage', () => {
  test.each([
    ['openrouter', { ...usage, cost: 0.000_123 }, 123_000_000_000_000n],
    [
      'openrouter',
      { ...usage, cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } },
      210_000_000_000_000_000n,
    ],
    [
      'perplexity',
      { ...usage, cost: { input_tokens_cost: 0, request_cost: 0.006, total_cost: 0.0061 } },
      6_100_000_000_000_000n,
    ],
    ['xai', { ...usage, cost_in_usd_ticks: 37_756_000 }, 3_775_600_000_000_000n],
  ])('of %s states the cost, and keeps the raw numbers', (flavour, wire, costAttoUsd) => {
    const stated = { costAttoUsd, raw: wire, billedUnits: null }
    expect(openai(flavour).fromResponse(json(whole(message('x'), { usage: wire }))).usage).toMatchObject({ stated })
    const stream = sse(delta({ content: 'x' }), delta({}, { usage: wire }, 'stop'), '[DONE]')
    expect(foldStream(openai(flavour).createStreamReader(), [bytesOf(stream)]).usage).toMatchObject({ stated })
  })

  test('of Perplexity’s deep research includes the reasoning that its total excludes', () => {
    const wire = {
      prompt_tokens: 33,
      completion_tokens: 7163,
      total_tokens: 7196,
      reasoning_tokens: 73_997,
      num_search_queries: 18,
    }
    expect(openai('perplexity').fromResponse(json(whole(message('x'), { usage: wire }))).usage).toMatchObject({
      promptTokens: 33,
      completionTokens: 81_160,
      reasoningTokens: 73_997,
    })
  })

  test('with more cached than prompt tokens is clamped, and the raw numbers are kept', () => {
    const wire = { ...usage, prompt_tokens_details: { cached_tokens: 900 } }
    expect(openai('azure').fromResponse(json(whole(message('x'), { usage: wire }))).usage).toMatchObject({
      cachedTokens: 7,
      stated: { raw: wire, costAttoUsd: null, billedUnits: null },
    })
  })

  test('of Cohere counts tokens, with reasoning, and bills units', () => {
    const wire = {
      tokens: { input_tokens: 500, output_tokens: 40, reasoning_tokens: 12 },
      billed_units: { input_tokens: 20, output_tokens: 30 },
    }
    const body = { message: { content: [{ type: 'text', text: 'x' }] }, finish_reason: 'COMPLETE', usage: wire }
    expect(cohere.fromResponse(json(body)).usage).toMatchObject({
      promptTokens: 500,
      completionTokens: 40,
      reasoningTokens: 12,
      stated: { billedUnits: { inputTokens: 20, outputTokens: 30 }, raw: wire },
    })
  })

  test('of Ollama without a prompt count keeps the output count', () => {
    const body = { message: { content: 'x' }, done: true, done_reason: 'stop', eval_count: 9 }
    expect(ollama.fromResponse(json(body)).usage).toMatchObject({ completionTokens: 9, promptUncounted: true })
    expect(ollama.fromResponse(json({ ...body, eval_count: undefined })).usage).toBeNull()
  })
})

describe('parts of an answer', () => {
  test('that Converse wraps with citations are text', () => {
    const content = [
      { citationsContent: { content: [{ text: 'Cited ' }, { text: 'text.' }], citations: [] } },
      { text: ' More.' },
    ]
    const body = {
      output: { message: { role: 'assistant', content } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1 },
    }
    expect(bedrock.fromResponse(json(body)).text).toBe('Cited text. More.')
  })

  test('that are empty `function_call` objects are not calls', () => {
    for (const functionCall of [{}, { name: '', arguments: '' }, null]) {
      expect(openai().fromResponse(json(whole(message('x', { function_call: functionCall })))).toolCalls).toEqual([])
      const stream = sse(delta({ content: 'x', function_call: functionCall }), delta({}, {}, 'stop'))
      expect(foldStream(openai().createStreamReader(), [bytesOf(stream)])).toMatchObject({
        toolCalls: [],
        finishReason: 'stop',
      })
    }
  })

  const cited = { url: 'https://a.test/', title: 'A', startIndex: 0, endIndex: 4 }
  test('that name sources become citations: annotations, search results, addresses, grounding', () => {
    const annotations = [
      { type: 'url_citation', url_citation: { url: 'https://a.test/', title: 'A', start_index: 0, end_index: 4 } },
    ]
    expect(openai('openrouter').fromResponse(json(whole(message('Text', { annotations })))).citations).toEqual([cited])
    const found = {
      search_results: [
        { url: 'https://a.test/', title: 'A' },
        { url: 'javascript:alert(1)', title: 'B' },
      ],
    }
    expect(openai('perplexity').fromResponse(json(whole(message('Text [1]'), found))).citations).toEqual([
      { ...cited, endIndex: 0 },
    ])
    const addresses = { citations: ['https://a.test/'] }
    expect(openai('perplexity').fromResponse(json(whole(message('Text [1]'), addresses))).citations).toMatchObject([
      { url: 'https://a.test/' },
    ])
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.test/', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 0, endIndex: 4 }, groundingChunkIndices: [0] }],
    }
    const candidate = { finishReason: 'STOP', content: { parts: [{ text: 'Text' }] }, groundingMetadata }
    expect(gemini.fromResponse(json({ candidates: [candidate] })).citations).toEqual([cited])
    const events = [...gemini.createStreamReader().push(bytesOf(sse({ candidates: [candidate] })))]
    expect(events[0]).toMatchObject({ type: 'text' })
  })

  test('that name sources are emitted once in a stream, before its end', () => {
    const found = { search_results: [{ url: 'https://a.test/', title: 'A' }] }
    const reader = openai('perplexity').createStreamReader()
    const body = sse(delta({ content: 'Text' }, found), delta({}, { ...found, usage }, 'stop'), '[DONE]')
    const events = [...reader.push(bytesOf(body)), ...reader.end()]
    expect(events.map(({ type }) => type)).toEqual(['text', 'citations', 'finish', 'usage'])
  })
})

describe('embeddings', () => {
  const vectorsOf = (adapter: WireAdapter, body: object) =>
    adapter.embeddings!.fromResponse(json(body)).vectors.map((vector) => [...vector])

  test('are read as floats, as base64 of floats or int8, and as integers', () => {
    const base64 = (array: Float32Array | Int8Array) => Buffer.from(array.buffer).toString('base64')
    const list = (embedding: unknown) => ({ data: [{ index: 0, embedding }] })
    expect(vectorsOf(openai(), list(base64(Float32Array.of(0.5, -0.25))))).toEqual([[0.5, -0.25]])
    const bytes = Int8Array.from({ length: 64 }, (_, index) => ((index * 37) % 251) - 125)
    expect(vectorsOf(openai(), list(base64(bytes)))).toEqual([[...bytes]])
    expect(vectorsOf(openai(), list([12, -7, 127]))).toEqual([[12, -7, 127]])
    expect(vectorsOf(cohere, { embeddings: { int8: [[12, -7]] } })).toEqual([[12, -7]])
    expect(vectorsOf(bedrock, { embeddingsByType: { int8: [1, 2] } })).toEqual([[1, 2]])
  })

  test('of newer Gemini models on Vertex use embedContent, one text per call', () => {
    const model = {
      id: 'gemini-embedding-2',
      baseModel: 'gemini-embedding-2',
      acceptsTemperature: true,
      reasoning: false,
      maxOutputTokens: 1,
    }
    const call = {
      model,
      texts: ['Hello'],
      purpose: 'query' as const,
      signal: new AbortController().signal,
      requestId: 'r',
    }
    const request = vertex.embeddings!.toRequest(call)
    expect(request.url).toContain('gemini-embedding-2:embedContent')
    expect(typeof request.body === 'string' ? JSON.parse(request.body) : request.body).toMatchObject({
      content: { parts: [{ text: 'Hello' }] },
      taskType: 'RETRIEVAL_QUERY',
    })
    expect(vertex.embeddings!.maximumBatch(model)).toBe(1)
    expect(vectorsOf(vertex, { embedding: { values: [0.5] }, usageMetadata: { promptTokenCount: 2 } })).toEqual([[0.5]])
  })
})
