import type { ExplainedCandidateBody, SpaceSearchResult } from '../../contract/space-search.ts'
import type { ExplainedCandidate, SearchExplanation } from '../../documents/retrieval/index.ts'
import { formatSources, type GivenPassage } from './context/prompt.ts'
import type { PackedPassages } from './context/context-window.ts'
import { packFound, packWholeSpace, searchSpace } from './find-passages.ts'
import { prepareAnswer } from './prepare-answer.ts'
import type { AnswerCall, AnswerDependencies } from './port.ts'
import { composeQuery, isRewritten } from './search-query.ts'

/**
 * The first search of an answer, without the answer: the same query, search and choice of passages as in `answer`. Where the answer is given all
 * files without a search, the search only ranks them. `limit`: most candidates to explain. Throws what the chat would throw.
 */
export async function explainSearch(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  limit: number,
): Promise<SpaceSearchResult> {
  const watch = createStopwatch()
  const prepared = await prepareAnswer(dependencies, call)
  const { model } = prepared
  const prepare = watch.lap()
  const whole = await packWholeSpace(dependencies, call, prepared)
  const packWhole = watch.lap()
  const composed = await composeQuery(call.messages, call.signal)
  let explanation = nothingFound
  const report = (given: SearchExplanation) => void (explanation = given)
  const found = await searchSpace(dependencies.retrieval, call, composed, { explain: { limit, report } })
  watch.lap()
  const packed = whole ?? (await packFound(dependencies, call, prepared, found))
  const pack = packWhole + watch.lap()
  const foundIds = new Set(found.map(({ chunkId }) => chunkId))
  const isFound = (chunkId: string) => foundIds.has(chunkId)
  const { words, embedders, vectorWeight, share, candidateCount, reranking, steps } = explanation
  const { maximumPassages, maximumPassageTokens, wholeSpaceTokens } = call.space.settings
  const outcomeOf = createOutcomes(packed, whole !== null)
  return {
    query: {
      text: composed.text,
      context: composed.context,
      words,
      isRewritten: whole === null && isRewritten(call, prepared),
    },
    model,
    isWhole: whole !== null,
    limits: { passages: maximumPassages, tokens: maximumPassageTokens, wholeSpaceTokens },
    embedders,
    vectorWeight,
    vectorShare: {
      origin: share.origin,
      questions: share.check?.questions ?? 0,
      lexicalRank: share.check?.lexicalRank ?? null,
      fusedRank: share.check?.fusedRank ?? null,
    },
    candidateCount,
    reranking,
    candidates: explanation.candidates.map((candidate, index) => render(candidate, index + 1, outcomeOf)),
    passages: packed.passages.map((passage, index) => describePassage(passage, index + 1, isFound)),
    context: formatSources(packed.passages),
    timings: rounded({ prepare, ...steps, pack, total: watch.total() }),
  }
}

/** For an empty Space, and for a query without a letter or digit. */
const nothingFound: SearchExplanation = {
  words: [],
  embedders: [],
  vectorWeight: 0,
  share: { weight: 0, origin: 'start', check: null },
  candidateCount: 0,
  reranking: null,
  candidates: [],
  steps: { open: 0, analyse: 0, embed: 0, candidates: 0, rank: 0, passages: 0, rerank: 0 },
}

type Outcome = Pick<ExplainedCandidateBody, 'number' | 'outcome'>

/** What became of a candidate. `number`: of its passage in the context, from 1. */
function createOutcomes({ passages, omitted }: PackedPassages, isWhole: boolean) {
  const numbers = new Map(
    passages.flatMap(({ parts }, index) => parts.map(({ chunk }) => [chunk.chunkId, index + 1] as const)),
  )
  return ({ chunkId, outcome }: ExplainedCandidate): Outcome => {
    const number = numbers.get(chunkId) ?? null
    if (number !== null) return { number, outcome: 'used' }
    // Whole files leave out repeats only, such as columns of a wide table whose rows they have.
    if (isWhole) return { number, outcome: 'repeat' }
    if (outcome === 'passage') return { number, outcome: omitted.get(chunkId) ?? 'context_limit' }
    return { number, outcome }
  }
}

function describePassage(
  { documentId, documentName, parts }: GivenPassage,
  number: number,
  isFound: (chunkId: string) => boolean,
): SpaceSearchResult['passages'][number] {
  return {
    number,
    documentId,
    documentName,
    chunks: parts.map(({ chunk: { chunkId, chunkIndex } }) => ({ chunkIndex, isFound: isFound(chunkId) })),
  }
}

function render(
  candidate: ExplainedCandidate,
  rank: number,
  outcomeOf: (candidate: ExplainedCandidate) => Outcome,
): ExplainedCandidateBody {
  const { chunkId: _chunk, lexicalScore, similarity, lexicalRank, vectorRank, scores, url: _, ...place } = candidate
  return {
    ...place,
    rank,
    ...outcomeOf(candidate),
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
