import { describe, expect, test } from 'vitest'
import { bytesOf, providerCall } from '../../../../test/harness/provider-call.ts'
import { errorOf } from '../../../../test/harness/recorded-wire.ts'
import { createGeminiAdapter, createVertexAdapterWith } from './index.ts'

const gemini = createGeminiAdapter({ id: 'g', format: 'gemini', apiKey: 'k' })
const vertex = createVertexAdapterWith({ id: 'v', format: 'vertex', project: 'p', region: 'eu' }, async () => 't')
const { model } = providerCall({}, { id: 'gemini-embedding-001' })

describe('embeddings of Google', () => {
  test('of the Gemini API are requested in one batch with the purpose of the texts', () => {
    const wire = gemini.embeddings!.toRequest({ model, texts: ['a', 'b'], dimensions: 768, purpose: 'query' })
    expect(wire.url).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents',
    )
    const request = (text: string) => ({
      model: 'models/gemini-embedding-001',
      content: { parts: [{ text }] },
      taskType: 'RETRIEVAL_QUERY',
      outputDimensionality: 768,
    })
    expect(JSON.parse(JSON.stringify(wire.body))).toEqual({ requests: [request('a'), request('b')] })
  })

  test('of Vertex AI are returned in order with their count', () => {
    const prediction = (values: number[], tokens: number) => ({
      embeddings: { values, statistics: { token_count: tokens } },
    })
    const answer = vertex.embeddings!.fromResponse(
      bytesOf(JSON.stringify({ predictions: [prediction([1, 2], 3), prediction([3, 4], 5)] })),
    )
    expect(answer).toEqual({ vectors: [new Float32Array([1, 2]), new Float32Array([3, 4])], promptTokens: 8 })
    expect(vertex.embeddings!.maximumBatch(model)).toBe(1)
    expect(vertex.embeddings!.maximumBatch({ ...model, baseModel: 'text-embedding-005' })).toBeGreaterThan(1)
  })

  test('that are missing are a failure', () => {
    for (const body of ['{}', '{"embeddings":[{}]}', 'x']) {
      expect(errorOf(() => gemini.embeddings!.fromResponse(bytesOf(body))).errorClass).toBe('connection')
    }
  })

  test('list every model', () => {
    const models = [
      { name: 'models/gemini-2.5-flash', supportedGenerationMethods: ['generateContent'] },
      { name: 'models/gemini-embedding-001', supportedGenerationMethods: ['embedContent'] },
      { name: 'models/veo-3', supportedGenerationMethods: ['predictLongRunning'] },
    ]
    expect(gemini.models!.fromResponse(bytesOf(JSON.stringify({ models })))).toEqual([
      'gemini-2.5-flash',
      'gemini-embedding-001',
      'veo-3',
    ])
  })
})
