import type { ProviderMessage } from '../../../src/gateway/providers/port.ts'
import { asObject, asObjects, asString, type JsonObject } from '../../../src/gateway/providers/wire-json.ts'
import type { BodyContext } from './read-body.ts'
import {
  createNotOffered,
  defined,
  type NotOffered,
  numberOf,
  stringOf,
  textsOf,
  toolOf,
  unscaled,
} from './read-fields.ts'
import type { ReadBody } from './request-call.ts'

/** A body of generateContent, of batchEmbedContents or of Vertex's predict. */
export function readGeminiBody(body: JsonObject, context: BodyContext): ReadBody {
  if (context.kind === 'embeddings') return readEmbeddingBody(body, context)
  const notOffered = createNotOffered()
  const { contents, systemInstruction, generationConfig, tools, toolConfig, ...rest } = body
  const {
    temperature,
    topP,
    maxOutputTokens,
    stopSequences,
    seed,
    presencePenalty,
    frequencyPenalty,
    thinkingConfig,
    ...more
  } = asObject(generationConfig)
  const { thinkingLevel, ...moreThinking } = asObject(thinkingConfig)
  notOffered.addAll(rest)
  notOffered.addAll(more, 'generationConfig.')
  notOffered.addAll(moreThinking, 'generationConfig.thinkingConfig.')
  const instructions = asObjects(asObject(systemInstruction).parts).map((part) => {
    if (typeof part.text !== 'string') notOffered.add('systemInstruction')
    return { role: 'system' as const, content: asString(part.text) }
  })
  const turns = asObjects(contents).flatMap((turn, position) => readTurn(turn, position, notOffered))
  const request = defined({
    messages: [...instructions, ...turns],
    temperature: unscaled(temperature, context.temperatureFactor),
    topP: numberOf(topP),
    maxOutputTokens: numberOf(maxOutputTokens),
    stop: textsOf(stopSequences),
    seed: numberOf(seed),
    presencePenalty: numberOf(presencePenalty),
    frequencyPenalty: numberOf(frequencyPenalty),
    reasoningEffort: stringOf(thinkingLevel),
    tools: tools === undefined ? undefined : asObjects(tools).flatMap((tool) => readTools(tool, notOffered)),
    toolChoice: readChoice(toolConfig, notOffered),
  })
  return {
    call: { kind: 'chat', model: context.model, stream: context.stream, request },
    notOffered: notOffered.list(),
  }
}

/** Google's value for a call without a signature. */
const unsigned = 'skip_thought_signature_validator'

function readTurn({ role, parts }: JsonObject, turn: number, notOffered: NotOffered): ProviderMessage[] {
  const blocks = asObjects(parts)
  const known = role === 'model' ? ['text', 'functionCall'] : ['text', 'functionResponse']
  const isKnown = ([name, value]: [string, unknown]) => known.includes(name) || value === unsigned
  if (!blocks.every((block) => Object.entries(block).every(isKnown))) notOffered.add('contents[].parts')
  const text = blocks.map((block) => asString(block.text)).join('')
  if (role === 'model') {
    const calls = blocks
      .filter((block) => block.functionCall !== undefined)
      .map(({ functionCall }, position) => {
        const { name, args, id } = asObject(functionCall)
        return {
          id: stringOf(id) ?? `call_${turn}_${position}`,
          name: asString(name),
          argumentsJson: JSON.stringify(args ?? {}),
        }
      })
    return [{ role: 'assistant', content: text, ...(calls.length > 0 && { toolCalls: calls }) }]
  }
  const results = blocks
    .filter((block) => block.functionResponse !== undefined)
    .map(({ functionResponse }, position) => {
      const { response, id } = asObject(functionResponse)
      // A name alone does not identify the answered call: the order does, as at the host.
      const toolCallId = stringOf(id) ?? `call_${turn - 1}_${position}`
      return { role: 'tool' as const, toolCallId, content: JSON.stringify(response ?? {}) }
    })
  return [...results, ...(text === '' ? [] : [{ role: 'user' as const, content: text }])]
}

function readTools({ functionDeclarations, ...rest }: JsonObject, notOffered: NotOffered): ReturnType<typeof toolOf>[] {
  if (Object.keys(rest).length > 0) notOffered.add('tools')
  return asObjects(functionDeclarations).map(({ name, description, schema, ...more }) => {
    notOffered.addAll(more, 'tools[].functionDeclarations[].')
    return toolOf({ name, description }, schema)
  })
}

function readChoice(toolConfig: unknown, notOffered: NotOffered): 'auto' | 'none' | 'required' | undefined {
  if (toolConfig === undefined) return undefined
  const { functionCallingConfig, ...rest } = asObject(toolConfig)
  const { mode, ...more } = asObject(functionCallingConfig)
  notOffered.addAll(rest, 'toolConfig.')
  notOffered.addAll(more, 'toolConfig.functionCallingConfig.')
  const choices: Record<string, 'auto' | 'none' | 'required'> = { AUTO: 'auto', NONE: 'none', ANY: 'required' }
  const choice = choices[asString(mode).toUpperCase()]
  if (choice === undefined) notOffered.add('toolConfig')
  return choice
}

function readEmbeddingBody(body: JsonObject, { model }: BodyContext): ReadBody {
  const notOffered = createNotOffered()
  const { requests, instances, parameters, ...rest } = body
  notOffered.addAll(rest)
  const entries = asObjects(requests ?? instances)
  const [first] = entries
  const size = numberOf(first?.outputDimensionality) ?? numberOf(asObject(parameters).outputDimensionality)
  const asked = asString(first?.taskType)
  if (asked !== '' && !asked.startsWith('RETRIEVAL_')) {
    notOffered.add(requests === undefined ? 'instances[].taskType' : 'requests[].taskType')
  }
  const texts = entries.map((entry) =>
    typeof entry.content === 'string'
      ? entry.content
      : asObjects(asObject(entry.content).parts)
          .map((part) => asString(part.text))
          .join(''),
  )
  return {
    call: {
      kind: 'embeddings',
      model,
      texts,
      purpose: asked === 'RETRIEVAL_QUERY' ? 'query' : 'document',
      ...(size !== undefined && { dimensions: size }),
    },
    notOffered: notOffered.list(),
  }
}
