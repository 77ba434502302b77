import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../../test/harness/random.ts'
import { type QueryTerm, rankByBm25 } from '../../lexical/bm25.ts'
import { type MemoryQuery, packTerms, toColumns } from './messages.ts'
import { SpaceIndex } from './space-index.ts'
import { createTopList } from './top-list.ts'
import { blockBytes, createVectorArena } from './vector-arena.ts'
import { createVectorSet } from './vector-set.ts'

function vectorOf(random: () => number, dimensions: number): Float32Array {
  return Float32Array.from({ length: dimensions }, () => random() - 0.5)
}

function cosine(left: Float32Array, right: Float32Array): number {
  let product = 0
  for (const [index, value] of left.entries()) product += value * right[index]!
  return product / Math.hypot(...left) / Math.hypot(...right)
}

const all = (count: number) => new Uint8Array(count).fill(1)

describe('the top list', () => {
  it('keeps the same entries as sorting, in the same order, also for equal scores', () => {
    const random = createRandom(1)
    for (const [capacity, count] of [
      [1, 50],
      [7, 3],
      [20, 500],
      [64, 64],
    ] as const) {
      const scored = Array.from({ length: count }, (_, ordinal) => ({ ordinal, score: Math.floor(random() * 30) }))
      const top = createTopList(capacity)
      for (const { ordinal, score } of scored) top.offer(ordinal, score)
      const sorted = scored.toSorted((left, right) => right.score - left.score || left.ordinal - right.ordinal)
      expect(top.take()).toEqual(sorted.slice(0, capacity))
      expect(top.take()).toEqual([])
    }
  })
})

describe('vectors in memory', () => {
  it.each([1, 15, 16, 17, 384, 1_536, 4_000])(
    'of %i dimensions have the cosine similarity of the exact vectors',
    (dimensions) => {
      const random = createRandom(dimensions)
      const set = createVectorSet(createVectorArena(), dimensions)
      // More than two blocks of them.
      const vectors = Array.from({ length: Math.min(400, Math.ceil((2.5 * blockBytes) / dimensions)) }, () =>
        vectorOf(random, dimensions),
      )
      for (const vector of vectors) set.add(vector)
      const query = vectorOf(random, dimensions)
      const found = set.nearest(query, all(vectors.length), vectors.length, -2)
      expect(found).toHaveLength(vectors.length)
      for (const { ordinal, score } of found) expect(score).toBeCloseTo(cosine(query, vectors[ordinal]!), 3)
      const truth = vectors.map((vector) => cosine(query, vector)).sort((left, right) => right - left)
      for (const [rank, { score }] of found.slice(0, 20).entries()) expect(score).toBeCloseTo(truth[rank]!, 3)
    },
  )

  it('of extreme values do not overflow: the largest product of the most dimensions', () => {
    const set = createVectorSet(createVectorArena(), 4_000)
    const ones = new Float32Array(4_000).fill(1)
    set.add(ones)
    set.add(ones.map((value) => -value))
    set.add(ones.map((value) => value * 1e30))
    set.add(ones.map((value) => value * 1e-30))
    const found = set.nearest(ones, all(4), 4, -2)
    expect(found.map(({ ordinal, score }) => [ordinal, Math.round(score * 1e4) / 1e4])).toEqual([
      [0, 1],
      [2, 1],
      [3, 1],
      [1, -1],
    ])
  })

  it('that are missing, zero or not finite are never found', () => {
    const set = createVectorSet(createVectorArena(), 16)
    set.add(null)
    set.add(new Float32Array(16))
    set.add(new Float32Array(16).fill(Number.NaN))
    set.add(new Float32Array(16).fill(Number.POSITIVE_INFINITY))
    set.add(new Float32Array(16).fill(0.25))
    expect(set.nearest(new Float32Array(16).fill(1), all(5), 5, -2).map(({ ordinal }) => ordinal)).toEqual([4])
    expect([0, 1, 2, 3].map((ordinal) => set.similarityTo(ordinal))).toEqual([null, null, null, null])
    expect(set.nearest(new Float32Array(16), all(5), 5, 0.1)).toEqual([])
  })

  it('free their blocks, which are zero when they are used again', () => {
    const arena = createVectorArena()
    const first = createVectorSet(arena, 384)
    for (let count = 0; count < 1_000; count++) first.add(new Float32Array(384).fill(1))
    const bytes = arena.bytes().length
    first.clear()
    // Ten dimensions are padded to sixteen: former values would count.
    const second = createVectorSet(arena, 10)
    const vector = vectorOf(createRandom(3), 10)
    second.add(vector)
    expect(second.nearest(vector, all(1), 1, -2)[0]!.score).toBeCloseTo(1, 3)
    expect(arena.bytes()).toHaveLength(bytes)
  })
})

describe('a Space in memory', () => {
  const dimensions = 24
  interface Chunk {
    chunkId: string
    terms: number[]
    vector: Float32Array | null
    documentId: string
    runId: string
  }

  function makeChunks(
    random: () => number,
    count: number,
    documentId: string,
    runId = `run of ${documentId}`,
  ): Chunk[] {
    return Array.from({ length: count }, () => ({
      chunkId: crypto.randomUUID(),
      terms: Array.from({ length: 1 + Math.floor(random() * 12) }, () => Math.floor(40 ** random())).sort(
        (a, b) => a - b,
      ),
      vector: random() < 0.1 ? null : vectorOf(random, dimensions),
      documentId,
      runId,
    }))
  }

  function add(space: SpaceIndex, chunks: Chunk[]): void {
    const [{ documentId, runId }] = chunks as [Chunk]
    space.add({ documentId, runId }, toColumns(chunks, dimensions))
  }

  function find(
    space: SpaceIndex,
    { terms = [], ...query }: Partial<Omit<MemoryQuery, 'terms'>> & { terms?: QueryTerm[] },
  ) {
    return space.search({
      terms: packTerms(terms),
      vector: null,
      limit: 1_000,
      similarityFloor: -2,
      documents: null,
      ...query,
    })
  }

  const wordsOf = (terms: readonly number[]): QueryTerm[] =>
    [...new Set(terms)].map((term) => ({ variants: [term], weight: 1 }))

  /** The expected result of the search, by the plain formulas. */
  function expected(chunks: readonly Chunk[], words: readonly QueryTerm[], vector: Float32Array) {
    const terms = words.flatMap(({ variants }) => variants)
    const counts = (chunk: Chunk) => terms.map((term) => chunk.terms.filter((other) => other === term).length)
    const hits = chunks
      .map((chunk) => ({ chunkId: chunk.chunkId, length: chunk.terms.length, counts: counts(chunk) }))
      .filter((hit) => hit.counts.some((count) => count > 0))
    const length = chunks.reduce((sum, chunk) => sum + chunk.terms.length, 0) / Math.max(1, chunks.length)
    const ranked = rankByBm25(hits, { chunks: chunks.length, averageLength: length, terms: words })
    return {
      words: new Map(ranked.map(({ chunkId, score }) => [chunkId, score])),
      similar: new Map(
        chunks.flatMap((chunk) => (chunk.vector ? [[chunk.chunkId, cosine(vector, chunk.vector)]] : [])),
      ),
    }
  }

  it('ranks by BM25 and cosine similarity after any sequence of changes', () => {
    const random = createRandom(11)
    const space = new SpaceIndex(createVectorArena(), dimensions)
    space.complete()
    let shown: Chunk[] = []
    for (let step = 0; step < 120; step++) {
      const documentId = `document ${Math.floor(random() * 12)}`
      const runId = `run ${step}`
      shown = shown.filter((chunk) => chunk.documentId !== documentId)
      const act = random()
      if (act < 0.25) space.update([{ documentId, runId: null, searchable: false }])
      else {
        const chunks = makeChunks(random, 1 + Math.floor(random() * 120), documentId, runId)
        // Half before and half after the run is searchable; some runs are hidden again.
        const half = Math.ceil(chunks.length / 2)
        add(space, chunks.slice(0, half))
        space.update([{ documentId, runId, searchable: true }])
        if (half < chunks.length) add(space, chunks.slice(half))
        if (act < 0.35) space.update([{ documentId, runId, searchable: false }])
        else shown.push(...chunks)
      }
      if (step % 5 > 0) continue
      const terms = Array.from({ length: 4 }, () => Math.floor(40 ** random()))
      const [first, second, ...others] = [...new Set(terms)]
      const joined = second === undefined ? [first!] : [first!, second]
      const unique = [{ variants: joined, weight: 2 }, ...wordsOf(others)]
      const vector = vectorOf(random, dimensions)
      const truth = expected(shown, unique, vector)
      const found = find(space, { terms: unique, vector, limit: 5_000 })
      expect(new Set(found.map(({ chunkId }) => chunkId))).toEqual(
        new Set([...truth.words.keys(), ...truth.similar.keys()]),
      )
      for (const { chunkId, lexicalScore, similarity } of found) {
        expect(lexicalScore ?? 0).toBeCloseTo(truth.words.get(chunkId) ?? 0, 3)
        if (truth.similar.has(chunkId)) expect(similarity).toBeCloseTo(truth.similar.get(chunkId)!, 3)
        else expect(similarity).toBeNull()
      }
    }
  })

  it('finds no chunk of a run before the run is searchable', () => {
    const space = new SpaceIndex(createVectorArena(), dimensions)
    const chunks = makeChunks(createRandom(5), 10, 'document')
    add(space, chunks)
    expect(find(space, { terms: wordsOf(chunks[0]!.terms) })).toEqual([])
    space.update([{ documentId: 'document', runId: 'another run', searchable: true }])
    expect(find(space, { terms: wordsOf(chunks[0]!.terms) })).toEqual([])
  })

  it('ignores duplicates of a chunk while it is being loaded', () => {
    const space = new SpaceIndex(createVectorArena(), dimensions)
    const chunks = makeChunks(createRandom(6), 10, 'document')
    space.update([{ documentId: 'document', runId: 'run of document', searchable: true }])
    add(space, chunks.slice(0, 6))
    add(space, chunks)
    add(space, chunks.slice(8))
    space.complete()
    const vector = vectorOf(createRandom(7), dimensions)
    const ids = find(space, { vector }).map(({ chunkId }) => chunkId)
    expect(ids.toSorted()).toEqual(chunks.flatMap((chunk) => (chunk.vector ? [chunk.chunkId] : [])).toSorted())
  })

  it('frees memory when most of its chunks are removed', () => {
    const random = createRandom(8)
    const space = new SpaceIndex(createVectorArena(), dimensions)
    for (let part = 0; part < 40; part++) {
      add(space, makeChunks(random, 100, `document ${part}`))
      space.update([{ documentId: `document ${part}`, runId: `run of document ${part}`, searchable: true }])
    }
    const full = space.bytes()
    for (let part = 0; part < 36; part++)
      space.update([{ documentId: `document ${part}`, runId: null, searchable: false }])
    expect(space.bytes()).toBeLessThan(full * 0.35)
    expect(
      find(space, { vector: vectorOf(random, dimensions) }).every(({ documentId }) => /3[6-9]$/.test(documentId)),
    ).toBe(true)
  })

  it('rejects vectors of other dimensions', () => {
    const space = new SpaceIndex(createVectorArena(), 384)
    expect(() => add(space, makeChunks(createRandom(9), 1, 'document'))).toThrow('24 dimensions')
  })
})
