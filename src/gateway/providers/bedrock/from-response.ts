import { unreadableAnswer } from '../wire-failure.ts'
import { asName, asObject, asObjects, asString, decodeJsonObject, type JsonObject } from '../wire-json.ts'
import { mapError } from './map-error.ts'
import { mapFinishReason } from '../map-finish-reason.ts'
import { mapUsage } from './map-usage.ts'
import type { Redact } from '../redactor.ts'
import type { WireAnswer } from '../wire-adapter.ts'

/** Maps a complete answer of Converse. */
export function fromConverse(body: Uint8Array, redact: Redact): WireAnswer {
  const response = decodeJsonObject(body)
  if (response?.__type) throw mapError({ status: 200, headers: {}, body: JSON.stringify(response) }, redact)
  const message = asObject(asObject(response?.output).message)
  if (!response || !Array.isArray(message.content)) throw unreadableAnswer('an answer', true)
  const blocks = asObjects(message.content)
  const stopReason = asName(response.stopReason)
  const reasoning = blocks.filter((block) => block.reasoningContent !== undefined)
  const replayed = reasoning.length > 0
  return {
    text: blocks.map((block) => asString(block.text) + citedText(block)).join(''),
    reasoningText: blocks
      .map((block) => asString(asObject(asObject(block.reasoningContent).reasoningText).text))
      .join(''),
    refusal: null,
    toolCalls: blocks
      .filter((block) => block.toolUse !== undefined)
      .map((block) => {
        const call = asObject(block.toolUse)
        return {
          id: asString(call.toolUseId),
          name: asString(call.name),
          argumentsJson: JSON.stringify(asObject(call.input)),
        }
      }),
    ...(replayed && { replay: { format: 'bedrock', blocks: reasoning } }),
    finishReason: mapFinishReason(stopReason),
    wireFinishReason: stopReason,
    usage: mapUsage(response.usage),
  }
}

/** Text that Converse wraps together with its citations of documents. */
function citedText(block: JsonObject): string {
  const { content } = asObject(block.citationsContent)
  return asObjects(content)
    .map((part) => asString(part.text))
    .join('')
}
