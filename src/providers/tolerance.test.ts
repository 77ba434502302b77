import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../test/harness/provider-call.ts'
import { foldStream } from '../../test/harness/recorded-wire.ts'
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

/** Bodies that know the vendors' words and put the wrong things under them. */
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

/** Whatever is thrown must be a ProviderError: anything else would reach the client as our own fault. */
function onlyProviderErrors(action: () => unknown) {
  try {
    action()
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderError)
  }
}

describe.each(adapters)('%s', (_name, adapter) => {
  test('answers odd bodies with a ProviderError or an answer, never with another error', () => {
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

  test('answers bytes that are no answer at all with a ProviderError', () => {
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
