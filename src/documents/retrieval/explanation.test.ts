import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSpaceId, type SpaceId } from '../../platform/kernel/index.ts'
import type { SearchExplanation } from './explanation.ts'
import { createRetrieval, type Passage, type Retrieval } from './index.ts'
import { createIndexFixture, engines, type IndexFixture } from './testing/index-fixture.ts'

describe.each(engines)('an explained search %s', (_name, createEngine) => {
  let fixture: IndexFixture
  let retrieval: Retrieval
  let spaceId: SpaceId

  beforeAll(async () => {
    fixture = await createIndexFixture({ createEngine })
    retrieval = createRetrieval({ index: fixture.index, embedder: fixture.embedder })
    spaceId = createSpaceId()
    await fixture.add(
      [
        'Herons nest near the pond of the museum.',
        'The museum opens at ten; herons are fed at noon.',
        'Herons nest near the pond of the museum.',
        ...Array.from({ length: 20 }, (_, n) => `Room ${n} of the museum shows ships.`),
        'Nothing about birds here.',
      ],
      { spaceId },
    )
    await fixture.index.engine.warm()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  async function search(options: { limit?: number; explained?: number } = {}) {
    const { explained, ...given } = { limit: 4, ...options }
    let explanation: SearchExplanation | undefined
    const passages = await retrieval.search({
      organisationId: fixture.organisationId,
      spaceId,
      filter: null,
      query: 'where do the herons of the museum nest',
      signal: AbortSignal.timeout(30_000),
      ...given,
      ...(explained === undefined
        ? {}
        : { explain: { limit: explained, report: (found) => void (explanation = found) } }),
    })
    return { passages, explanation }
  }

  it('returns the same passages as without an explanation', async () => {
    const plain = await search()
    expect(plain.explanation).toBeUndefined()
    expect((await search({ explained: 10 })).passages).toEqual(plain.passages)
  })

  it('states for each candidate both scores with ranks, the fused score and the outcome', async () => {
    const { passages, explanation } = await search({ explained: 12 })
    const { candidates, words, embedders, vectorWeight, candidateCount, steps } = explanation!
    expect(words).toEqual(['herons', 'museum', 'nest'].map((word) => ({ word, weight: 1 })))
    expect(embedders).toEqual([{ label: fixture.embedder.label, hasSemantics: false }])
    expect(candidateCount).toBeGreaterThanOrEqual(22)
    expect(candidates).toHaveLength(12)
    expect(Object.values(steps).every((milliseconds) => milliseconds >= 0)).toBe(true)
    const scores = candidates.map(({ scores }) => scores.score)
    expect(scores).toEqual(scores.toSorted((left, right) => right - left))
    const used = candidates.filter(({ outcome }) => outcome === 'passage')
    expect(used.map(scoreOf)).toEqual(passages.map(scoreOf))
    for (const { lexicalScore, lexicalRank, similarity, vectorRank, scores } of candidates) {
      expect(scores.score).toBeCloseTo(vectorWeight * scores.vector + (1 - vectorWeight) * scores.lexical, 12)
      expect([lexicalScore === null, similarity === null]).toEqual([lexicalRank === null, vectorRank === null])
    }
    expect(candidates[0]).toMatchObject({ lexicalRank: expect.any(Number), outcome: 'passage' })
    const repeated = candidates.filter(({ text }) => text.startsWith('Herons nest'))
    expect(repeated.map(({ outcome }) => outcome)).toEqual(['passage', 'repeat'])
    expect(new Set(candidates.slice(5).map(({ outcome }) => outcome))).toEqual(new Set(['below_limit']))

    function scoreOf(one: Passage | (typeof candidates)[number]) {
      return [one.chunkId, 'score' in one ? one.score : one.scores.score]
    }
  })
})
