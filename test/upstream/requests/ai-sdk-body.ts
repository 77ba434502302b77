import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createCohere } from '@ai-sdk/cohere'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { ProviderMessage, ProviderRequest, ProviderSettings } from '../../../src/gateway/providers/port.ts'
import { type JsonObject, parseJsonObject } from '../../../src/gateway/providers/wire-json.ts'
import type { RequestCall } from './request-call.ts'

type Fetch = typeof globalThis.fetch
type ChatModel = ReturnType<ReturnType<typeof createAnthropic>['languageModel']>
type EmbeddingModel = ReturnType<ReturnType<typeof createOpenAI>['textEmbeddingModel']>
type ChatOptions = Parameters<ChatModel['doGenerate']>[0]
type Prompt = ChatOptions['prompt']
type ProviderOptions = NonNullable<ChatOptions['providerOptions']>

/** A host of the AI SDK: its models, and the place of its special call options. */
interface Host {
  chat(model: string, fetch: Fetch): ChatModel
  embedding?(model: string, fetch: Fetch): EmbeddingModel
  options(request: ProviderRequest, model: string): ProviderOptions
  embeddingOptions(call: { dimensions?: number; purpose: 'document' | 'query' }): ProviderOptions
}

/** The body that the AI SDK's provider package sends for a call; null: it has none for this format or rejects the call. */
export async function aiSdkBody(settings: ProviderSettings, call: RequestCall): Promise<JsonObject | null> {
  const host = hostOf(settings)
  if (host === null) return null
  let body: JsonObject | null = null
  const capture: Fetch = (_input, init) => {
    body = parseJsonObject(String(init?.body)) ?? null
    return Promise.reject(new Error('captured'))
  }
  try {
    if (call.kind === 'embeddings') {
      const model = host.embedding?.(call.model, capture)
      await model?.doEmbed({ values: call.texts, providerOptions: host.embeddingOptions(call) })
    } else {
      const model = host.chat(call.model, capture)
      const options = toOptions(call.request, host.options(call.request, call.model))
      await (call.stream ? model.doStream(options) : model.doGenerate(options))
    }
  } catch {
    // No answer follows; a call that the SDK cannot express fails before it is sent.
  }
  return body
}

function hostOf(settings: ProviderSettings): Host | null {
  switch (settings.format) {
    case 'anthropic':
      return anthropic
    case 'gemini':
      return google('google.generative-ai')
    case 'vertex':
      return google('google.vertex.chat')
    case 'bedrock':
      return bedrock
    case 'cohere':
      return cohere
    case 'azure':
      return openAi
    case 'openai':
      if (settings.flavour === 'mistral') return mistral
      return settings.flavour === undefined || settings.flavour === 'openai' ? openAi : compatible(settings.flavour)
    default:
      return null
  }
}

const openAi: Host = {
  chat: (model, fetch) => createOpenAI({ apiKey: 'k', fetch }).chat(model),
  embedding: (model, fetch) => createOpenAI({ apiKey: 'k', fetch }).textEmbeddingModel(model),
  options: ({ user, reasoningEffort, metadata, serviceTier }) => ({
    openai: known({ user, reasoningEffort, metadata, serviceTier }),
  }),
  embeddingOptions: ({ dimensions }) => ({ openai: known({ dimensions }) }),
}

const mistral: Host = {
  chat: (model, fetch) => createMistral({ apiKey: 'k', fetch }).languageModel(model),
  embedding: (model, fetch) => createMistral({ apiKey: 'k', fetch }).textEmbeddingModel(model),
  options: ({ reasoningEffort }) => ({ mistral: known({ reasoningEffort }) }),
  embeddingOptions: ({ dimensions }) => ({ mistral: known({ outputDimension: dimensions }) }),
}

/** The SDK's general package for the family; fields without a name in the SDK are passed on by name. */
const compatible = (name: string): Host => {
  const create = (fetch: Fetch) =>
    createOpenAICompatible({ name, baseURL: 'https://host.test/v1', apiKey: 'k', fetch, includeUsage: true })
  return {
    chat: (model, fetch) => create(fetch).chatModel(model),
    embedding: (model, fetch) => create(fetch).textEmbeddingModel(model),
    options: ({ user, reasoningEffort, metadata, serviceTier }) => ({
      [name]: known({ user, reasoningEffort, metadata, service_tier: serviceTier }),
    }),
    embeddingOptions: ({ dimensions }) => ({ [name]: known({ dimensions }) }),
  }
}

const anthropic: Host = {
  chat: (model, fetch) => createAnthropic({ apiKey: 'k', fetch }).languageModel(model),
  options: ({ reasoningEffort, user }) => ({
    anthropic: known({ effort: reasoningEffort, metadata: user === undefined ? undefined : { userId: user } }),
  }),
  embeddingOptions: () => ({}),
}

/** The SDK has no values for the effort here, so Google's level is sent. */
const google = (name: string): Host => ({
  chat: (model, fetch) => createGoogleGenerativeAI({ apiKey: 'k', fetch, name }).languageModel(model),
  // Vertex embeds at another endpoint, which this package does not support.
  ...(!name.includes('vertex') && {
    embedding: (model: string, fetch: Fetch) =>
      createGoogleGenerativeAI({ apiKey: 'k', fetch, name }).textEmbeddingModel(model),
  }),
  options: ({ reasoningEffort }) => ({
    google: known({ thinkingConfig: reasoningEffort === undefined ? undefined : { thinkingLevel: reasoningEffort } }),
  }),
  embeddingOptions: ({ dimensions, purpose }) => ({
    google: known({
      outputDimensionality: dimensions,
      taskType: purpose === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT',
    }),
  }),
})

const bedrock: Host = {
  chat: (model, fetch) => createAmazonBedrock({ region: 'eu-central-1', apiKey: 'k', fetch }).languageModel(model),
  embedding: (model, fetch) =>
    createAmazonBedrock({ region: 'eu-central-1', apiKey: 'k', fetch }).textEmbeddingModel(model),
  options: ({ reasoningEffort }) => ({
    bedrock: known({
      reasoningConfig: reasoningEffort === undefined ? undefined : { maxReasoningEffort: reasoningEffort },
    }),
  }),
  embeddingOptions: ({ dimensions, purpose }) => ({
    bedrock: known({ dimensions, outputDimension: dimensions, inputType: `search_${purpose}` }),
  }),
}

const cohere: Host = {
  chat: (model, fetch) => createCohere({ apiKey: 'k', fetch }).languageModel(model),
  embedding: (model, fetch) => createCohere({ apiKey: 'k', fetch }).textEmbeddingModel(model),
  options: ({ reasoningEffort }) => ({
    cohere: known({
      thinking:
        reasoningEffort === undefined ? undefined : { type: reasoningEffort === 'none' ? 'disabled' : 'enabled' },
    }),
  }),
  embeddingOptions: ({ dimensions, purpose }) => ({
    cohere: known({ outputDimension: dimensions, inputType: `search_${purpose}` }),
  }),
}

function toOptions(request: ProviderRequest, providerOptions: ProviderOptions): ChatOptions {
  const { temperature, topP, maxOutputTokens, stop, seed, presencePenalty, frequencyPenalty, tools, toolChoice } =
    request
  const options = {
    prompt: toPrompt(request.messages),
    providerOptions,
    temperature,
    topP,
    maxOutputTokens,
    stopSequences: stop,
    seed,
    presencePenalty,
    frequencyPenalty,
    tools: tools?.map(({ name, description, parameters }) => ({
      type: 'function' as const,
      name,
      description,
      inputSchema: parameters,
    })),
    toolChoice: toolChoice && { type: toolChoice },
  }
  return known(options) as unknown as ChatOptions
}

function toPrompt(messages: readonly ProviderMessage[]): Prompt {
  return messages.map((message): Prompt[number] => {
    const { role } = message
    const content = String(message.content)
    switch (role) {
      case 'system':
      case 'developer':
        return { role: 'system', content }
      case 'user':
        return { role: 'user', content: [{ type: 'text', text: content }] }
      case 'assistant':
        return { role: 'assistant', content: toAssistantContent(message) }
      case 'tool': {
        const toolCallId = message.toolCallId ?? ''
        const toolName =
          messages.flatMap(({ toolCalls }) => toolCalls ?? []).find(({ id }) => id === toolCallId)?.name ?? toolCallId
        const output = { type: 'text' as const, value: content }
        return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] }
      }
    }
  })
}

function toAssistantContent({
  content,
  toolCalls,
}: ProviderMessage): Extract<Prompt[number], { role: 'assistant' }>['content'] {
  return [
    ...(content === '' ? [] : [{ type: 'text' as const, text: String(content) }]),
    ...(toolCalls ?? []).map(({ id, name, argumentsJson }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: name,
      input: parseJsonObject(argumentsJson) ?? {},
    })),
  ]
}

/** Without undefined fields; the values are JSON. */
function known(values: Record<string, unknown>): ProviderOptions[string] {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as ProviderOptions[string]
}
