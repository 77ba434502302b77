import {
  type AnswerIdentity,
  type CompletionEvent,
  renderCitation,
  renderUsage,
  type StreamRenderer,
} from '../../gateway/index.ts'
import type { FinishReason } from '../../providers/index.ts'
import type { RenderOptions } from './render-answer.ts'
import { renderFinishReason, renderLogprobs, toCallId, toReasoningDetails } from './render-message.ts'

/** Turns events into the data lines of a stream: role first, deltas, finish, usage where asked, `[DONE]`. */
export function createChatStream(
  identity: AnswerIdentity,
  { includeUsage, showsReasoning, isLegacy }: RenderOptions & { includeUsage: boolean },
): Omit<StreamRenderer, 'failed'> {
  const usageField = includeUsage ? ',"usage":null' : ''
  const head = `data: {"id":${JSON.stringify(identity.id)},"object":"chat.completion.chunk","created":${identity.createdSeconds},"model":${JSON.stringify(identity.model)},`
  const tail = `,"logprobs":null,"finish_reason":null}]${usageField}}\n\n`
  // Nearly every chunk of an answer is a text of the first choice.
  const textHead = `${head}"choices":[{"index":0,"delta":{"content":`
  const textTail = `}${tail}`
  const calls = createToolCallDeltas(identity.id, isLegacy)
  /** Choices after the first whose role was sent. */
  const begun = new Set<number>()

  const delta = (choice: number, json: string) => `${head}"choices":[{"index":${choice},"delta":${json}${tail}`
  const role = (choice: number) => delta(choice, '{"role":"assistant","content":"","refusal":null}')
  const finish = (choice: number, reason: FinishReason) =>
    `${head}"choices":[{"index":${choice},"delta":{},"logprobs":null,"finish_reason":"${renderFinishReason(reason, isLegacy)}"}]${usageField}}\n\n`

  function render(event: Exclude<CompletionEvent, { type: 'finish' }>, choice: number): string {
    switch (event.type) {
      case 'text':
        return choice === 0
          ? `${textHead}${JSON.stringify(event.text)}${textTail}`
          : delta(choice, `{"content":${JSON.stringify(event.text)}}`)
      case 'reasoning':
        return showsReasoning ? delta(choice, `{"reasoning_content":${JSON.stringify(event.text)}}`) : ''
      case 'refusal':
        return delta(choice, `{"refusal":${JSON.stringify(event.text)}}`)
      case 'citations':
        return delta(choice, JSON.stringify({ annotations: event.citations.map(renderCitation) }))
      case 'tool_call':
        return calls
          .take(event)
          .map((fields) => delta(choice, JSON.stringify(fields)))
          .join('')
      case 'logprobs':
        return `${head}"choices":[{"index":${choice},"delta":{"content":""},"logprobs":${renderLogprobs(event.logprobs)},"finish_reason":null}]${usageField}}\n\n`
      case 'replay': {
        const details = toReasoningDetails(event.replay)
        return details ? delta(choice, JSON.stringify({ reasoning_details: details })) : ''
      }
      case 'choice_finish':
        return finish(choice, event.finishReason)
      // Of other client APIs.
      case 'native':
      case 'hosted_item':
        return ''
    }
  }

  return {
    start: () => role(0),
    event(event) {
      if (event.type === 'finish') {
        const usage = includeUsage ? `${head}"choices":[],"usage":${renderUsage(event.usage)}}\n\n` : ''
        return `${finish(0, event.finishReason)}${usage}data: [DONE]\n\n`
      }
      const choice = ('choice' in event ? event.choice : undefined) ?? 0
      const text = render(event, choice)
      if (choice === 0 || begun.has(choice) || text === '') return text
      begun.add(choice)
      return role(choice) + text
    },
  }
}

type ToolCallEvent = Extract<CompletionEvent, { type: 'tool_call' }>

/**
 * The deltas of tool calls in one stream: id, type and name come first, then the arguments in separate deltas, whatever order the provider
 * has. Calls without an id get one.
 */
function createToolCallDeltas(answerId: string, isLegacy: boolean) {
  /** By choice and index: the arguments that have arrived before the name; null once the name was sent. */
  const waiting = new Map<string, string | null>()

  function argumentsOf(index: number, text: string): object {
    return isLegacy && index === 0
      ? { function_call: { arguments: text } }
      : { tool_calls: [{ index, function: { arguments: text } }] }
  }

  return {
    take({ index, id, name, argumentsDelta, choice = 0 }: ToolCallEvent): object[] {
      const key = `${choice}.${index}`
      const before = waiting.get(key)
      if (before === null) return argumentsDelta === '' ? [] : [argumentsOf(index, argumentsDelta)]
      const given = (before ?? '') + argumentsDelta
      if (name === undefined) {
        waiting.set(key, given)
        return []
      }
      waiting.set(key, null)
      const call = { index, id: toCallId(id, answerId, choice, index), type: 'function' }
      const named =
        isLegacy && index === 0
          ? { function_call: { name, arguments: '' } }
          : { tool_calls: [{ ...call, function: { name, arguments: '' } }] }
      return given === '' ? [named] : [named, argumentsOf(index, given)]
    },
  }
}
