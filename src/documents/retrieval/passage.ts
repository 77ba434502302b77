import type { StoredPassage } from './corpus/passages.store.ts'

export interface Passage extends StoredPassage {
  /** Fused score, higher is better; comparable within one search only. */
  score: number
  /** Where the reranker has compared it with the question: it decides the order then. */
  rerankScore?: number
}
