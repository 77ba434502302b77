import type { ChatRequest } from '../../../contract/chat.ts'
import { readPassages, scoreAnswerability } from '../../../platform/evidence/index.ts'
import type { ShownPassage } from './given-passage.ts'

/**
 * Below this score the prompt warns the model. Chosen low on a random half of the questions of retrieval/xquad-*: at most 2 % of the questions
 * whose answer is among the passages score less.
 */
const unlikelyBelow = 0.1
/** Passages that are judged: the best ones hold the answer, and more would only take time. */
const judgedPassages = 6
/** Part of the question that is compared, UTF-16 units. */
const maximumQuestionUnits = 2_000

/**
 * Whether the passages hardly share a word with the question. Only for the first question of a conversation: a later one leaves its subject to
 * the turns before it.
 */
export async function areUnlikelyToAnswer(
  messages: ChatRequest['messages'],
  passages: readonly ShownPassage[],
): Promise<boolean> {
  if (messages.length > 1 || passages.length === 0) return false
  const given = passages.slice(0, judgedPassages).map(({ text, tableHeader, documentName, headingPath }, id) => ({
    id,
    title: [documentName.replace(/\.[a-z0-9]{1,5}$/i, ''), ...headingPath].join(' '),
    text: tableHeader === null ? text : `${tableHeader}\n${text}`,
  }))
  const question = messages.at(-1)!.content.slice(0, maximumQuestionUnits)
  return scoreAnswerability(await readPassages(question, given)) < unlikelyBelow
}
