import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../test/harness/provider-call.ts'
import { foldStream } from '../../../test/harness/recorded-wire.ts'
import { createAnthropicAdapter } from './anthropic/index.ts'
import { createBedrockAdapter } from './bedrock/index.ts'
import { createCohereAdapter } from './cohere/index.ts'
import { createGeminiAdapter } from './gemini/index.ts'
import { ProviderError } from './port.ts'
import type { WireAdapter } from './wire-adapter.ts'

const seed = 20261121
const settings = { id: 'x', apiKey: 'test-key', region: 'eu-central-1' }
const adapters: [string, WireAdapter][] = [
  ['anthropic', createAnthropicAdapter({ ...settings, format: 'anthropic' })],
  ['gemini', createGeminiAdapter({ ...settings, format: 'gemini' })],
  ['bedrock', createBedrockAdapter({ ...settings, format: 'bedrock' })],
  ['cohere', createCohereAdapter({ ...settings, format: 'cohere' })],
]

/** Bodies with the vendors' field names and wrong values. */
const words = [
  'type',
  'error',
  'message',
  'content',
  'text',
  'thinking',
  'usage',
  'delta',
  'index',
  'content_block',
  'candidates',
  'parts',
  'functionCall',
  'usageMetadata',
  'promptFeedback',
  'output',
  'stopReason',
  'toolUse',
  'tool_calls',
  'function',
  'embeddings',
  'embedding',
  'float',
  'data',
  'models',
  'finish_reason',
  'details',
  'iterations',
  'predictions',
] as const
const values = [
  'text',
  'tool_use',
  'error',
  'message_start',
  'content_block_delta',
  'message_stop',
  'message-end',
  'compaction',
]
const { body: oddBody } = fc.letrec((tie) => ({
  body: fc.dictionary(fc.constantFrom(...words), tie('value'), { maxKeys: 5 }),
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(fc.constantFrom(...values), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('body'),
  ),
}))

/** Every error must be a ProviderError: any other error would reach the client as an internal error. */
function onlyProviderErrors(action: () => unknown) {
  try {
    action()
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderError)
  }
}

describe.each(adapters)('%s', (_name, adapter) => {
  test('maps invalid bodies to a ProviderError or an answer, never to another error', () => {
    fc.assert(
      fc.property(oddBody, (body) => {
        const text = JSON.stringify(body)
        onlyProviderErrors(() => adapter.fromResponse(bytesOf(text)))
        onlyProviderErrors(() => adapter.embeddings?.fromResponse(bytesOf(text)))
        onlyProviderErrors(() => adapter.models?.fromResponse(bytesOf(text)))
        onlyProviderErrors(() => foldStream(adapter.createStreamReader(), [bytesOf(`data: ${text}\n\n`)]))
        expect(adapter.mapError({ status: 400, headers: {}, body: text })).toBeInstanceOf(ProviderError)
      }),
      { seed, numRuns: 300 },
    )
  })

  test('maps random bytes to a ProviderError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(() => adapter.fromResponse(bytes)).toThrow(ProviderError)
        expect(() => foldStream(adapter.createStreamReader(), [bytes])).toThrow(ProviderError)
        expect(adapter.mapError({ status: 502, headers: {}, body: Buffer.from(bytes).toString() })).toMatchObject({
          retryable: true,
        })
      }),
      { seed, numRuns: 200 },
    )
  })
})
