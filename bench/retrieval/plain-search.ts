import { createPlainBm25, type PlainBm25 } from './plain-bm25.ts'

/** Both halves of a search as one writes them without a library: BM25 in memory and the dot product with every vector. */
export function createPlainSearch() {
  const documents: { id: string; text: string }[] = []
  const vectors: Float32Array[] = []
  let bm25: PlainBm25 | undefined
  return {
    get size() {
      return documents.length
    },
    add(text: string, vector: Float32Array): void {
      documents.push({ id: String(documents.length), text })
      vectors.push(vector)
      bm25 = undefined
    },
    /** The first by BM25, and the nearest vectors. */
    search(query: string, vector: Float32Array, limit: number) {
      bm25 ??= createPlainBm25(documents, { k1: 0.9, b: 0.4, stopList: false })
      const scores = vectors.map((each, index) => ({ index, score: dot(each, vector) }))
      const nearest = scores.sort((left, right) => right.score - left.score).slice(0, limit)
      return { lexical: bm25.rank(query, limit), byVectors: nearest.map(({ index }) => String(index)) }
    },
  }
}

function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!
  return sum
}
