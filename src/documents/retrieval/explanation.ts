import type { Passage, StoredPassage } from './corpus/passages.store.ts'
import type { Embedder } from './embedders/embedder.ts'
import type { Candidate, CandidateQuery, Ranking } from './engine.ts'
import { createFusion, findRepeats, type Fused, type FusedScores, type VectorShare } from './fusion.ts'
import type { QueryWord } from './lexical/analyse-text.ts'
import type { Reranked, RerankOutcome } from './rerankers/rerank-stage.ts'

/** How a search found its passages. Built only where a search is explained, from the values that the search itself has used. */
export interface SearchExplanation {
  /** The words that chunks were compared with: those of the query, then those of its context. Function words are left out. */
  words: { word: string; weight: number }[]
  /** The embedders whose vectors were compared; empty: lexical search only. */
  embedders: { label: string; hasSemantics: boolean }[]
  /** Share of the vectors in the fused score. */
  vectorWeight: number
  /** How that share was chosen, where terms and vectors both found something. */
  share: VectorShare
  /** Chunks that were found by terms or by vectors. */
  candidateCount: number
  /** Where a reranker is configured: what it compared with the passages, and whether its order was used. */
  reranking: { label: string; text: string; outcome: RerankOutcome; passages: number } | null
  /** The best first: by the reranker, then by the fused score. */
  candidates: ExplainedCandidate[]
  /** Milliseconds of each step. */
  steps: Record<SearchStep, number>
}

type SearchStep = 'open' | 'analyse' | 'embed' | 'candidates' | 'rank' | 'passages' | 'rerank'

export interface ExplainedCandidate extends StoredPassage, Pick<Candidate, 'lexicalScore' | 'similarity'> {
  /** Among the candidates, from 1; null: not found by terms, or without a vector. */
  lexicalRank: number | null
  vectorRank: number | null
  scores: FusedScores
  /** By the fused score, from 1. */
  fusedRank: number
  /** How well it answers the question, by the reranker; null: it was not compared. */
  rerankScore: number | null
  /** `passage`: the search returned it. */
  outcome: 'passage' | 'below_limit' | 'repeat'
}

export interface ExplainSearch {
  /** Most candidates to explain. */
  limit: number
  report(explanation: SearchExplanation): void
}

export type PreparedQuery = Omit<CandidateQuery, 'terms' | 'ranking'> & {
  terms: readonly QueryWord[]
  ranking: Ranking
  share: VectorShare
}

interface FinishedSearch {
  query: PreparedQuery
  embedders: ReadonlyMap<string, Embedder>
  candidates: readonly Candidate[]
  ranked: readonly Fused[]
  stored: readonly StoredPassage[]
  /** What the search returns. */
  selected: readonly Passage[]
  reranking: (Reranked<Passage> & { label: string; text: string }) | undefined
  load(chunkIds: readonly string[]): Promise<StoredPassage[]>
}

/** Most words that are reported: a long query has thousands. */
const maximumWords = 100

export type Explainer = ReturnType<typeof createExplainer>

export function createExplainer({ limit, report }: ExplainSearch) {
  const steps: Record<SearchStep, number> = {
    open: 0,
    analyse: 0,
    embed: 0,
    candidates: 0,
    rank: 0,
    passages: 0,
    rerank: 0,
  }
  let startedMs = performance.now()
  return {
    /** Adds the time since the last call to this step. */
    finished(step: SearchStep): void {
      const nowMs = performance.now()
      steps[step] += nowMs - startedMs
      startedMs = nowMs
    },

    async report(search: FinishedSearch): Promise<void> {
      const { query, embedders, candidates, reranking } = search
      report({
        words: query.terms.slice(0, maximumWords).map(({ word, weight }) => ({ word, weight })),
        embedders: query.vectors.map(({ version, hasSemantics }) => ({
          label: embedders.get(version.embedderId)?.label ?? version.embedderId,
          hasSemantics,
        })),
        vectorWeight: createFusion(candidates, query.ranking).vectorWeight,
        share: query.share,
        candidateCount: candidates.length,
        reranking: reranking
          ? {
              label: reranking.label,
              text: reranking.text,
              outcome: reranking.outcome,
              passages: reranking.scores.size,
            }
          : null,
        candidates: await explainCandidates(search, limit),
        steps,
      })
    },
  }
}

async function explainCandidates(
  { query, candidates, ranked, stored, selected, reranking, load }: FinishedSearch,
  limit: number,
): Promise<ExplainedCandidate[]> {
  const { scoresOf } = createFusion(candidates, query.ranking)
  const byId = new Map(candidates.map((candidate) => [candidate.chunkId, candidate]))
  const lexicalRanks = ranksBy(candidates, ({ lexicalScore }) => lexicalScore)
  const vectorRanks = ranksBy(candidates, ({ similarity }) => similarity)
  const returned = new Set(selected.map(({ chunkId }) => chunkId))
  const rows = new Map(stored.map((row) => [row.chunkId, row]))
  const fusedRanks = new Map(ranked.map(({ chunkId }, index) => [chunkId, index + 1]))
  const shown = inFinalOrder(ranked, reranking).slice(0, limit)
  // The search itself reads no more than it needs.
  const missing = shown.flatMap(({ chunkId }) => (rows.has(chunkId) ? [] : [chunkId]))
  if (missing.length > 0) for (const row of await load(missing)) rows.set(row.chunkId, row)
  const texts = shown.flatMap(({ chunkId }) => rows.get(chunkId) ?? [])
  const repeats = findRepeats(texts)
  return texts.map((row) => {
    const candidate = byId.get(row.chunkId)!
    return {
      ...row,
      lexicalScore: candidate.lexicalScore,
      similarity: candidate.similarity,
      lexicalRank: lexicalRanks.get(row.chunkId) ?? null,
      vectorRank: vectorRanks.get(row.chunkId) ?? null,
      scores: scoresOf(candidate),
      fusedRank: fusedRanks.get(row.chunkId)!,
      rerankScore: reranking?.scores.get(row.chunkId) ?? null,
      outcome: returned.has(row.chunkId) ? 'passage' : repeats.has(row) ? 'repeat' : 'below_limit',
    }
  })
}

/** Those that the reranker has compared, then the rest by the fused score. */
function inFinalOrder(ranked: readonly Fused[], reranking: FinishedSearch['reranking']): { chunkId: string }[] {
  if (!reranking) return [...ranked]
  const { passages, scores } = reranking
  return [
    ...passages.filter(({ chunkId }) => scores.has(chunkId)),
    ...ranked.filter(({ chunkId }) => !scores.has(chunkId)),
  ]
}

/** 1 for the highest value. */
function ranksBy(candidates: readonly Candidate[], valueOf: (candidate: Candidate) => number | null) {
  const valued = candidates.flatMap((candidate) => {
    const value = valueOf(candidate)
    return value === null || !Number.isFinite(value) ? [] : [{ chunkId: candidate.chunkId, value }]
  })
  valued.sort((left, right) => right.value - left.value || (left.chunkId < right.chunkId ? -1 : 1))
  return new Map(valued.map(({ chunkId }, index) => [chunkId, index + 1]))
}
