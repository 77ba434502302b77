import { findSchemaMismatch, type SchemaMismatch } from '../conversation/index.ts'
import type { FinishReason, ProviderEvent, ProviderRequest } from '../providers/index.ts'

interface Answer {
  text: string
  finishReason: FinishReason
}

/** The first difference of the answers to a request from its schema; null without a schema. Calls of tools and refusals have no verdict. */
export function findMismatch(
  { responseFormat }: Pick<ProviderRequest, 'responseFormat'>,
  answers: readonly Answer[],
): SchemaMismatch | null {
  if (responseFormat?.type !== 'json_schema') return null
  for (const { text, finishReason } of answers) {
    const found = finishReason === 'tool_calls' || text === '' ? null : findSchemaMismatch(responseFormat.schema, text)
    if (found) return found
  }
  return null
}

/** Keeps the text of a stream until its end, to compare it with the schema of the request. */
export interface StreamVerdict {
  take(events: readonly ProviderEvent[]): void
  find(): SchemaMismatch | null
}

/** Null without a schema: nothing is kept then. */
export function createStreamVerdict(request: ProviderRequest): StreamVerdict | null {
  if (request.responseFormat?.type !== 'json_schema') return null
  const answers = new Map<number, Answer>()
  const answerOf = (choice = 0) => {
    const known = answers.get(choice)
    if (known) return known
    const answer: Answer = { text: '', finishReason: 'stop' }
    answers.set(choice, answer)
    return answer
  }
  return {
    take(events) {
      for (const event of events) {
        if (event.type === 'text') answerOf(event.choice).text += event.text
        else if (event.type === 'finish') answerOf().finishReason = event.finishReason
        else if (event.type === 'choice_finish') answerOf(event.choice).finishReason = event.finishReason
      }
    },
    find: () => findMismatch(request, [...answers.values()]),
  }
}
