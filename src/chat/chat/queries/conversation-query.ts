import type { ChatRequest } from '../../../contract/chat.ts'
import type { ContextText } from '../../../documents/retrieval/index.ts'
import { synonymsIn } from '../../../platform/evidence/index.ts'
import { removeMarkers } from '../citations/citation-rewriter.ts'
import { isSelfContained } from './self-contained.ts'

/** What one search compares with the Space. */
export interface SearchQuery {
  text: string
  /** Earlier turns, which often name the subject of the text. */
  context: ContextText[]
  /** The question as a reranker compares it with passages, as complete as it can be; absent: `text`. */
  standalone?: string
}

type Turn = ChatRequest['messages'][number]

/**
 * Weight of the words of the last answer and of the question before; each question before that has half the weight of the next.
 * Higher weights find more where a conversation keeps its topic and less where it changes it: docs/understand/retrieval.md has the figures.
 */
const answerWeight = 0.2
const questionWeight = 0.2
const decay = 0.5
/**
 * Weight of synonyms. Chosen on one half of the questions of `handbooks`: the prompt has an answer for 97 % instead of 85 %. Where models search, whose
 * questions have the words of the files more often, synonyms find less (recall@5 of mtrag-un 0.851 instead of 0.897).
 */
const synonymWeight = 0.8
/** Earlier questions that are read: a fifth one would weigh 0.0125. */
const maximumQuestions = 4
/** Characters of an earlier turn that are read, half of them from its beginning and half from its end. */
const maximumTurnCharacters = 8_000

/** The query of a conversation's first search: its last question, next to the questions before it and the last answer. */
export async function composeQuery(messages: readonly Turn[], signal: AbortSignal): Promise<SearchQuery> {
  const earlier = messages.slice(0, -1).toReversed()
  const questions = earlier.filter(({ role }) => role === 'user').slice(0, maximumQuestions)
  const context = questions.map(({ content }, age) => ({ text: cut(content), weight: questionWeight * decay ** age }))
  const answer = earlier.find(({ role }) => role === 'assistant')
  // Without its markers: their numbers are not words of the answer.
  if (answer) context.push({ text: await removeMarkers(cut(answer.content), signal), weight: answerWeight })
  const text = messages.at(-1)!.content
  return { text, context, standalone: completeQuestion(text, questions[0]?.content) }
}

/** The query for a model that cannot word the question differently: with words that mean the same as those of the question. */
export function withSynonyms(query: SearchQuery): SearchQuery {
  const synonyms = synonymsIn(cut(query.text))
  if (synonyms.length === 0) return query
  return { ...query, context: [...query.context, { text: synonyms.join(' '), weight: synonymWeight }] }
}

/**
 * A reranker reads the question literally: `Is it heavier than the other one?` fits every passage about weights. The question before it
 * usually names the subject.
 */
function completeQuestion(question: string, before: string | undefined): string {
  return before === undefined || isSelfContained(question) ? question : `${cut(before)}\n${question}`
}

function cut(content: string): string {
  if (content.length <= maximumTurnCharacters) return content
  const half = maximumTurnCharacters / 2 - 1
  return `${content.slice(0, half)}\n${content.slice(-half)}`
}
