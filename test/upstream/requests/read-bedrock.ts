import type { ProviderMessage } from '../../../src/gateway/providers/port.ts'
import { asObject, asObjects, asString, type JsonObject } from '../../../src/gateway/providers/wire-json.ts'
import type { BodyContext } from './read-body.ts'
import {
  createNotOffered,
  defined,
  metadataOf,
  type NotOffered,
  numberOf,
  stringOf,
  textsOf,
  toolOf,
  unscaled,
} from './read-fields.ts'
import type { ReadBody } from './request-call.ts'

/** A body of Converse, or of InvokeModel of an embedding model. */
export function readBedrockBody(body: JsonObject, context: BodyContext): ReadBody {
  const notOffered = createNotOffered()
  if (context.kind === 'embeddings') return readEmbeddingBody(body, context)
  const { messages, system, inferenceConfig, toolConfig, outputConfig, requestMetadata, ...others } = body
  const { additionalModelRequestFields, ...rest } = others
  const { maxTokens, temperature, topP, stopSequences, ...moreConfig } = asObject(inferenceConfig)
  const { tools, toolChoice, ...moreTools } = asObject(toolConfig)
  const { effort, ...moreOutput } = asObject(outputConfig)
  const { reasoning_effort: ownEffort, output_config: claude, ...moreFields } = asObject(additionalModelRequestFields)
  const { effort: claudeEffort, ...moreClaude } = asObject(claude)
  notOffered.addAll(rest)
  notOffered.addAll(moreConfig, 'inferenceConfig.')
  notOffered.addAll(moreTools, 'toolConfig.')
  notOffered.addAll(moreOutput, 'outputConfig.')
  notOffered.addAll(moreFields, 'additionalModelRequestFields.')
  notOffered.addAll(moreClaude, 'additionalModelRequestFields.output_config.')
  const instructions = asObjects(system).map((block) => {
    if (typeof block.text !== 'string') notOffered.add('system')
    return { role: 'system' as const, content: asString(block.text) }
  })
  const request = defined({
    messages: [...instructions, ...asObjects(messages).flatMap((turn) => readTurn(turn, notOffered))],
    maxOutputTokens: numberOf(maxTokens),
    temperature: unscaled(temperature, context.temperatureFactor),
    topP: numberOf(topP),
    stop: textsOf(stopSequences),
    reasoningEffort: stringOf(effort) ?? stringOf(ownEffort) ?? stringOf(claudeEffort),
    metadata: metadataOf(requestMetadata),
    tools: tools === undefined ? undefined : asObjects(tools).flatMap((tool) => readTool(tool, notOffered)),
    toolChoice: readChoice(toolChoice, notOffered),
  })
  return {
    call: { kind: 'chat', model: context.model, stream: context.stream, request },
    notOffered: notOffered.list(),
  }
}

function readTurn({ role, content }: JsonObject, notOffered: NotOffered): ProviderMessage[] {
  const blocks = asObjects(content)
  const known = role === 'assistant' ? ['text', 'toolUse'] : ['text', 'toolResult']
  if (blocks.some((block) => Object.keys(block).some((name) => !known.includes(name))))
    notOffered.add('messages[].content')
  const text = blocks.map((block) => asString(block.text)).join('')
  if (role === 'assistant') {
    const calls = blocks
      .filter((block) => block.toolUse !== undefined)
      .map(({ toolUse }) => {
        const { toolUseId, name, input } = asObject(toolUse)
        return { id: asString(toolUseId), name: asString(name), argumentsJson: JSON.stringify(input ?? {}) }
      })
    return [{ role: 'assistant', content: text, ...(calls.length > 0 && { toolCalls: calls }) }]
  }
  const results = blocks
    .filter((block) => block.toolResult !== undefined)
    .map((block) => readResult(asObject(block.toolResult), notOffered))
  return [...results, ...(text === '' ? [] : [{ role: 'user' as const, content: text }])]
}

function readResult({ toolUseId, content, ...rest }: JsonObject, notOffered: NotOffered): ProviderMessage {
  const parts = asObjects(content)
  // `status` and parts that are not text: our results are text.
  if (Object.keys(rest).length > 0 || parts.some((part) => typeof part.text !== 'string'))
    notOffered.add('messages[].content')
  return { role: 'tool', toolCallId: asString(toolUseId), content: parts.map(wordsOf).join('') }
}

function wordsOf({ text, json }: JsonObject): string {
  return json === undefined ? asString(text) : JSON.stringify(json)
}

function readTool({ toolSpec, ...rest }: JsonObject, notOffered: NotOffered): ReturnType<typeof toolOf>[] {
  if (toolSpec === undefined || Object.keys(rest).length > 0) {
    notOffered.add('toolConfig.tools')
    return []
  }
  const { name, description, inputSchema, ...more } = asObject(toolSpec)
  notOffered.addAll(more, 'toolConfig.tools[].toolSpec.')
  return [toolOf({ name, description }, asObject(inputSchema).json)]
}

function readChoice(choice: unknown, notOffered: NotOffered): 'auto' | 'required' | undefined {
  if (choice === undefined) return undefined
  if (asObject(choice).any !== undefined) return 'required'
  if (asObject(choice).auto !== undefined) return 'auto'
  notOffered.add('toolConfig.toolChoice')
  return undefined
}

function readEmbeddingBody(body: JsonObject, { model }: BodyContext): ReadBody {
  const notOffered = createNotOffered()
  const { inputText, texts, dimensions, output_dimension: cohere, input_type: type, ...others } = body
  const { normalize: _normalize, embedding_types: _types, embeddingTypes: _titanTypes, ...rest } = others
  notOffered.addAll(rest)
  if (type !== undefined && !asString(type).startsWith('search_')) notOffered.add('input_type')
  const size = numberOf(dimensions) ?? numberOf(cohere)
  return {
    call: {
      kind: 'embeddings',
      model,
      texts: typeof inputText === 'string' ? [inputText] : (textsOf(texts) ?? []),
      purpose: type === 'search_query' ? 'query' : 'document',
      ...(size !== undefined && { dimensions: size }),
    },
    notOffered: notOffered.list(),
  }
}
