import { answerToolName, usableSchema } from '../structured-answer.ts'
import { toPlainSchema } from '../../conversation/index.ts'
import { callIdOf } from '../call-id.ts'
import type { ProviderEvent, ProviderMessage, ProviderRequest, ToolDefinition } from '../port.ts'
import type { WireAnswer } from '../wire-adapter.ts'

/**
 * The one tool that must be called. Ollama has no choice of tools; a format restricts the answer to the tool's arguments, so the answer is
 * its call: https://docs.ollama.com/capabilities/structured-outputs
 */
export function forcedToolOf({ tools = [], toolChoice }: ProviderRequest): ToolDefinition | undefined {
  if (typeof toolChoice === 'object') return tools.find(({ name }) => name === toolChoice.name)
  return toolChoice === 'required' && tools.length === 1 ? tools[0] : undefined
}

/** The format of the arguments. */
export function toArgumentsFormat({ parameters }: ToolDefinition): Record<string, unknown> {
  return usableSchema(() => toPlainSchema(parameters))
}

/** The model sees the tool in the instructions: `tools` would let it write a call in its own form. */
export function withToolInstruction(messages: ProviderMessage[], tool: ToolDefinition): ProviderMessage[] {
  const { name, description, parameters } = tool
  const about = name === answerToolName ? '' : ` of a call of the function \`${name}\``
  const content = [
    `Answer only with the arguments${about}, as JSON without a code fence and without any other text.`,
    ...(description === undefined ? [] : [`The function: ${description}`]),
    `JSON Schema of the arguments:\n${JSON.stringify(parameters)}`,
  ].join('\n')
  const at = messages.findLastIndex(({ role }) => role === 'system' || role === 'developer') + 1
  return messages.toSpliced(at, 0, { role: 'system', content })
}

/** The answer's text as the call's arguments. */
export function toForcedCall(answer: WireAnswer, { name }: ToolDefinition, answerId: string): WireAnswer {
  if (answer.toolCalls.length > 0) return answer
  return {
    ...answer,
    text: '',
    toolCalls: [{ id: callIdOf(answerId, 0), name, argumentsJson: answer.text }],
    finishReason: answer.finishReason === 'stop' ? 'tool_calls' : answer.finishReason,
  }
}

/** The same for the events of a stream. */
export function createForcedCall({ name }: ToolDefinition) {
  let isBegun = false
  return (events: ProviderEvent[], answerId: string): ProviderEvent[] =>
    events.map((event): ProviderEvent => {
      if (event.type === 'finish' && isBegun && event.finishReason === 'stop')
        return { ...event, finishReason: 'tool_calls' }
      if (event.type !== 'text') return event
      const head = isBegun ? {} : { id: callIdOf(answerId, 0), name }
      isBegun = true
      return { type: 'tool_call', index: 0, ...head, argumentsDelta: event.text }
    })
}
