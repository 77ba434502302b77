import type { GoldenMessages, GoldenQuestionBody } from '@contract/golden-questions.ts'
import type { ChosenDocument } from './document-choice.tsx'
import { questionOf } from './queries.ts'

/** What the form of a golden question has. */
export interface QuestionDraft {
  /** The messages before the question. */
  earlier: GoldenMessages
  question: string
  documents: ChosenDocument[]
  /** One per line. */
  facts: string
  mustAbstain: boolean
}

export const draftOf = (question: GoldenQuestionBody): QuestionDraft => ({
  earlier: question.messages.slice(0, -1),
  question: questionOf(question),
  documents: question.expectedDocuments.map(({ id, name }) => ({ id, name })),
  facts: question.expectedFacts.join('\n'),
  mustAbstain: question.mustAbstain,
})

/** The body that stores the form. */
export function givenOf({ earlier, question, documents, facts, mustAbstain }: QuestionDraft) {
  const messages: GoldenMessages = [...earlier, { role: 'user', content: question.trim() }]
  const expectedFacts = facts.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
  return {
    messages,
    expectedDocuments: mustAbstain ? [] : documents.map(({ id }) => ({ id })),
    expectedFacts: mustAbstain ? [] : expectedFacts,
    mustAbstain,
  }
}
