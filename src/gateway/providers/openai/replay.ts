import type { ModelTraits } from '../model-traits/index.ts'
import type { ProviderMessage, ReasoningReplay, WireModel } from '../port.ts'
import { asObjects, asString, type JsonObject } from '../wire-json.ts'

/** Longest reasoning that is kept to be sent back, in characters; beyond it the model reasons again. */
const maximumReplayedCharacters = 2_000_000

/** Collects the reasoning of one answer in both forms of the family: a text, and OpenRouter's list of details. */
export function createReplayCollector() {
  let content = ''
  let characters = 0
  const details: JsonObject[] = []
  return {
    /** A message, or a delta of one. */
    take(message: JsonObject, reasoning: string): void {
      characters += reasoning.length
      if (characters > maximumReplayedCharacters) return
      content += reasoning
      for (const detail of asObjects(message.reasoning_details)) {
        characters += asString(detail.data).length
        addDetail(details, detail)
      }
    },
    /** Hosts of details accept them with every answer; a text only belongs to tool calls. */
    replay(hasToolCalls: boolean): ReasoningReplay | null {
      if (!hasToolCalls && details.length === 0) return null
      if (characters > maximumReplayedCharacters || (content === '' && details.length === 0)) return null
      return { format: 'openai', blocks: [{ content, details }] }
    },
  }
}

/** Pieces of one detail share type and index; their texts are joined. */
function addDetail(details: JsonObject[], piece: JsonObject): void {
  const last = details.at(-1)
  if (!last || last.type !== piece.type || last.index !== piece.index || piece.type === 'reasoning.encrypted') {
    details.push({ ...piece })
    return
  }
  for (const [name, value] of Object.entries(piece)) {
    if (name === 'text' || name === 'summary') last[name] = asString(last[name]) + asString(value)
    else if (value !== null && value !== undefined) last[name] = value
  }
}

/**
 * The reasoning behind a turn's tool calls, in the model's form. Models with `reasoning_content` refuse such a turn without it, also if
 * another model made the calls: then a blank text is sent.
 */
export function toReplayedFields(
  { replay }: ProviderMessage,
  model: WireModel,
  { reasoningReplay }: ModelTraits,
): JsonObject {
  const block = replay?.format === 'openai' ? replay.blocks[0] : undefined
  if (reasoningReplay === 'reasoning_details') {
    const details = asObjects(block?.details)
    return details.length > 0 ? { reasoning_details: details } : {}
  }
  if (reasoningReplay !== 'reasoning_content' || !model.reasoning) return {}
  return { reasoning_content: asString(block?.content) || ' ' }
}
