import { describe, expect, it } from 'vitest'
import type { Passage } from '../../documents/retrieval/index.ts'
import { fuseByRank } from './find-passages.ts'
import { isRewritten, isSelfContained, parseReply } from './search-query.ts'

describe('a question is self-contained', () => {
  it.each([
    'How do I apply for a residence permit in the city of Graz?',
    'Wie beantrage ich für den Hund der Familie einen neuen Ausweis in Graz?',
    'Quels sont les documents qui sont nécessaires pour demander un permis de conduire dans la ville de Graz?',
  ])('with enough words besides function words: %s', (question) => expect(isSelfContained(question)).toBe(true))

  it.each([
    ['few words', 'And in winter?'],
    ['a word that refers to other text', 'How do residents of the city apply for it in winter or summer?'],
    ['a German one', 'Wie hoch sind die Gebühren für die Verlängerung dieses Ausweises und der Karte dort?'],
    ['keywords only', 'residence permit fee Graz office hours'],
    ['a script without spaces', '退货政策适用于哪些商品和服务以及如何申请退款'],
    ['nothing', ''],
  ])('not with %s', (_case, question) => expect(isSelfContained(question)).toBe(false))
})

describe('a question is rewritten', () => {
  const messages = ['Who?', 'Ann.', 'Where does she live?'].map((content, index) => ({
    role: index === 1 ? ('assistant' as const) : ('user' as const),
    content,
  }))
  const given = { messages, queryRewriting: 'auto', canRewrite: true, whenExhausted: 'refuse' } as const
  const isRewrittenWith = (change: Partial<Record<keyof typeof given, unknown>>) => {
    const { queryRewriting, canRewrite, whenExhausted, ...call } = { ...given, ...change } as typeof given
    return isRewritten({ ...call, space: { settings: { queryRewriting } } }, { canRewrite, whenExhausted })
  }

  it('where it follows others', () => expect(isRewrittenWith({})).toBe(true))

  it.each([
    ['where it is the first', { messages: messages.slice(-1) }],
    ['where the Space has turned it off', { queryRewriting: 'off' }],
    ['by a model that cannot', { canRewrite: false }],
    ['at the cost of the operator, where the credits are exhausted', { whenExhausted: 'write_off' }],
  ])('not %s', (_case, change) => expect(isRewrittenWith(change)).toBe(false))
})

describe('the reply of the model', () => {
  const question = 'How many herons are in the pond in winter?'

  it.each([
    ['alone', JSON.stringify({ question })],
    ['in a fence', `Here it is:\n\`\`\`json\n${JSON.stringify({ question, variants: [] })}\n\`\`\``],
    ['with other fields', JSON.stringify({ question, answer: 'Forty', variants: [], underspecified: false })],
  ])('is read %s', (_case, reply) => {
    expect(parseReply(reply)).toEqual({ question, variants: [], isUnderspecified: false })
  })

  it.each([
    ['no object', 'Forty herons.'],
    ['half an object', '{"question": "How many'],
    ['an empty question', JSON.stringify({ question: '  ' })],
    ['a question of the wrong type', JSON.stringify({ question: ['a'] })],
    ['a question that is too long', JSON.stringify({ question: 'x'.repeat(1_001) })],
    ['too many variants', JSON.stringify({ question, variants: ['a', 'b', 'c'] })],
    ['a variant of the wrong type', JSON.stringify({ question, variants: [{ query: 'a' }] })],
  ])('is ignored with %s', (_case, reply) => expect(parseReply(reply)).toBeNull())
})

describe('passages of several searches', () => {
  const passages = (...ids: string[]) => ids.map((chunkId) => ({ chunkId, score: 0.3 }) as Passage)
  const idsOf = (found: readonly Passage[]) => found.map(({ chunkId }) => chunkId)

  it('are in their order after one search, and without repeats after several', () => {
    expect(idsOf(fuseByRank([{ passages: passages('a', 'b'), weight: 1 }]))).toEqual(['a', 'b'])
    const fused = fuseByRank([
      { passages: passages('a', 'b'), weight: 1 },
      { passages: passages('c', 'b'), weight: 1 },
    ])
    expect(idsOf(fused)).toEqual(['b', 'a', 'c'])
    for (const { score } of fused) expect(score > 0 && score <= 1).toBe(true)
  })

  it('count by the weight of their search', () => {
    const one = { passages: passages('a'), weight: 1 }
    const other = { passages: passages('b'), weight: 0.5 }
    expect(idsOf(fuseByRank([other, one]))).toEqual(['a', 'b'])
  })

  it('have the score 1 where they are first in every search', () => {
    const both = [1, 0.5].map((weight) => ({ passages: passages('a'), weight }))
    expect(fuseByRank(both)[0]!.score).toBeCloseTo(1)
  })
})
