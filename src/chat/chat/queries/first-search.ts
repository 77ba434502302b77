import type { AnswerRoom } from '../answer-calls.ts'
import type { Receipt } from '../../../gateway/billing/index.ts'
import { runStep } from '../../../platform/kernel/index.ts'
import type { Passage } from '../../../documents/retrieval/index.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from '../port.ts'
import { rerankPassages, searchSpace } from '../search-space.ts'
import { composeQuery, withSynonyms } from './conversation-query.ts'
import { isRewritten, rewriteQuestion, type Rewriting, type RewrittenQuestion } from './rewrite-question.ts'

export interface FirstSearch {
  /** The best first. */
  passages: Passage[]
  /** The question that was searched. */
  query: string
  /** Of the model's call that rewrote the question; null where it was not rewritten. */
  receipt: Receipt | null
  /** The question has two or more readings: the answer should ask which one is meant. */
  isUnderspecified: boolean
}

/** A variant has other terms than the question, and may have another meaning. */
const variantWeight = 0.5

/**
 * The search before the first answer of the model. A rewritten question and its variants are searched in addition to the
 * conversation: a wrong rewriting then loses little, and a right one finds more together with the conversation than alone.
 */
export async function searchFirst(
  dependencies: AnswerDependencies,
  call: AnswerCall,
  prepared: PreparedAnswer,
  room: AnswerRoom,
): Promise<FirstSearch> {
  const { retrieval } = dependencies
  const composed = await composeQuery(call.messages, call.signal)
  const query = prepared.onlyQuotes ? withSynonyms(composed) : composed
  const { queryRewriting } = call.space.settings
  // A rewritten question is the better one to rerank by, and one comparison is enough for all searches.
  const forReranking = retrieval.rerankSize > 0 && isRewritten({ ...call, queryRewriting }, prepared)
  const [passages, { rewritten, receipt }] = await together(
    call.signal,
    (signal) => searchSpace(retrieval, { ...call, signal }, query, { forReranking }),
    (signal) => rewrite(dependencies, { ...call, signal }, prepared, room),
  )
  if (!rewritten) {
    const found = forReranking
      ? await rerankPassages(retrieval, call, query.standalone ?? query.text, passages)
      : passages
    return { passages: found, query: query.text, receipt, isUnderspecified: false }
  }
  const results = await Promise.all(
    queriesOf(rewritten).map(async ({ text, weight }) => ({
      passages: await searchSpace(retrieval, call, { text, context: [] }, { forReranking }),
      weight,
    })),
  )
  const fused = fuseByRank([...results, { passages, weight: 1 }])
  return {
    passages: forReranking
      ? await rerankPassages(retrieval, call, rewritten.question, fused)
      : fused.slice(0, call.space.settings.maximumPassages),
    query: rewritten.question,
    receipt,
    isUnderspecified: rewritten.isUnderspecified,
  }
}

/** Traced where the model is asked. */
function rewrite(...[dependencies, call, prepared, room]: Parameters<typeof rewriteQuestion>): Promise<Rewriting> {
  const { queryRewriting } = call.space.settings
  const step = isRewritten({ ...call, queryRewriting }, prepared) ? dependencies.telemetry?.step('rewrite') : null
  return runStep(step, () => rewriteQuestion(dependencies, call, prepared, room))
}

function queriesOf({ question, variants }: RewrittenQuestion) {
  return [{ text: question, weight: 1 }, ...variants.map((text) => ({ text, weight: variantWeight }))]
}

/** Runs both at the same time. Where one fails, the other is stopped, and its end is awaited: the call of a model is billed then. */
async function together<First, Second>(
  signal: AbortSignal,
  first: (signal: AbortSignal) => Promise<First>,
  second: (signal: AbortSignal) => Promise<Second>,
): Promise<[First, Second]> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const stopOther = (error: unknown) => {
    failed.abort(error)
    throw error
  }
  const results = [first(either).catch(stopOther), second(either).catch(stopOther)] as const
  await Promise.allSettled(results)
  return Promise.all(results)
}

/** The result of one of several searches for the same question. */
interface RankedPassages {
  /** The best first. */
  passages: readonly Passage[]
  weight: number
}

/** Damps the difference between the first ranks; the value of Cormack, Clarke and Buettcher (SIGIR 2009). */
const rankOffset = 60

/** Weighted reciprocal rank fusion: each passage once, the best first, with a score of 0 to 1. Scores of different queries are not comparable, ranks are. */
export function fuseByRank(results: readonly RankedPassages[]): Passage[] {
  const highest = results.reduce((sum, { weight }) => sum + weight, 0) / (rankOffset + 1)
  const fused = new Map<string, Passage>()
  for (const { passages, weight } of results) {
    for (const [index, passage] of passages.entries()) {
      const score = weight / (rankOffset + 1 + index) / highest
      fused.set(passage.chunkId, { ...passage, score: (fused.get(passage.chunkId)?.score ?? 0) + score })
    }
  }
  // Sorting is stable: equal scores keep the order of the first search.
  return [...fused.values()].sort((left, right) => right.score - left.score)
}
