import { describe, expect, test } from 'vitest'
import { bytesOf, providerCall, weatherTool } from '../../../test/harness/provider-call.ts'
import { errorOf, foldStream, pieces } from '../../../test/harness/recorded-wire.ts'
import { createAdapter } from './create-provider.ts'
import type { ProviderRequest, ProviderSettings, ResponseFormat } from './port.ts'
import { answerToolName } from './structured-answer.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const closed = { ...schema, additionalProperties: false }
const format: ResponseFormat = { type: 'json_schema', name: 'place', schema, strict: true }
const open: ResponseFormat = { ...format, schema: { type: 'object', additionalProperties: { type: 'string' } } }

function adapterOf(host: Partial<ProviderSettings>) {
  const address = { baseUrl: 'https://example.org', region: 'eu-central-1', project: 'p' }
  return createAdapter({ id: 'x', format: 'openai', apiKey: 'test-key', ...address, ...host })
}

function send(host: Partial<ProviderSettings>, id: string, request: Partial<ProviderRequest>) {
  return adapterOf(host).toRequest(providerCall(request, { id }), { stream: false }).body
}

describe('an answer with a schema', () => {
  test.each<[Partial<ProviderSettings>, string, object]>([
    [
      { flavour: 'openai' },
      'gpt-5',
      { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: closed, strict: true } } },
    ],
    [
      { format: 'anthropic' },
      'claude-sonnet-4-5',
      { output_config: { format: { type: 'json_schema', schema: closed } } },
    ],
    [
      { format: 'bedrock' },
      'eu.anthropic.claude-sonnet-4-5-v1:0',
      {
        outputConfig: {
          textFormat: {
            type: 'json_schema',
            structure: { jsonSchema: { name: 'place', schema: JSON.stringify(closed) } },
          },
        },
      },
    ],
    [
      { format: 'gemini' },
      'gemini-2.5-flash',
      { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } },
    ],
    [{ format: 'cohere' }, 'command-a-03-2025', { response_format: { type: 'json_object', json_schema: schema } }],
    [{ format: 'ollama' }, 'llama3.3', { format: schema }],
    [
      { flavour: 'deepseek' },
      'deepseek-chat',
      { response_format: { type: 'json_object' }, messages: [{ role: 'system' }, {}] },
    ],
    [{ flavour: 'mistral' }, 'mistral-large-latest', { response_format: { type: 'json_schema' } }],
  ])('is requested natively from %o', (host, id, expected) => {
    expect(send(host, id, { responseFormat: format })).toMatchObject(expected)
  })

  test.each<[Partial<ProviderSettings>, string, ResponseFormat, object]>([
    [
      { format: 'anthropic' },
      'claude-3-haiku-20240307',
      format,
      { tool_choice: { type: 'tool', name: answerToolName } },
    ],
    [
      { format: 'anthropic' },
      'claude-sonnet-4-5',
      open,
      { tools: [{ name: answerToolName, input_schema: open.schema }] },
    ],
    [
      { format: 'bedrock' },
      'eu.amazon.nova-pro-v1:0',
      format,
      { toolConfig: { toolChoice: { tool: { name: answerToolName } } } },
    ],
  ])('is requested with a forced tool from %o, %s', (host, id, responseFormat, expected) => {
    expect(send(host, id, { responseFormat })).toMatchObject(expected)
  })

  test('may come after calls of the client’s tools', () => {
    expect(
      send({ format: 'anthropic' }, 'claude-3-haiku-20240307', { responseFormat: format, tools: [weatherTool] }),
    ).toMatchObject({
      tools: [{ name: 'weather' }, { name: answerToolName }],
      tool_choice: { type: 'any' },
    })
  })

  test.each<[string, ResponseFormat]>([
    ['/properties/a/$ref', { ...format, schema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } }],
    ['/type', { ...format, schema: { type: 'string' } }],
  ])('is refused with the place %s', (place, responseFormat) => {
    const error = errorOf(() => send({ flavour: 'openai' }, 'gpt-5', { responseFormat }))
    expect(error).toMatchObject({ errorClass: 'invalid_request', param: 'response_format', retryable: false })
    expect(error.message).toContain(place)
  })

  const answer = { city: 'Ulm' }
  test('is text, although the model called a tool', () => {
    const call = { type: 'tool_use', id: 't', name: answerToolName, input: answer }
    const body = {
      content: [{ type: 'text', text: 'Sure' }, call],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    expect(adapterOf({ format: 'anthropic' }).fromResponse(bytesOf(JSON.stringify(body)))).toMatchObject({
      text: '{"city":"Ulm"}',
      toolCalls: [],
      finishReason: 'stop',
    })
  })

  test('is text in a stream, alongside a call of another tool, wherever it is cut', () => {
    const events = [
      { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'a', name: answerToolName, input: {} },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"Ulm"}' } },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'b', name: 'weather', input: answer },
      },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]
    const body = bytesOf(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    for (const size of [body.length, 1, 7]) {
      const reader = adapterOf({ format: 'anthropic' }).createStreamReader()
      expect(
        foldStream(
          reader,
          pieces(body, () => size),
        ),
      ).toMatchObject({
        text: '{"city":"Ulm"}',
        toolCalls: [{ id: 'b', name: 'weather', argumentsJson: '{"city":"Ulm"}' }],
        finishReason: 'tool_calls',
      })
    }
  })
})
