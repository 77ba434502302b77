import type { WireFormat } from '../../../src/gateway/providers/index.ts'
import type { JsonObject } from '../../../src/gateway/providers/wire-json.ts'
import { readAnthropicBody } from './read-anthropic.ts'
import { readBedrockBody } from './read-bedrock.ts'
import { readGeminiBody } from './read-gemini.ts'
import { readChatBody } from './read-openai.ts'
import type { ReadBody } from './request-call.ts'

/** Facts about a recorded body that are not in it. */
export interface BodyContext {
  format: WireFormat
  kind: 'chat' | 'embeddings'
  /** From the address, if the format has the model there. */
  model: string
  stream: boolean
  /** The host's number for a temperature (or penalty) of 1 on our scale; recorded numbers are divided by it. */
  temperatureFactor: number
  penaltyFactor: number
}

/** Reads a canonical body back into its call. */
export function readBody(body: JsonObject, context: BodyContext): ReadBody {
  switch (context.format) {
    case 'anthropic':
      return readAnthropicBody(body, context)
    case 'gemini':
    case 'vertex':
      return readGeminiBody(body, context)
    case 'bedrock':
      return readBedrockBody(body, context)
    default:
      return readChatBody(body, context)
  }
}
