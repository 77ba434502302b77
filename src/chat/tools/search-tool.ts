import type { CompletionEvent } from '../../gateway/index.ts'
import type { ReasoningReplay, ToolDefinition } from '../../providers/index.ts'

/** The one tool of an agentic answer: a search in the Space's own files. The model chooses the words, never the Space. */

const searchToolName = 'search_uploaded_files'

export const searchTool: ToolDefinition = {
  name: searchToolName,
  description:
    'Searches the uploaded files of this Space. Call it when the passages at hand do not answer the question.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to look for, in a few words.' } },
    required: ['query'],
    additionalProperties: false,
  },
}

/** Rounds of searches that one agentic answer may add to the first one, and searches in one round; they bound cost and time. */
export const maximumToolRounds = 4
export const maximumCallsPerRound = 4
/** Calls of one turn that are read at all; those above `maximumCallsPerRound` are answered without a search. */
const maximumCallsRead = 16
/** Longest arguments of a call, UTF-16 units. */
const maximumArgumentsLength = 4_000
const maximumQueryLength = 1_000
/** Names and ids as providers accept them. Gemini's ids carry a signature of some thousand characters. */
const maximumNameLength = 64
const maximumIdLength = 32_000

export interface ToolCall {
  id: string
  name: string
  argumentsJson: string
}

/** Gathers what one completion says: its text, and the tool calls, which come in pieces. */
export function createTurn() {
  const calls = new Map<number, ToolCall>()
  let said = ''
  let replay: ReasoningReplay | undefined
  return {
    text: () => said,
    /** What the provider wants back together with the calls. */
    replay: () => replay,
    /** In order, with ids that differ. */
    toolCalls(): ToolCall[] {
      const ids = new Set<string>()
      return [...calls.entries()]
        .toSorted(([left], [right]) => left - right)
        .map(([index, call]) => {
          const id = call.id === '' || ids.has(call.id) ? `call_${index}` : call.id
          ids.add(id)
          return { ...call, id }
        })
    },
    take(events: readonly CompletionEvent[]): string {
      let text = ''
      for (const event of events) {
        if (event.type === 'text' || event.type === 'refusal') text += event.text
        else if (event.type === 'tool_call') takeCall(calls, event)
        else if (event.type === 'replay') replay = event.replay
      }
      said += text
      return text
    },
  }
}

function takeCall(calls: Map<number, ToolCall>, event: Extract<CompletionEvent, { type: 'tool_call' }>) {
  const call = calls.get(event.index) ?? { id: '', name: '', argumentsJson: '' }
  if (!calls.has(event.index)) {
    if (calls.size >= maximumCallsRead) return
    calls.set(event.index, call)
  }
  if (call.id === '') call.id = (event.id ?? '').slice(0, maximumIdLength)
  call.name = (call.name + (event.name ?? '')).slice(0, maximumNameLength)
  // One unit more than is allowed shows that they are too long.
  call.argumentsJson = (call.argumentsJson + event.argumentsDelta).slice(0, maximumArgumentsLength + 1)
}

/** What a call asks for; `problem` is the answer to the model where it cannot be searched. */
export function readToolCall(call: ToolCall): { query: string } | { problem: string } {
  if (call.name !== searchToolName) {
    return { problem: `There is no such tool. The only tool is ${searchToolName}.` }
  }
  if (call.argumentsJson.length > maximumArgumentsLength) {
    return { problem: `The arguments are longer than ${maximumArgumentsLength} characters. Send a short query.` }
  }
  const parsed = parseObject(call.argumentsJson)
  if (!parsed) return { problem: 'The arguments are not a JSON object. Send {"query": "…"}.' }
  if (typeof parsed.query !== 'string' || parsed.query.trim() === '') {
    return { problem: '`query` must be a text that is not empty.' }
  }
  return { query: parsed.query.slice(0, maximumQueryLength) }
}

/** The call as it is sent back to the model: providers refuse a conversation whose arguments are no JSON object or that names odd tools. */
export function toSentCall(call: ToolCall): ToolCall {
  return {
    id: call.id,
    name: /^[a-zA-Z0-9_-]+$/.test(call.name) ? call.name : 'unknown_tool',
    argumentsJson:
      call.argumentsJson.length <= maximumArgumentsLength && parseObject(call.argumentsJson)
        ? call.argumentsJson
        : '{}',
  }
}

function parseObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
