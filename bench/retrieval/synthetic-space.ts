import type { MetadataFilter } from '../../src/contract/metadata-filter.ts'
import type { SpaceId } from '../../src/platform/kernel/index.ts'
import {
  type ContextText,
  createRetrieval,
  type Embedder,
  type IndexedChunk,
} from '../../src/documents/retrieval/index.ts'
import { createExactScan } from '../../src/documents/retrieval/engines/exact-scan.store.ts'
import { createSyntheticTexts } from '../synthetic-texts.ts'
import type { BenchIndex } from './bench-index.ts'

const clusterCount = 200
const wordsPerChunk = 150
const wordsPerQuery = 6

export type SyntheticSpace = ReturnType<typeof createSyntheticSpace>

/**
 * Chunks and queries of one Space: texts have Zipf's frequencies of 30,000 words; vectors are in 200 clusters, like those of a model.
 * The same at each run.
 */
export function createSyntheticSpace(dimensions: number) {
  const { random, words } = createSyntheticTexts(7)
  const gaussian = (count: number, deviation: number) =>
    Float32Array.from(
      { length: count },
      () => deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
    )
  const clusters = Array.from({ length: clusterCount }, () => gaussian(dimensions, 1))
  /** The vector of each query, so that the embedder costs nothing and queries are near their answers. */
  const vectorByText = new Map<string, Float32Array>()
  /** The nearest chunks of a query by a scan of all, which takes seconds: two engines are compared with the same ones. */
  const nearest = new Map<string, ReadonlySet<string>>()
  // Most of the time of making a vector is its noise: chunks take theirs from one pool, at random places.
  const noise = gaussian(2 ** 20, 0.7)
  let documents = 0

  function clusterPoint(): Float32Array {
    const center = clusters[Math.floor(random() * clusters.length)]!
    const offset = Math.floor(random() * (noise.length - dimensions))
    const point = center.map((value, index) => value + noise[offset + index]!)
    const length = Math.hypot(...point)
    return point.map((value) => value / length)
  }

  const embedder: Embedder = {
    id: `bench:${dimensions}`,
    label: 'seeded clusters',
    dimensions,
    maximumTokens: 512,
    countTokens: (text) => text.split(' ').length,
    counter: { kind: 'word_pieces' },
    embed: ({ texts }) => Promise.resolve(texts.map((text) => vectorByText.get(text) ?? clusterPoint())),
    close: () => Promise.resolve(),
  }

  return {
    embedder,
    async addDocument(bench: BenchIndex, spaceId: SpaceId, chunkCount: number): Promise<number> {
      const chunks: IndexedChunk[] = Array.from({ length: chunkCount }, (_, index) => ({
        index,
        text: words(wordsPerChunk),
        headingPath: [],
        tableHeader: null,
        tokens: wordsPerChunk,
        pageFrom: null,
        pageTo: null,
        characterFrom: 0,
        characterTo: 1,
        rowFrom: null,
        rowTo: null,
      }))
      const number = documents++
      const metadata = { half: number % 2, tenth: number % 10, hundredth: number % 100, customer: `c${number}` }
      await bench.addDocument(spaceId, 'bench.txt', chunks, metadata)
      return chunkCount
    },
    queries(count: number): string[] {
      vectorByText.clear()
      return Array.from({ length: count }, () => {
        const text = words(wordsPerQuery)
        vectorByText.set(text, clusterPoint())
        return text
      })
    },
    /** Four questions and an answer, as a chat adds them to a query: more than the 64 terms that are compared. */
    earlierTurns(): ContextText[] {
      const questions = [0.2, 0.1, 0.05, 0.025].map((weight) => ({ text: words(8), weight }))
      return [...questions, { text: words(wordsPerChunk), weight: 0.2 }]
    },
    /** Milliseconds of each search for 20 passages; the first ten queries are made twice, to warm the caches. */
    async timeSearches(
      bench: BenchIndex,
      spaceId: SpaceId,
      queries: readonly string[],
      contextOf?: () => ContextText[],
    ): Promise<number[]> {
      const retrieval = createRetrieval({ index: bench.index, embedder })
      const times: number[] = []
      for (const [index, query] of [...queries.slice(0, 10), ...queries].entries()) {
        const context = contextOf?.() ?? []
        const startedMs = performance.now()
        const { organisationId } = bench
        const signal = AbortSignal.timeout(60_000)
        const found = await retrieval.search({
          organisationId,
          spaceId,
          filter: null,
          query,
          context,
          limit: 20,
          signal,
        })
        if (found.length < 20) throw new Error(`short: ${found.length} of 20 for ${query}`)
        if (index >= 10) times.push(performance.now() - startedMs)
      }
      return times
    },
    /** Milliseconds of each search without a filter and with each of some filters, in turns. */
    async timeFiltered(
      bench: BenchIndex,
      spaceId: SpaceId,
      queries: readonly string[],
      filters: readonly (MetadataFilter | null)[],
    ): Promise<number[][]> {
      const retrieval = createRetrieval({ index: bench.index, embedder })
      const times: number[][] = filters.map(() => [])
      for (const [index, query] of [...queries.slice(0, 10), ...queries].entries()) {
        for (const [position, filter] of filters.entries()) {
          const startedMs = performance.now()
          const { organisationId } = bench
          const signal = AbortSignal.timeout(60_000)
          const found = await retrieval.search({ organisationId, spaceId, filter, query, limit: 20, signal })
          if (found.length < 20) throw new Error(`short: ${found.length} of 20 for ${query}`)
          if (index >= 10) times[position]!.push(performance.now() - startedMs)
        }
      }
      return times
    },
    /** Share of the nearest chunks that the engine's vector search finds, for at most 100 of the queries. */
    async measureRecall(
      { corpus, index, organisationId }: BenchIndex,
      spaceId: SpaceId,
      queries: readonly string[],
      limit = 20,
    ) {
      const scope = { organisationId, spaceId, filter: null }
      const signal = AbortSignal.timeout(600_000)
      const exact = createExactScan({
        queryable: corpus,
        scope,
        space: { chunks: 0, averageTerms: 0 },
        options: { signal, timeoutMs: 600_000 },
      })
      const sample = queries.slice(0, 100)
      let found = 0
      for (const query of sample) {
        const vector = vectorByText.get(query)!
        const space = await index.engine.openSpace(scope, signal)
        const version = space.embeddingVersions[0]!
        const near = await space.findCandidates({
          terms: [],
          vectors: [{ version, vector, hasSemantics: true }],
          limit,
        })
        const place = `${spaceId} ${limit} ${query}`
        const truth =
          nearest.get(place) ??
          new Set((await exact.byVector({ version, vector, limit })).map(({ chunkId }) => chunkId))
        nearest.set(place, truth)
        found += near.filter((candidate) => truth.has(candidate.chunkId)).length / truth.size
      }
      return found / sample.length
    },
  }
}

/** The time that 99 of 100 searches do not exceed. */
export function p99(times: readonly number[]): number {
  const sorted = times.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))]!
}

/** One line: p50, p99 and the longest. */
export function printTimes(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)
  console.log(`    ${name.padEnd(26)} p50 ${at(0.5)} ms   p99 ${at(0.99)} ms   longest ${sorted.at(-1)!.toFixed(1)} ms`)
}
