import type { CompletionEvent } from '../../gateway/index.ts'
import { toCallId } from './render-message.ts'

type ToolCallEvent = Extract<CompletionEvent, { type: 'tool_call' }>

/**
 * The deltas of tool calls in one stream: id, type and name come first, then the arguments in separate deltas, whatever order the provider
 * has. Calls without an id get one.
 */
export function createToolCallDeltas(answerId: string, isLegacy: boolean) {
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
