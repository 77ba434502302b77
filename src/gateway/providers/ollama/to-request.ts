import { lookUp } from '../../../platform/kernel/index.ts'
import { toFunctionTools } from '../function-tools.ts'
import { jsonRequest } from '../json-request.ts'
import { acceptCall } from '../accept-call.ts'
import { isParts, type MessageContent, textOfContent, toPlainSchema } from '../../conversation/index.ts'
import { nameOfAnsweredTool, orderResults, toolArguments } from '../conversation.ts'
import { type ModelTraits, resolveTraits } from '../model-traits/index.ts'
import type { PromptText, ProviderCall, ProviderMessage, ProviderRequest, ProviderSettings } from '../port.ts'
import { isMedia, moveResultMedia, refusedPart } from '../media.ts'
import { usableSchema } from '../structured-answer.ts'
import { Adjustments, fieldsOfOpenAi, mapSampling } from '../sampling.ts'
import type { WireRequest } from '../wire-adapter.ts'
import type { JsonObject } from '../wire-json.ts'
import { forcedToolOf, toArgumentsFormat, withToolInstruction } from './forced-tool.ts'

/** Maps a call to a request to `POST /api/chat`. */
export function toOllamaRequest(
  call: ProviderCall,
  options: { stream: boolean },
  settings: ProviderSettings,
  root: string,
): WireRequest {
  const adjustments = new Adjustments()
  const traits = resolveTraits('ollama', call.model)
  const accepted = acceptCall(call, settings, traits, adjustments)
  return jsonRequest(`${root}/api/chat`, toBody(accepted, traits, options, settings, adjustments), {
    accept: options.stream ? 'application/x-ndjson' : 'application/json',
    adjusted: adjustments.names(),
  })
}

function toBody(
  call: ProviderCall,
  traits: ModelTraits,
  { stream }: { stream: boolean },
  settings: ProviderSettings,
  adjustments: Adjustments,
): JsonObject {
  const { model, request } = call
  const factor = settings.quirks?.temperatureFactor ?? 1
  const { temperature, topP } = mapSampling(call, { factor, traits }, adjustments)
  adjustments.drop(request, ...droppedFields)
  const { tools = [], toolChoice } = request
  const forced = forcedToolOf(request)
  const offersTools = tools.length > 0 && toolChoice !== 'none' && !forced
  if (offersTools && toolChoice === 'required') adjustments.note('toolChoice')
  const ordered = moveResultMedia(orderResults(request.messages), adjustments)
  const messages = forced ? withToolInstruction(ordered, forced) : ordered
  return {
    model: model.id,
    messages: messages.map((message) => toMessage(message, messages)),
    stream,
    options: {
      num_ctx: contextSize(call, traits),
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { top_p: topP }),
      ...(request.maxOutputTokens !== undefined && { num_predict: request.maxOutputTokens }),
      ...(request.stop && request.stop.length > 0 && { stop: request.stop }),
      ...(request.topK !== undefined && { top_k: request.topK }),
      ...(request.seed !== undefined && { seed: request.seed }),
      ...(request.presencePenalty !== undefined && { presence_penalty: request.presencePenalty }),
      ...(request.frequencyPenalty !== undefined && { frequency_penalty: request.frequencyPenalty }),
    },
    ...(forced ? { format: toArgumentsFormat(forced) } : toOutputFormat(request)),
    ...mapThinking(call, traits, adjustments),
    ...(offersTools && { tools: toFunctionTools(tools) }),
  }
}

/** Fields without a place in Ollama's API. */
const droppedFields = ['user', 'metadata', 'parallelToolCalls', ...fieldsOfOpenAi] as const

/** https://docs.ollama.com/capabilities/structured-outputs */
function toOutputFormat({ responseFormat }: ProviderRequest): JsonObject | undefined {
  if (!responseFormat) return undefined
  if (responseFormat.type === 'json_object') return { format: 'json' }
  const { schema } = responseFormat
  return { format: usableSchema(() => toPlainSchema(schema)) }
}

/** Images have a separate field, as bytes only. */
function toImages(content: MessageContent): JsonObject | undefined {
  if (!isParts(content)) return undefined
  const images = content.filter(isMedia).map((part) => {
    if (part.type !== 'image' || part.source.kind !== 'base64') throw refusedPart(part)
    return part.source.data
  })
  return images.length > 0 ? { images } : undefined
}

/** Some models accept levels, other thinking models only on and off; a model without thinking refuses the field. */
function mapThinking({ model, request }: ProviderCall, { efforts }: ModelTraits, adjustments: Adjustments): JsonObject {
  const { reasoningEffort } = request
  if (reasoningEffort === undefined) return {}
  if (!model.reasoning) {
    adjustments.note('reasoningEffort')
    return {}
  }
  const level = efforts && lookUp(efforts, reasoningEffort)
  if (level !== undefined) {
    if (level !== reasoningEffort) adjustments.note('reasoningEffort')
    return { think: level }
  }
  adjustments.note('reasoningEffort')
  return { think: reasoningEffort !== 'none' }
}

function toMessage(message: ProviderMessage, all: ProviderMessage[]): JsonObject {
  if (message.role === 'tool') {
    return { role: 'tool', content: textOfContent(message.content), tool_name: nameOfAnsweredTool(all, message) }
  }
  return {
    role: message.role === 'developer' ? 'system' : message.role,
    content: textOfContent(message.content),
    ...toImages(message.content),
    ...(message.toolCalls &&
      message.toolCalls.length > 0 && {
        tool_calls: message.toolCalls.map((call) => ({
          function: { name: call.name, arguments: toolArguments(call.argumentsJson) },
        })),
      }),
  }
}

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
function contextSize({ model, request }: ProviderCall, traits: ModelTraits): number {
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
