import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../test/harness/random.ts'
import type { CandidateQuery, QueryVector, Ranking } from './engine.ts'
import { type CorpusSearch, findCandidates, fuse, type LexicalChunk, type ScoredChunk } from './fusion.ts'

const vectors: QueryVector[] = [
  {
    version: {
      id: 1,
      embedderId: 'test',
      dimensions: 1,
      storage: 'vector',
      state: 'active',
      createdAt: new Date(0),
      source: null,
    },
    vector: Float32Array.of(1),
    hasSemantics: true,
  },
]

/** A search with these results, and how often the vectors were searched. */
function createSearch(byTerms: LexicalChunk[], byVector: ScoredChunk[]) {
  const counts = { searched: 0, compared: 0 }
  const search: CorpusSearch = {
    byTerms: () => Promise.resolve(byTerms),
    byVector() {
      counts.searched++
      return Promise.resolve(byVector)
    },
    similarities({ chunkIds }) {
      counts.compared += chunkIds.length
      return Promise.resolve(chunkIds.map((chunkId) => ({ chunkId, score: 0.25 })))
    },
  }
  return { search, counts }
}

const chunks = (count: number, scoreOf: (at: number) => number): LexicalChunk[] =>
  Array.from({ length: count }, (_, at) => ({ chunkId: `t${at}`, score: scoreOf(at) }))
const queryWith = (ranking?: Ranking): CandidateQuery => ({
  terms: [],
  vectors,
  limit: 20,
  ...(ranking && { ranking }),
})

describe('the vectors of a query', () => {
  const nearest = [{ chunkId: 'v0', score: 0.9 }]

  it('are not searched where enough chunks have better scores by terms', async () => {
    const { search, counts } = createSearch(
      chunks(10, () => 2),
      nearest,
    )
    const found = await findCandidates(search, queryWith({ vectorWeight: 0.03, best: 10 }))
    expect(counts).toEqual({ searched: 0, compared: 10 })
    expect(found.map(({ similarity }) => similarity)).toEqual(Array.from({ length: 10 }, () => 0.25))
  })

  it('are searched where one chunk too few has a better score by terms', async () => {
    for (const scores of [chunks(9, () => 2), chunks(10, (at) => (at === 9 ? 0.05 : 2))]) {
      const { search, counts } = createSearch(scores, nearest)
      const found = await findCandidates(search, queryWith({ vectorWeight: 0.03, best: 10 }))
      expect(counts.searched).toBe(1)
      expect(found.map(({ chunkId }) => chunkId)).toContain('v0')
    }
  })

  it('are searched where they have half of the weight, or no weight is known', async () => {
    for (const ranking of [{ vectorWeight: 0.5, best: 5 }, undefined]) {
      const { search, counts } = createSearch(
        chunks(20, () => 2),
        nearest,
      )
      await findCandidates(search, queryWith(ranking))
      expect(counts.searched).toBe(1)
    }
  })

  it('are not compared again where the search by terms has compared them', async () => {
    const compared = chunks(10, () => 2).map((chunk) => ({ ...chunk, similarity: 0.5 }))
    const { search, counts } = createSearch(compared, nearest)
    const found = await findCandidates(search, queryWith({ vectorWeight: 0.03, best: 10 }))
    expect(counts.compared).toBe(0)
    expect(found.every(({ similarity }) => similarity === 0.5)).toBe(true)
  })

  it('would never have brought a chunk among the best where they are not searched', async () => {
    const random = createRandom(5)
    let skipped = 0
    for (let round = 0; round < 500; round++) {
      const ranking = { vectorWeight: random() * 0.6, best: 1 + Math.floor(random() * 10) }
      const byTerms = chunks(Math.floor(random() * 20), () => random() ** 3 * 10)
        .sort((left, right) => right.score - left.score)
        .map((chunk) => ({ ...chunk, similarity: random() }))
      const byVector = Array.from({ length: 10 }, (_, at) => ({ chunkId: `v${at}`, score: random() }))
      const { search, counts } = createSearch(byTerms, byVector)
      await findCandidates(search, queryWith(ranking))
      if (counts.searched > 0) continue
      skipped++
      const all = await findCandidates(search, queryWith())
      const best = fuse(all, ranking).slice(0, ranking.best)
      expect(best.filter(({ chunkId }) => chunkId.startsWith('v'))).toEqual([])
    }
    expect(skipped).toBeGreaterThan(100)
  })
})
