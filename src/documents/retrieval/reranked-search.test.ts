import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSpaceId, type SpaceId } from '../../platform/kernel/index.ts'
import type { SearchExplanation } from './explanation.ts'
import { createRerankStage, createRetrieval, type Reranker } from './index.ts'
import { createIndexFixture, engines, type IndexFixture } from './testing/index-fixture.ts'

describe.each(engines)('a reranked search %s', (_name, createEngine) => {
  let fixture: IndexFixture
  let spaceId: SpaceId
  const queries: string[] = []
  /** Prefers the room with the highest number: the opposite of the order of the search. */
  const reranker: Reranker = {
    id: 'rooms',
    label: 'rooms',
    async score({ query, documents }) {
      queries.push(query)
      return documents.map((text) => Number(/Room (\d+)/.exec(text)?.[1] ?? -1))
    },
    async close() {},
  }

  beforeAll(async () => {
    fixture = await createIndexFixture({ createEngine })
    spaceId = createSpaceId()
    await fixture.add(
      Array.from({ length: 30 }, (_, n) => `Room ${n} shows ships. ${'Nothing else is here. '.repeat(n)}`),
      { spaceId },
    )
    await fixture.index.engine.warm()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  function retrievalWith(passages: number, given: Reranker = reranker) {
    const rerankStage = createRerankStage({ reranker: given, passages })
    return createRetrieval({ index: fixture.index, embedder: fixture.embedder, rerankStage })
  }
  const plain = () => createRetrieval({ index: fixture.index, embedder: fixture.embedder })
  const request = () => ({
    organisationId: fixture.organisationId,
    spaceId,
    filter: null,
    query: 'which rooms show ships',
    limit: 3,
    signal: AbortSignal.timeout(30_000),
  })
  const roomsOf = (found: readonly { text: string }[]) => found.map(({ text }) => Number(/Room (\d+)/.exec(text)![1]))

  it('returns the best of the reranker, though the search had ranked them beyond its limit', async () => {
    const [fused, reranked] = [await plain().search(request()), await retrievalWith(30).search(request())]
    expect(roomsOf(fused)).not.toContain(29)
    expect(roomsOf(reranked)).toEqual([29, 28, 27])
    expect(reranked.map(({ rerankScore }) => rerankScore)).toEqual([29, 28, 27])
    expect(queries.at(-1)).toBe('which rooms show ships')
  })

  it('compares no more passages than its setting, in the order of the search', async () => {
    const fused = roomsOf(await plain().search({ ...request(), limit: 30 }))
    const best = fused.slice(0, 5).toSorted((left, right) => right - left)
    expect(roomsOf(await retrievalWith(5).search({ ...request(), limit: 30 }))).toEqual([...best, ...fused.slice(5)])
  })

  it('returns exactly what a search without a reranker returns when it fails, or is not wanted', async () => {
    const broken = { ...reranker, score: () => Promise.reject(new Error('broken')) }
    const fused = await plain().search(request())
    expect(await retrievalWith(30, broken).search(request())).toEqual(fused)
    expect(await retrievalWith(30).search({ ...request(), rerankText: null })).toEqual(fused)
  })

  it('compares another text than the query where one is given', async () => {
    await retrievalWith(30).search({ ...request(), rerankText: 'ships in rooms?' })
    expect(queries.at(-1)).toBe('ships in rooms?')
  })

  it('orders passages of several searches, within the limit', async () => {
    const retrieval = retrievalWith(30)
    const pool = await retrieval.search({ ...request(), limit: 30, rerankText: null })
    const order = { ...request(), text: 'ships' }
    expect(roomsOf(await retrieval.rerank(pool, order))).toEqual([29, 28, 27])
    expect([retrieval.rerankSize, plain().rerankSize]).toEqual([30, 0])
    expect(await plain().rerank(pool, order)).toEqual(pool.slice(0, 3))
  })

  it('is not lost when its time is over before the reranker has answered', async () => {
    const stalled = { ...reranker, score: () => new Promise<number[]>(() => {}) }
    const rerankStage = createRerankStage({ reranker: stalled, timeoutMs: 2_500 })
    const retrieval = createRetrieval({
      index: fixture.index,
      embedder: fixture.embedder,
      rerankStage,
      timeoutMs: 2_000,
    })
    expect(await retrieval.search(request())).toEqual(await plain().search(request()))
  })

  it('explains the score of the reranker and the rank without it', async () => {
    let explanation: SearchExplanation | undefined
    const report = (given: SearchExplanation) => void (explanation = given)
    await retrievalWith(10).search({ ...request(), explain: { limit: 12, report } })
    const { reranking, candidates, steps } = explanation!
    const text = 'which rooms show ships'
    expect(reranking).toEqual({ label: 'rooms', text, outcome: 'reranked', passages: 10 })
    expect(candidates.map(({ rerankScore }) => rerankScore)).toEqual([...roomsOf(candidates.slice(0, 10)), null, null])
    expect(
      candidates
        .slice(0, 10)
        .map(({ fusedRank }) => fusedRank)
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 10 }, (_, index) => index + 1))
    expect(candidates.slice(10).map(({ fusedRank }) => fusedRank)).toEqual([11, 12])
    expect(candidates.map(({ outcome }) => outcome).slice(0, 4)).toEqual([
      'passage',
      'passage',
      'passage',
      'below_limit',
    ])
    expect(steps.rerank).toBeGreaterThanOrEqual(0)
    await plain().search({ ...request(), explain: { limit: 2, report } })
    expect(explanation).toMatchObject({ reranking: null, candidates: [{ fusedRank: 1, rerankScore: null }, {}] })
  })
})
