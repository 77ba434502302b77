import type { Receipt } from '../../billing/index.ts'
import type { Passage } from '../../retrieval/index.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from '../prepare-answer.ts'
import { searchSpace } from '../search-space.ts'
import { composeQuery } from './conversation-query.ts'
import { fuseByRank } from './fuse-by-rank.ts'
import { type RewrittenQuestion, rewriteQuestion } from './rewrite-question.ts'

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
): Promise<FirstSearch> {
  const query = await composeQuery(call.messages, call.signal)
  const [passages, { rewritten, receipt }] = await Promise.all([
    searchSpace(dependencies.retrieval, call, query),
    rewriteQuestion(dependencies, call, prepared),
  ])
  if (!rewritten) return { passages, query: query.text, receipt, isUnderspecified: false }
  const results = await Promise.all(
    queriesOf(rewritten).map(async ({ text, weight }) => ({
      passages: await searchSpace(dependencies.retrieval, call, { text, context: [] }),
      weight,
    })),
  )
  const fused = fuseByRank([...results, { passages, weight: 1 }])
  return {
    passages: fused.slice(0, call.space.settings.maximumPassages),
    query: rewritten.question,
    receipt,
    isUnderspecified: rewritten.isUnderspecified,
  }
}

function queriesOf({ question, variants }: RewrittenQuestion) {
  return [{ text: question, weight: 1 }, ...variants.map((text) => ({ text, weight: variantWeight }))]
}
