import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyseQuery, analyseWithContext, type ContextText } from './analyse-text.ts'

const space = { languages: ['en', 'zh'] }
const sentence = fc.string({ unit: 'grapheme', maxLength: 60 })

async function weightsOf(query: string, context: ContextText[]): Promise<Map<string, number>> {
  return new Map((await analyseWithContext('space', query, context, space)).map(({ word, weight }) => [word, weight]))
}

describe('the words of a query next to a context', () => {
  it('are those of the query alone where there is no context, or none with content', async () => {
    await fc.assert(
      fc.asyncProperty(sentence, async (query) => {
        const alone = await analyseQuery('space', query, space)
        expect(await analyseWithContext('space', query, [], space)).toEqual(alone)
        expect(await analyseWithContext('space', query, [{ text: 'and is it the', weight: 0.5 }], space)).toEqual(alone)
      }),
    )
  })

  it('never weigh less than without the context, and the words of the context never weigh more than their text', async () => {
    await fc.assert(
      fc.asyncProperty(sentence, fc.array(sentence, { maxLength: 3 }), async (query, texts) => {
        const alone = await analyseQuery('space', query, space, { contentOnly: true })
        const together = await weightsOf(
          query,
          texts.map((text) => ({ text, weight: 0.25 })),
        )
        const own = new Map(alone.map(({ word, weight }) => [word, weight]))
        for (const [word, weight] of own)
          if (together.size > 0) expect(together.get(word)).toBeGreaterThanOrEqual(weight)
        for (const [word, weight] of together) {
          if (own.size > 0) expect(weight - (own.get(word) ?? 0)).toBeLessThanOrEqual(0.25 + 1e-9)
        }
      }),
    )
  })

  it('have the weight of their text up to eight words, and share it beyond', async () => {
    const short = await weightsOf('winter', [{ text: 'herons nest pond', weight: 0.2 }])
    expect([...short]).toEqual([
      ['winter', 1],
      ['herons', 0.2],
      ['nest', 0.2],
      ['pond', 0.2],
    ])
    const words = Array.from({ length: 80 }, (_, index) => `word${index}`)
    const long = await weightsOf('winter', [{ text: words.join(' '), weight: 0.2 }])
    expect(long.get('word0')).toBeCloseTo(0.02)
  })

  it('have the highest weight of the texts that contain them, which is added to that of the query', async () => {
    const context = [
      { text: 'herons nest', weight: 0.1 },
      { text: 'herons', weight: 0.2 },
    ]
    const weights = await weightsOf('herons winter', context)
    expect([weights.get('herons'), weights.get('winter'), weights.get('nest')]).toEqual([1.2, 1, 0.1])
  })

  it('leave out the function words of a question that has no others', async () => {
    expect([...(await weightsOf('and what is with that?', [{ text: 'herons', weight: 0.2 }]))]).toEqual([
      ['herons', 0.2],
    ])
  })

  it('find the Chinese question before by its pairs, with less weight than its own', async () => {
    const weights = await weightsOf('冬天呢', [{ text: '退货政策', weight: 0.2 }])
    expect(weights.get('冬天')).toBe(1)
    expect(weights.get('退货')).toBeCloseTo(0.2)
  })
})
