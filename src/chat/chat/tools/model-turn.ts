import type { CompletionEvent } from '../../../gateway/gateway/index.ts'
import type { ProviderMessage, ReasoningReplay } from '../../../gateway/providers/index.ts'
import { createReasoningRemoval } from './reasoning-blocks.ts'
import { maximumArgumentsLength, type ToolCall, toSentCall } from './tool-call.ts'

/** Most calls of one turn that are read; later ones are dropped. */
const maximumCalls = 16
/** Names and ids as providers accept them, UTF-16 units. Gemini's ids carry a signature of some thousand characters. */
const maximumNameLength = 64
const maximumIdLength = 32_000

export type ModelTurn = ReturnType<typeof createModelTurn>

/** Collects the events of one completion: its text without reasoning, and the tool calls, which arrive in pieces. */
export function createModelTurn() {
  const calls = new Map<number, ToolCall>()
  const reasoning = createReasoningRemoval()
  let text = ''
  let replay: ReasoningReplay | undefined

  /** In order of their index. Missing and repeated ids are replaced. */
  function toolCalls(): ToolCall[] {
    const ids = new Set<string>()
    return [...calls.entries()]
      .toSorted(([left], [right]) => left - right)
      .map(([index, call]) => {
        const id = call.id === '' || ids.has(call.id) ? `call_${index}` : call.id
        ids.add(id)
        return { ...call, id }
      })
  }

  return {
    toolCalls,
    callsTools: () => calls.size > 0,
    hasText: () => text !== '',
    text: () => text,
    /** Returns the text of these events. */
    take(events: readonly CompletionEvent[]): string {
      let added = ''
      for (const event of events) {
        if (event.type === 'text') added += reasoning.push(event.text)
        else if (event.type === 'refusal') added += event.text
        else if (event.type === 'tool_call') takeCall(calls, event)
        else if (event.type === 'replay') replay = event.replay
      }
      text += added
      return added
    },
    /** The rest of its text, after the last events. */
    end(): string {
      const rest = reasoning.end()
      text += rest
      return rest
    },
    /** The turn as it is sent back to the model, and the texts in it that take room in the context window. */
    toMessage(): { message: ProviderMessage; countedText: string } {
      const all = toolCalls()
      return {
        message: { role: 'assistant', content: text, toolCalls: all.map(toSentCall), ...(replay && { replay }) },
        countedText: JSON.stringify(replay?.blocks ?? '') + text + all.map((call) => call.argumentsJson).join(' '),
      }
    },
  }
}

function takeCall(calls: Map<number, ToolCall>, event: Extract<CompletionEvent, { type: 'tool_call' }>) {
  const call = calls.get(event.index) ?? { id: '', name: '', argumentsJson: '' }
  if (!calls.has(event.index)) {
    if (calls.size >= maximumCalls) return
    calls.set(event.index, call)
  }
  if (call.id === '') call.id = (event.id ?? '').slice(0, maximumIdLength)
  call.name = (call.name + (event.name ?? '')).slice(0, maximumNameLength)
  // One unit above the limit shows that the arguments are too long.
  call.argumentsJson = (call.argumentsJson + event.argumentsDelta).slice(0, maximumArgumentsLength + 1)
}
