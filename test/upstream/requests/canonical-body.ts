import type { WireFormat } from '../../../src/gateway/providers/index.ts'
import { asObject, asObjects, asString, type JsonObject, parseJson } from '../../../src/gateway/providers/wire-json.ts'

/** A body in the form in which it is compared. The input value is not changed. */
export function canonicalBody(format: WireFormat, body: JsonObject): JsonObject {
  return asObject(prune(canonicalOf(format)(asObject(prune(body)))))
}

function canonicalOf(format: WireFormat): (body: JsonObject) => JsonObject {
  switch (format) {
    case 'anthropic':
      return canonicalAnthropic
    case 'gemini':
    case 'vertex':
      return canonicalGemini
    case 'bedrock':
      return canonicalBedrock
    default:
      return canonicalChat
  }
}

/** Without null, undefined, and empty lists and objects. Schemas keep empty members, which have a meaning there. */
function prune(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(prune)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, isSchema(name) ? member : prune(member)] as const)
      .filter(([name, member]) => keepsEmpty(name) || !isNothing(member)),
  )
}

const isSchema = (name: string) =>
  ['parameters', 'parametersJsonSchema', 'parameters_json_schema', 'input_schema', 'inputSchema', 'schema'].includes(
    name,
  )
/** The arguments of a call without any are an object too. */
const keepsEmpty = (name: string) => ['input', 'args', 'arguments', 'json'].includes(name)
const isNothing = (member: unknown) =>
  member === null || member === undefined || (typeof member === 'object' && Object.keys(member).length === 0)

/** OpenAI's family, Cohere and Ollama. */
function canonicalChat(body: JsonObject): JsonObject {
  const { stream, stop, input, n, tool_choice: choice, format, ...rest } = body
  return {
    ...rest,
    ...(stream !== false && { stream }),
    ...(n !== 1 && { n }),
    // Ollama's field; an empty one has no effect.
    ...(format !== '' && { format }),
    ...(choice !== 'auto' && { tool_choice: choice }),
    ...(stop !== undefined && { stop: typeof stop === 'string' ? [stop] : stop }),
    ...(input !== undefined && { input: typeof input === 'string' ? [input] : input }),
    ...(body.messages !== undefined && { messages: asObjects(body.messages).map(canonicalMessage) }),
    ...(body.tools !== undefined && { tools: asObjects(body.tools).map(canonicalTool) }),
  }
}

function canonicalMessage({ content, tool_calls: calls, prefix, ...rest }: JsonObject): JsonObject {
  const text = joinTexts(content)
  const said = text === '' && calls !== undefined ? undefined : text
  return {
    ...rest,
    ...(prefix !== false && { prefix }),
    ...(said !== undefined && { content: said }),
    ...(calls !== undefined && {
      tool_calls: asObjects(calls).map((call) => {
        const called = asObject(call.function)
        const value =
          typeof called.arguments === 'string'
            ? (parseJson(called.arguments || '{}') ?? called.arguments)
            : called.arguments
        return { ...call, function: { ...called, arguments: value ?? {} } }
      }),
    }),
  }
}

/** A list of only texts as one text; other content stays. */
function joinTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  const parts = content.map((part: unknown) =>
    typeof part === 'string' ? { type: 'text', text: part } : asObject(part),
  )
  if (parts.some((part) => part.type !== undefined && part.type !== 'text')) return content
  return parts.map((part) => asString(part.text)).join('')
}

function canonicalTool(tool: JsonObject): JsonObject {
  return tool.function === undefined ? tool : { ...tool, function: withoutEmptyDescription(asObject(tool.function)) }
}

function withoutEmptyDescription({ description, ...rest }: JsonObject): JsonObject {
  return description === '' ? rest : { ...rest, description }
}

function canonicalAnthropic({ system, stream, tool_choice: choice, ...body }: JsonObject): JsonObject {
  const texts = asObjects(system).map((block) => asString(block.text))
  return {
    ...body,
    ...(stream !== false && { stream }),
    ...(system !== undefined && system !== '' && { system: typeof system === 'string' ? system : texts.join('\n\n') }),
    ...(asObject(choice).type !== 'auto' && { tool_choice: choice }),
    messages: mergeTurns(asObjects(body.messages).map(canonicalClaudeTurn), 'content'),
    ...(body.tools !== undefined && { tools: asObjects(body.tools).map(canonicalClaudeTool) }),
  }
}

function canonicalClaudeTurn({ role, content }: JsonObject): JsonObject {
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : asObjects(content).map(withoutCacheMark)
  return {
    role,
    content: blocks.map((block) =>
      block.type === 'tool_result' ? { ...block, content: joinTexts(block.content) } : block,
    ),
  }
}

function canonicalClaudeTool({ type, ...tool }: JsonObject): JsonObject {
  return { ...withoutEmptyDescription(withoutCacheMark(tool)), ...(type !== 'custom' && { type }) }
}

function withoutCacheMark({ cache_control: _mark, ...block }: JsonObject): JsonObject {
  return block
}

function canonicalBedrock({ messages, system, toolConfig, ...body }: JsonObject): JsonObject {
  const { tools, toolChoice, ...rest } = asObject(toolConfig)
  const specified = asObjects(tools).filter((tool) => tool.cachePoint === undefined)
  return {
    ...body,
    system: asObjects(system).filter((block) => block.cachePoint === undefined),
    messages: mergeTurns(
      asObjects(messages).map(({ role, content }) => ({
        role,
        content: asObjects(content).filter((block) => block.cachePoint === undefined),
      })),
      'content',
    ),
    toolConfig: {
      ...rest,
      tools: specified.map(({ toolSpec, ...tool }) => ({
        ...tool,
        toolSpec: withoutEmptyDescription(asObject(toolSpec)),
      })),
      ...(asObject(toolChoice).auto === undefined && { toolChoice }),
    },
  }
}

function canonicalGemini(source: JsonObject): JsonObject {
  const { contents, systemInstruction, tools, requests, content, model, generationConfig, ...body } = asObject(
    camelCase(source),
  )
  if (content !== undefined) return { requests: [{ model, content, ...body }] }
  return {
    ...body,
    model,
    requests,
    generationConfig: canonicalGenerationConfig(asObject(generationConfig)),
    ...(systemInstruction !== undefined && {
      systemInstruction: {
        parts:
          typeof systemInstruction === 'string' ? [{ text: systemInstruction }] : asObject(systemInstruction).parts,
      },
    }),
    ...(contents !== undefined && {
      contents: mergeTurns(
        (typeof contents === 'string'
          ? [{ parts: [{ text: contents }] }]
          : asObjects(Array.isArray(contents) ? contents : [contents])
        ).map(({ role, parts }) => ({
          role: role === undefined || role === 'function' ? 'user' : role,
          parts: asObjects(Array.isArray(parts) ? parts : [parts]).map(canonicalPart),
        })),
        'parts',
      ),
    }),
    ...(tools !== undefined && { tools: asObjects(Array.isArray(tools) ? tools : [tools]).map(canonicalGeminiTool) }),
  }
}

/** A call without arguments has an empty object of them, and one without an id has none. */
function canonicalPart({ functionCall, functionResponse, ...part }: JsonObject): JsonObject {
  const withoutBlankId = ({ id, ...rest }: JsonObject) => (id === '' ? rest : { ...rest, id })
  return {
    ...part,
    ...(functionCall !== undefined && {
      functionCall: { ...withoutBlankId(asObject(functionCall)), args: asObject(asObject(functionCall).args) },
    }),
    ...(functionResponse !== undefined && { functionResponse: withoutBlankId(asObject(functionResponse)) }),
  }
}

function canonicalGenerationConfig({
  responseModalities: modalities,
  thinkingConfig,
  ...config
}: JsonObject): JsonObject {
  const { thinkingLevel: level, ...thinking } = asObject(thinkingConfig)
  return {
    ...config,
    ...(JSON.stringify(modalities) !== '["TEXT"]' && { responseModalities: modalities }),
    thinkingConfig: { ...thinking, thinkingLevel: typeof level === 'string' ? level.toLowerCase() : level },
  }
}

function canonicalGeminiTool({ functionDeclarations, ...tool }: JsonObject): JsonObject {
  const declarations = asObjects(functionDeclarations).map(({ parameters, parametersJsonSchema, ...declared }) => ({
    ...withoutEmptyDescription(declared),
    schema: plainSchema(parametersJsonSchema ?? parameters),
  }))
  return { ...tool, functionDeclarations: declarations }
}

/** The common part of both dialects: Google writes OpenAPI's types in upper case and has no `additionalProperties`. */
function plainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => name !== 'additionalProperties' && name !== '$schema')
      .map(([name, member]) => [
        name,
        name === 'type' && typeof member === 'string' ? member.toLowerCase() : plainSchema(member),
      ]),
  )
}

/** Names of protocol buffer fields; names that clients choose (schemas, arguments, results) stay. */
function camelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      const foreign = [
        'parameters',
        'parametersJsonSchema',
        'responseSchema',
        'responseJsonSchema',
        'args',
        'response',
      ].includes(camel)
      return [camel, foreign ? member : camelCase(member)]
    }),
  )
}

/** Adjacent turns of one role as one turn, adjacent texts in it as one text. */
function mergeTurns(turns: JsonObject[], list: 'content' | 'parts'): JsonObject[] {
  const merged: { role: unknown; blocks: JsonObject[] }[] = []
  for (const turn of turns) {
    const blocks = asObjects(turn[list])
    const last = merged.at(-1)
    if (last && last.role === turn.role) last.blocks.push(...blocks)
    else merged.push({ role: turn.role, blocks: [...blocks] })
  }
  return merged.map(({ role, blocks }) => ({ role, [list]: mergeTexts(resultsFirst(blocks)) }))
}

function resultsFirst(blocks: JsonObject[]): JsonObject[] {
  const isResult = (block: JsonObject) =>
    block.type === 'tool_result' || block.toolResult !== undefined || block.functionResponse !== undefined
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))]
}

function mergeTexts(blocks: JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = []
  for (const block of blocks) {
    const last = merged.at(-1)
    if (last && isText(last) && isText(block))
      merged[merged.length - 1] = { ...last, text: `${String(last.text)}${String(block.text)}` }
    else merged.push(block)
  }
  return merged
}

/** A text and nothing else: Gemini's thoughts are texts with a flag. */
const isText = (block: JsonObject) =>
  typeof block.text === 'string' &&
  Object.keys(block).every((name) => name === 'text' || (name === 'type' && block.type === 'text'))
