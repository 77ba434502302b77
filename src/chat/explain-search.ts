import type { ExplainedCandidateBody, SpaceSearchResult } from '../contract/space-search.ts'
import type { ExplainedCandidate, Passage, SearchExplanation } from '../retrieval/index.ts'
import { maximumPassageBytes } from './context/context-window.ts'
import { formatSources } from './context/prompt.ts'
import { type AnswerCall, type AnswerDependencies, prepareAnswer } from './prepare-answer.ts'
import { composeQuery } from './queries/conversation-query.ts'
import { isRewritten } from './queries/rewrite-question.ts'
import { searchSpace } from './search-space.ts'

/**
 * The first search of an answer, without the answer: the same query, search and choice of passages as in `answer`. `limit`: most
 * candidates to explain. Throws what the chat would throw.
 */
export async function explainSearch(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  limit: number,
): Promise<SpaceSearchResult> {
  const watch = createStopwatch()
  const prepared = await prepareAnswer(dependencies, call)
  const { window, model } = prepared
  const prepare = watch.lap()
  const query = await composeQuery(call.messages, call.signal)
  let explanation = nothingFound
  const report = (given: SearchExplanation) => void (explanation = given)
  const found = await searchSpace(dependencies.retrieval, call, query, { explain: { limit, report } })
  watch.lap()
  const passages = await window.pack(found, 1)
  const pack = watch.lap()
  const { words, embedders, vectorWeight, candidateCount, steps } = explanation
  const numberOf = createNumbers(passages)
  return {
    query: {
      ...query,
      words,
      isRewritten: isRewritten({ ...call, queryRewriting: call.space.settings.queryRewriting }, prepared),
    },
    model,
    limits: { passages: call.space.settings.maximumPassages, bytes: maximumPassageBytes },
    embedders,
    vectorWeight,
    candidateCount,
    candidates: explanation.candidates.map((candidate, index) => render(candidate, index + 1, numberOf)),
    context: formatSources(passages),
    timings: rounded({ prepare, ...steps, pack, total: watch.total() }),
  }
}

/** For an empty Space, and for a query without a letter or digit. */
const nothingFound: SearchExplanation = {
  words: [],
  embedders: [],
  vectorWeight: 0,
  candidateCount: 0,
  candidates: [],
  steps: { open: 0, analyse: 0, embed: 0, candidates: 0, rank: 0, passages: 0 },
}

/** The number of each passage in the context, from 1. */
function createNumbers(passages: readonly Passage[]) {
  const numbers = new Map(passages.map(({ chunkId }, index) => [chunkId, index + 1]))
  return (chunkId: string) => numbers.get(chunkId) ?? null
}

function render(
  candidate: ExplainedCandidate,
  rank: number,
  numberOf: (chunkId: string) => number | null,
): ExplainedCandidateBody {
  const { chunkId, lexicalScore, similarity, lexicalRank, vectorRank, scores, outcome, url: _, ...place } = candidate
  const number = numberOf(chunkId)
  return {
    ...place,
    rank,
    number,
    // The search returned it, so the context of the model has no room for it.
    outcome: number !== null ? 'used' : outcome === 'passage' ? 'context_limit' : outcome,
    score: scores.score,
    lexical: describeScore(lexicalScore, lexicalRank, scores.lexical),
    vector: describeScore(similarity, vectorRank, scores.vector),
  }
}

function describeScore(score: number | null, rank: number | null, share: number) {
  return score === null || rank === null ? null : { score, rank, share }
}

function createStopwatch() {
  const startMs = performance.now()
  let lapMs = startMs
  return {
    /** Milliseconds since the last lap. */
    lap(): number {
      const before = lapMs
      lapMs = performance.now()
      return lapMs - before
    },
    total: () => performance.now() - startMs,
  }
}

/** Milliseconds with two decimals. */
function rounded<Name extends string>(values: Record<Name, number>): Record<Name, number> {
  const entries = Object.entries<number>(values).map(([name, value]) => [name, Math.round(value * 100) / 100])
  return Object.fromEntries(entries) as Record<Name, number>
}
