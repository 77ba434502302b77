import { AppError } from '../../platform/kernel/index.ts'
import { findSchemaMismatch, type SchemaMismatch } from '../conversation/index.ts'
import type { FinishReason, ProviderEvent, ProviderRequest } from '../providers/index.ts'
import type { CallNeeds } from './port.ts'

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

/** Whether the request allows one tool call only, which the gateway enforces. */
const allowsOneCall = (needs: CallNeeds | undefined) => needs?.enforced === 'parallel_tools'

/** Keeps a stream to the one tool call that its request allows. */
export interface CallLimit {
  /** The events without those of further calls. */
  take<Event extends Pick<ProviderEvent, 'type'>>(events: Event[]): Event[]
  isExceeded(): boolean
}

/** Null if the request allows several calls. */
export function createCallLimit(needs: CallNeeds | undefined): CallLimit | null {
  if (!allowsOneCall(needs)) return null
  const first = new Map<number, number>()
  let isExceeded = false
  const isAllowed = (event: Pick<ProviderEvent, 'type'>) => {
    if (event.type !== 'tool_call') return true
    const { index, choice = 0 } = event as ProviderEvent & { type: 'tool_call' }
    const known = first.get(choice)
    if (known === undefined) first.set(choice, index)
    if (known === undefined || known === index) return true
    isExceeded = true
    return false
  }
  return { take: (events) => events.filter(isAllowed), isExceeded: () => isExceeded }
}

/** Whether a whole answer has more calls than its request allows. */
export function exceedsCalls(
  needs: CallNeeds | undefined,
  answers: readonly { toolCalls: readonly unknown[] }[],
): boolean {
  return allowsOneCall(needs) && answers.some(({ toolCalls }) => toolCalls.length > 1)
}

/**
 * No call is left out silently, and the client gets none that it has excluded. The answer was billed, so the status must be one that no
 * client library retries: those of OpenAI, Anthropic and the AI SDK retry 408, 409, 429 and 500 and above, LangChain also 422. 400 is
 * what remains: the model cannot keep the limit that the request sets.
 */
export function tooManyCalls(needs: CallNeeds | undefined): AppError {
  const field = needs?.fieldOf('parallel_tools') ?? 'parallel_tool_calls'
  return new AppError(
    'unsupported_parameter',
    `\`${field}\`: the model called its tool several times, although the request allows one call. The answer was billed. Allow several calls, or use a model that has a limit of one call.`,
    { param: field },
  )
}
