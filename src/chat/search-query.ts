import type { ChatRequest } from '../contract/chat.ts'

/** Turns a conversation into the query of its first search. Pure. */

/** A question with fewer words rarely names its own subject. */
const shortQuestionWords = 7

/** The last question. A short one ("and in 2023?") is preceded by the question before it. */
export function composeQuery(messages: ChatRequest['messages']): string {
  const questions = messages.filter((message) => message.role === 'user').map((message) => message.content)
  const last = questions.at(-1)!
  const before = questions.at(-2)
  return before !== undefined && last.trim().split(/\s+/).length < shortQuestionWords ? `${before}\n${last}` : last
}
