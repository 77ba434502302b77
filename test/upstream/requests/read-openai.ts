import type { ProviderMessage, ProviderRequest } from '../../../src/gateway/providers/port.ts'
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

/** A chat or embedding body of OpenAI's family, of Cohere or of Ollama, which share the shape of messages and tools. */
export function readChatBody(body: JsonObject, context: BodyContext): ReadBody {
  if (context.kind === 'embeddings') return readEmbeddingBody(body, context)
  const notOffered = createNotOffered()
  const {
    model,
    messages,
    tools,
    tool_choice: choice,
    stream: _stream,
    options,
    thinking,
    think,
    stream_options: _usage,
    ...fields
  } = body
  const { sampling: plain, rest } = readSampling(fields, context)
  const { sampling: nested, rest: restOfOptions } = readSampling(asObject(options), context)
  const sampling = { ...plain, ...nested }
  notOffered.addAll(rest)
  notOffered.addAll(restOfOptions, 'options.')
  const effort = effortOf(context, thinking, think, notOffered) ?? sampling.reasoningEffort
  const request = defined({
    ...sampling,
    reasoningEffort: effort,
    messages: linkResults(asObjects(messages).flatMap((message) => readMessage(message, notOffered))),
    tools: tools === undefined ? undefined : asObjects(tools).flatMap((tool) => readTool(tool, notOffered)),
    toolChoice: readChoice(choice, notOffered),
  })
  return {
    call: { kind: 'chat', model: stringOf(model) ?? context.model, stream: context.stream, request },
    notOffered: notOffered.list(),
  }
}

function readSampling(
  fields: JsonObject,
  { temperatureFactor, penaltyFactor }: BodyContext,
): { sampling: Omit<ProviderRequest, 'messages'>; rest: JsonObject } {
  const {
    temperature,
    top_p: topP,
    p,
    max_tokens: cap,
    max_completion_tokens: newCap,
    num_predict: ollamaCap,
    ...others
  } = fields
  const { stop, stop_sequences: stops, seed, random_seed: mistralSeed, ...further } = others
  const { presence_penalty: presence, frequency_penalty: frequency, reasoning_effort: effort, ...more } = further
  const { user, metadata, service_tier: tier, ...rest } = more
  const { messages: _none, ...sampling } = defined({
    messages: undefined as unknown as ProviderMessage[],
    temperature: unscaled(temperature, temperatureFactor),
    topP: numberOf(topP) ?? numberOf(p),
    maxOutputTokens: numberOf(newCap) ?? numberOf(cap) ?? numberOf(ollamaCap),
    stop: textsOf(stop) ?? textsOf(stops),
    seed: numberOf(seed) ?? numberOf(mistralSeed),
    presencePenalty: unscaled(presence, penaltyFactor),
    frequencyPenalty: unscaled(frequency, penaltyFactor),
    reasoningEffort: stringOf(effort),
    user: stringOf(user),
    metadata: metadataOf(metadata),
    serviceTier: stringOf(tier),
  })
  return { sampling, rest }
}

/** Cohere's and Ollama's switch for thinking; that of DeepSeek and others is not offered. */
function effortOf(
  { format }: BodyContext,
  thinking: unknown,
  think: unknown,
  notOffered: NotOffered,
): string | undefined {
  if (typeof think === 'string') return think
  if (typeof think === 'boolean') return think ? 'high' : 'none'
  if (thinking === undefined) return undefined
  if (format === 'cohere') {
    const { type, ...rest } = asObject(thinking)
    notOffered.addAll(rest, 'thinking.')
    return type === 'disabled' ? 'none' : 'high'
  }
  notOffered.add('thinking')
  return undefined
}

function readMessage(message: JsonObject, notOffered: NotOffered): ProviderMessage[] {
  const {
    role,
    content,
    tool_calls: calls,
    tool_call_id: callId,
    tool_name: _tool,
    tool_plan: plan,
    prefix: _prefix,
    ...rest
  } = message
  notOffered.addAll(rest, 'messages[].')
  if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(asString(role))) {
    notOffered.add('messages')
    return []
  }
  if (content !== undefined && typeof content !== 'string') notOffered.add('messages[].content')
  return [
    {
      role: role as ProviderMessage['role'],
      content: typeof content === 'string' ? content : (stringOf(plan) ?? textsIn(content)),
      ...(calls !== undefined && { toolCalls: asObjects(calls).map(readCall) }),
      ...(role === 'tool' && { toolCallId: asString(callId) }),
    },
  ]
}

/** Ollama's calls have no ids: a result answers the first call without one. */
function linkResults(messages: ProviderMessage[]): ProviderMessage[] {
  const open: string[] = []
  return messages.map((message, position) => {
    const toolCalls = message.toolCalls?.map((call, at) => ({ ...call, id: call.id || `call_${position}_${at}` }))
    open.push(...(toolCalls ?? []).map(({ id }) => id))
    if (message.role === 'tool') {
      const toolCallId = message.toolCallId || open[0] || ''
      if (open.includes(toolCallId)) open.splice(open.indexOf(toolCallId), 1)
      return { ...message, toolCallId }
    }
    return toolCalls ? { ...message, toolCalls } : message
  })
}

/** The text of content that has other parts too. */
function textsIn(content: unknown): string {
  return asObjects(content)
    .map((part) => asString(part.text))
    .join('')
}

function readCall(call: JsonObject): { id: string; name: string; argumentsJson: string } {
  const called = asObject(call.function)
  return {
    id: asString(call.id),
    name: asString(called.name),
    argumentsJson: typeof called.arguments === 'string' ? called.arguments : JSON.stringify(called.arguments ?? {}),
  }
}

function readTool(tool: JsonObject, notOffered: NotOffered): ReturnType<typeof toolOf>[] {
  if (tool.type !== 'function' || tool.function === undefined) {
    notOffered.add('tools')
    return []
  }
  const { name, description, parameters, ...rest } = asObject(tool.function)
  notOffered.addAll(rest, 'tools[].function.')
  return [toolOf({ name, description }, parameters)]
}

function readChoice(choice: unknown, notOffered: NotOffered): 'auto' | 'none' | 'required' | undefined {
  if (choice === undefined) return undefined
  const word = asString(choice).toLowerCase()
  if (word === 'any') return 'required'
  if (word === 'auto' || word === 'none' || word === 'required') return word
  notOffered.add('tool_choice')
  return undefined
}

function readEmbeddingBody(body: JsonObject, context: BodyContext): ReadBody {
  const notOffered = createNotOffered()
  const { model, input, texts, dimensions, output_dimension: cohere, input_type: type, ...others } = body
  // We choose both: they decide the encoding of the vectors.
  const { encoding_format: _encoding, embedding_types: _types, ...rest } = others
  notOffered.addAll(rest)
  const read = textsOf(input) ?? textsOf(texts) ?? []
  // Token ids and images.
  if (read.length === 0) for (const field of ['input', 'texts']) notOffered.add(field)
  if (type !== undefined && !asString(type).startsWith('search_')) notOffered.add('input_type')
  const size = numberOf(dimensions) ?? numberOf(cohere)
  return {
    call: {
      kind: 'embeddings',
      model: stringOf(model) ?? context.model,
      texts: read,
      purpose: type === 'search_query' ? 'query' : 'document',
      ...(size !== undefined && { dimensions: size }),
    },
    notOffered: notOffered.list(),
  }
}
