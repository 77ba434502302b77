import type { ModelTraits } from '../model-traits/index.ts'
import type { ProviderCall } from '../port.ts'

/** Of models whose context nobody stated. */
const unknownContextTokens = 131_072
/** Every size is a step, so that a conversation that grows does not make Ollama load the model again for each call. */
const smallestStepTokens = 8_192
/** Room for an answer without a cap. */
const uncappedAnswerTokens = 4_096
/** UTF-8 bytes of one token at least, on the average of a text: the estimate is meant to be too high. */
const bytesPerToken = 2.5
/** The template around a message, and around the whole. */
const tokensPerMessage = 16

/**
 * `num_ctx`: Ollama cuts off the beginning of a prompt that is larger than its own default, and says nothing. Room for the prompt and the
 * answer, rounded up to a power of two, at most the model's context.
 */
export function contextSize({ model, request }: ProviderCall, traits: ModelTraits): number {
  const limit = model.contextTokens ?? traits.contextTokens ?? unknownContextTokens
  let bytes = Buffer.byteLength(JSON.stringify(request.tools ?? ''))
  for (const message of request.messages) {
    bytes += Buffer.byteLength(message.content) + tokensPerMessage * bytesPerToken
    for (const call of message.toolCalls ?? []) bytes += Buffer.byteLength(call.argumentsJson) + call.name.length
  }
  const needed = bytes / bytesPerToken + tokensPerMessage + (request.maxOutputTokens ?? uncappedAnswerTokens)
  let size = smallestStepTokens
  while (size < needed && size < limit) size *= 2
  return Math.min(size, limit)
}
