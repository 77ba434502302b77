import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Candidate } from './engine.ts'
import { fuse, repeatsLast } from './fusion.ts'

const candidate = fc.record({
  chunkId: fc.uuid(),
  lexicalScore: fc.option(fc.double({ min: 0, max: 40, noNaN: true }), { nil: null }),
  similarity: fc.option(fc.double({ min: -1, max: 1, noNaN: true }), { nil: null }),
})
const candidates = fc.uniqueArray(candidate, { selector: (one) => one.chunkId, maxLength: 50 })
const weight = fc.double({ min: 0, max: 1, noNaN: true })

describe('fusion', () => {
  it('keeps every candidate once, with a score from 0 to 1, best first', () => {
    fc.assert(
      fc.property(candidates, weight, (given, vectorWeight) => {
        const fused = fuse(given, { vectorWeight })
        expect(new Set(fused.map((one) => one.chunkId))).toEqual(new Set(given.map((one) => one.chunkId)))
        expect(fused).toHaveLength(given.length)
        for (const [position, { score }] of fused.entries()) {
          expect(score).toBeGreaterThanOrEqual(0)
          expect(score).toBeLessThanOrEqual(1 + 1e-9)
          if (position > 0) expect(score).toBeLessThanOrEqual(fused[position - 1]!.score)
        }
      }),
    )
  })

  it('does not depend on the order in which the halves came', () => {
    fc.assert(
      fc.property(candidates, weight, (given, vectorWeight) => {
        expect(fuse(given.toReversed(), { vectorWeight })).toEqual(fuse(given, { vectorWeight }))
      }),
    )
  })

  it('never puts a chunk behind one that is worse in both halves', () => {
    fc.assert(
      fc.property(candidates, weight, (given, vectorWeight) => {
        const known = given.filter((one) => one.lexicalScore !== null && one.similarity !== null)
        const rank = new Map(fuse(known, { vectorWeight }).map((one) => [one.chunkId, one.score]))
        for (const left of known) {
          for (const right of known) {
            const better = left.lexicalScore! >= right.lexicalScore! && left.similarity! >= right.similarity!
            if (better) expect(rank.get(left.chunkId)!).toBeGreaterThanOrEqual(rank.get(right.chunkId)! - 1e-9)
          }
        }
      }),
    )
  })

  it('follows one half alone where the other is silent', () => {
    const words: Candidate[] = [
      { chunkId: 'a', lexicalScore: 1, similarity: null },
      { chunkId: 'b', lexicalScore: 3, similarity: null },
    ]
    expect(fuse(words, { vectorWeight: 0.9 }).map((one) => one.chunkId)).toEqual(['b', 'a'])
    const vectors: Candidate[] = [
      { chunkId: 'a', lexicalScore: null, similarity: 0.2 },
      { chunkId: 'b', lexicalScore: null, similarity: 0.8 },
    ]
    expect(fuse(vectors, { vectorWeight: 0.1 })).toEqual([
      { chunkId: 'b', score: 1 },
      { chunkId: 'a', score: 0 },
    ])
  })

  it('takes a similarity that is no number for none', () => {
    const given = [
      { chunkId: 'a', lexicalScore: null, similarity: Number.NaN },
      { chunkId: 'b', lexicalScore: 1, similarity: 0.5 },
    ]
    expect(fuse(given, { vectorWeight: 0.5 })[0]!.chunkId).toBe('b')
  })
})

describe('repeats', () => {
  it('go last, in their order, and none is lost', () => {
    const items = ['a', 'b', 'a ', 'c', ' a', 'b'].map((text, position) => ({ text, position }))
    expect(repeatsLast(items).map((item) => item.position)).toEqual([0, 1, 3, 2, 4, 5])
  })
})
