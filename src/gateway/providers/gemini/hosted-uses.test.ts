import { describe, expect, test } from 'vitest'
import type { HostedToolLimits, ProviderRequest } from '../port.ts'
import { countUses } from './hosted-uses.ts'
import { createGeminiAdapter } from './index.ts'
import { placeCitations } from './read-candidate.ts'

const hostedLimits: HostedToolLimits = {
  uses: [
    { kinds: ['web_search'], most: 3 },
    { kinds: ['web_fetch'], most: 20 },
  ],
  unlimited: [],
  rounds: 10,
}
const hostedTools = (['web_search', 'web_fetch', 'code_execution'] as const).map((kind) => ({
  family: 'gemini' as const,
  kind,
  type: kind,
  definition: {},
}))
const request: ProviderRequest = { messages: [], hostedTools, hostedLimits }
const searched = (...webSearchQueries: string[]) => ({ groundingMetadata: { webSearchQueries } })

describe('the uses of Google’s tools', () => {
  test('are the queries of an answer, each once and without empty ones, up to the limit', () => {
    const uses = countUses(request, {})
    uses.take(searched('', 'weather Basel'))
    expect(uses.uses()).toEqual({ web_search: 1 })
    uses.take(searched('weather Basel', 'sun Basel'))
    expect(uses.uses()).toEqual({ web_search: 2 })
    uses.take(searched('a', 'b', 'c'))
    expect(uses.uses()).toEqual({ web_search: 3 })
  })

  test('are one for an answer with searches of older models', () => {
    const uses = countUses(request, { searchUses: 'answer' })
    expect(uses.uses()).toEqual({})
    uses.take(searched('a', 'b'))
    expect(uses.uses()).toEqual({ web_search: 1 })
  })

  test('are the pages that were read, and one for code', () => {
    const uses = countUses(request, {})
    const page = (retrievedUrl: string, status: string) => ({
      retrievedUrl,
      urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${status}`,
    })
    uses.take({
      urlContextMetadata: { urlMetadata: [page('https://a.example', 'SUCCESS'), page('https://b.example', 'ERROR')] },
      content: { parts: [{ executableCode: { code: '1' } }, { codeExecutionResult: { output: '1' } }] },
    })
    uses.take({ content: { parts: [{ executableCode: { code: '2' } }] } })
    expect(uses.uses()).toEqual({ web_fetch: 1, code_execution: 1 })
  })

  test('are none of tools that the request does not have', () => {
    const uses = countUses({ messages: [] }, {})
    uses.take(searched('a'))
    expect(uses.uses()).toEqual({})
    const fetching = countUses({ ...request, hostedTools: hostedTools.slice(1) }, {})
    fetching.take(searched('a'))
    expect(fetching.uses()).toEqual({})
  })
})

describe('the places of citations', () => {
  const citation = { url: 'https://example.org/', title: 'W' }

  test('are those in the text, not in its bytes', () => {
    const text = 'Zürich: 12 °C, sonnig.'
    const start = Buffer.byteLength('Zürich: ')
    const end = Buffer.byteLength('Zürich: 12 °C')
    const [placed] = placeCitations([{ ...citation, startIndex: start, endIndex: end }], text)
    expect(text.slice(placed!.startIndex, placed!.endIndex)).toBe('12 °C')
  })

  test('of a stream are those in all of its text', () => {
    const reader = createGeminiAdapter({ id: 'g', format: 'gemini', apiKey: 'k' }).createStreamReader()
    const text = (piece: string) => ({ candidates: [{ content: { parts: [{ text: piece }] } }] })
    const bytes = (value: object) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`)
    reader.push(bytes(text('Größe: ')))
    reader.push(bytes(text('5 m')))
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: citation.url, title: 'W' } }],
      groundingSupports: [{ segment: { startIndex: 9, endIndex: 12 }, groundingChunkIndices: [0] }],
    }
    reader.push(bytes({ candidates: [{ finishReason: 'STOP', content: { parts: [] }, groundingMetadata }] }))
    expect(reader.end()[0]).toEqual({ type: 'citations', citations: [{ ...citation, startIndex: 7, endIndex: 10 }] })
  })
})
