import type { CompletionEvent } from '../../../gateway/gateway/index.ts'
import type { ProviderMessage, ReasoningReplay } from '../../../gateway/providers/index.ts'
import { maximumArgumentsLength, type ToolCall, toSentCall } from './tool.ts'

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

/**
 * Longest text of a turn, in UTF-16 units, that waits until it is known whether the turn calls tools: what models write before a call is
 * one or two sentences about what they will do. Longer text is an answer, and a reader of a stream should not wait for its end.
 */
export const heldOfStream = 400

/** Holds the text of a turn back until it is too long to be the beginning of a tool call, or the turn has ended. */
export function createTurnHold(mostHeld: number) {
  let held = ''
  let isReleased = mostHeld === 0
  let isDropped = false
  return {
    /** Returns the text that may be passed on. After a tool call there is none. */
    push(text: string, { callsTools }: { callsTools: boolean }): string {
      isDropped ||= callsTools
      if (isDropped) return ''
      if (isReleased) return text
      held += text
      if (held.length <= mostHeld) return ''
      isReleased = true
      return held
    },
    /** What is still held, at the end of a turn. */
    end: (): string => (isReleased || isDropped ? '' : held),
  }
}

/** Tags in which models behind hosts without a separate field write what they think before they answer. */
const opening = /^<(think|thinking|thought|reasoning)>/i
/** What may still become one of them. */
const mayOpen = /^(?:<[a-z]{0,9})?$/i
/** Units of the end of a block at most, where a piece of the stream cuts it. */
const longestCut = '</reasoning>'.length - 1

/**
 * Removes the blocks of reasoning at the beginning of a model's turn, however the stream cuts them; one that never ends is removed to the end.
 * Later in the text the same words are left alone: an answer may speak about them.
 */
export function createReasoningRemoval() {
  /** White space before what is held; that after a block is dropped. */
  let blank = ''
  /** Text that is not decided yet, from its first visible character on; inside a block, its last characters. */
  let held = ''
  let closing: RegExp | null = null
  let hasRemoved = false
  let hasBegun = false

  function take(): string {
    const text = blank + held
    blank = ''
    held = ''
    return text
  }

  function decide(): string {
    for (;;) {
      if (closing !== null) {
        const end = closing.exec(held)
        if (!end) {
          held = held.slice(-longestCut)
          return ''
        }
        held = held.slice(end.index + end[0].length)
        closing = null
        blank = ''
        hasRemoved = true
      }
      const visible = held.trimStart()
      if (!hasRemoved) blank += held.slice(0, held.length - visible.length)
      held = visible
      const found = opening.exec(held)
      if (!found) break
      closing = new RegExp(`</${found[1]!}>`, 'i')
      held = held.slice(found[0].length)
    }
    if (mayOpen.test(held)) return ''
    hasBegun = true
    return take()
  }

  return {
    push(text: string): string {
      if (hasBegun || text === '') return text
      held += text
      return decide()
    },
    /** The rest, at the end of the turn. */
    end(): string {
      return closing === null ? take() : ''
    },
  }
}
