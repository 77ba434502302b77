import { describe, expect, it } from 'vitest'
import { chooseTerms, inverseFrequency, maximumRankedTerms, type QueryTerm } from './bm25.ts'

const chunks = 1_000
const frequency = 10

/** `count` terms of a weight, the first of them numbered `from`. */
function termsOf(count: number, weight: number, from: number): QueryTerm[] {
  return Array.from({ length: count }, (_, index) => ({ variants: [from + index], weight }))
}

describe('the terms of a query', () => {
  it('are all ranked by while they are few, however little one adds', () => {
    const terms = [...termsOf(1, 1, 0), ...termsOf(maximumRankedTerms - 1, 0.001, 100)]
    expect(chooseTerms(terms, () => frequency, chunks)).toEqual(terms)
  })

  it('of a long query are those that can add the most', () => {
    const often = termsOf(30, 1, 0)
    const rare = termsOf(30, 1, 100)
    const chosen = chooseTerms([...often, ...rare], (term) => (term < 100 ? 500 : 2), chunks)
    expect(chosen).toHaveLength(maximumRankedTerms)
    expect(chosen).toEqual(expect.arrayContaining(rare))
  })

  it('of a long query that add less than a fiftieth of the best one are left out', () => {
    const own = termsOf(5, 1, 0)
    const answer = termsOf(100, 0.019, 100)
    const earlier = termsOf(5, 0.021, 300)
    const chosen = chooseTerms([...answer, ...own, ...earlier], () => frequency, chunks)
    expect(chosen).toEqual([...own, ...earlier])
  })

  it('weigh by how rare they are, with all variants as one', () => {
    const own = termsOf(1, 1, 0)
    const twoSpellings: QueryTerm = { variants: [1, 2], weight: 1 }
    const answer = termsOf(60, 0.5, 100)
    const seen: Record<number, number> = { 0: 2, 1: 400, 2: 590 }
    // As one word it is in 990 of 1,000 chunks: less than a fiftieth of the word that is in two.
    expect(inverseFrequency(chunks, 990)).toBeLessThan(0.02 * inverseFrequency(chunks, 2))
    const chosen = chooseTerms([...own, twoSpellings, ...answer], (term) => seen[term] ?? frequency, chunks)
    expect(chosen).toContain(own[0])
    expect(chosen).not.toContain(twoSpellings)
  })

  it('that no chunk contains are left out', () => {
    expect(chooseTerms(termsOf(3, 1, 0), (term) => term, chunks)).toEqual(termsOf(2, 1, 1))
  })
})
