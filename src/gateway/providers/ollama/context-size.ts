import { textOfContent } from '../../conversation/index.ts'
import type { ModelTraits } from '../model-traits/index.ts'
import type { PromptText, ProviderCall } from '../port.ts'

/** For models whose context is unknown. */
const unknownContextTokens = 131_072
/** Sizes grow in steps, so that a growing conversation does not make Ollama reload the model for each call. */
const smallestStepTokens = 8_192
/** Space for an answer without a cap. */
const uncappedAnswerTokens = 4_096
/** Least UTF-8 bytes per token on average: the estimate of tokens should be too high. */
const bytesPerToken = 2.5
/** The template around each message, and around the whole prompt. */
const tokensPerMessage = 16

/**
 * `num_ctx`: Ollama silently cuts off the beginning of a prompt that exceeds its default. Space for the prompt and the answer, rounded up
 * to a power of two, at most the model's context.
 */
export function contextSize({ model, request }: ProviderCall, traits: ModelTraits): number {
  const limit = model.contextTokens ?? traits.contextTokens ?? unknownContextTokens
  let bytes = Buffer.byteLength(JSON.stringify(request.tools ?? ''))
  for (const message of request.messages) {
    bytes += textBytes(textOfContent(message.content)) + tokensPerMessage * bytesPerToken
    for (const call of message.toolCalls ?? []) bytes += Buffer.byteLength(call.argumentsJson) + call.name.length
  }
  const needed = bytes / bytesPerToken + tokensPerMessage + (request.maxOutputTokens ?? uncappedAnswerTokens)
  let size = smallestStepTokens
  while (size < needed && size < limit) size *= 2
  return Math.min(size, limit)
}

const textBytes = (text: PromptText) => (typeof text === 'string' ? Buffer.byteLength(text) : text.maximumTextBytes)
