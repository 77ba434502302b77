import { type HostedToolKind, isObject } from '../../../platform/kernel/index.ts'
import type { CacheMark } from '../../conversation/index.ts'
import type {
  HostedTool,
  HostedToolLimits,
  ProviderRequest,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
} from '../../providers/index.ts'
import {
  containersPerAnswer,
  type FieldPath,
  invalid,
  isPresent,
  limitsOfCalls,
  readChoice,
  readList,
  readName,
  readObject,
  readSchema,
  readText,
  readToolName,
  requestLimits,
  unsupported,
  usualToolCalls,
} from '../limits.ts'
import { searchForms, type WebSearch } from '../web-search.ts'

export type ToolFields = Pick<
  ProviderRequest,
  'tools' | 'toolChoice' | 'hostedTools' | 'hostedLimits' | 'responseFormat'
>

export interface ParsedTools extends ToolFields {
  /** The request has the older `functions`; the answer then has `function_call`. */
  isLegacy: boolean
  /** Fields without effect. */
  ignored: string[]
}

type Body = Record<string, unknown>

/** Tools, their choice, and the form of the answer. Throws AppError with the field. */
export function parseTools(body: Body): ParsedTools {
  const ignored: string[] = []
  const hasTools = isPresent(body.tools)
  if (hasTools && isPresent(body.functions)) throw invalid(['functions'], 'must not be combined with `tools`')
  const isLegacy = !hasTools && isPresent(body.functions)
  const field = isLegacy ? 'functions' : 'tools'
  const hostedTools: HostedTool[] = !isPresent(body.web_search_options) ? [] : [readWebSearch(body.web_search_options)]
  const tools = !isPresent(body[field]) ? [] : readTools(body[field], field, hostedTools)
  if (tools.length === 0 && hostedTools.length === 0 && isPresent(body[field])) ignored.push(field)
  const choiceField = isLegacy ? 'function_call' : 'tool_choice'
  const unused = isLegacy ? 'tool_choice' : 'function_call'
  if (isPresent(body[unused])) ignored.push(unused)
  const chosen = !isPresent(body[choiceField]) ? {} : readToolChoice(body[choiceField], [choiceField], tools)
  if (tools.length === 0 && chosen.toolChoice !== undefined) {
    if (chosen.toolChoice !== 'none' && chosen.toolChoice !== 'auto')
      throw invalid([choiceField], `needs tools; leave it out or send \`${field}\``)
    ignored.push(choiceField)
    delete chosen.toolChoice
  }
  const responseFormat = readResponseFormat(body.response_format)
  return {
    ...(tools.length > 0 && { tools: chosen.tools ?? tools }),
    ...(chosen.toolChoice !== undefined && { toolChoice: chosen.toolChoice }),
    ...(hostedTools.length > 0 && { hostedTools, hostedLimits: limitsOf(hostedTools) }),
    ...(responseFormat && { responseFormat }),
    isLegacy,
    ignored,
  }
}

/** Those that the client runs; the others are added to `hostedTools`. */
function readTools(value: unknown, field: 'tools' | 'functions', hostedTools: HostedTool[]): ToolDefinition[] {
  const names = new Set<string>()
  return readList(value, [field], requestLimits.tools).flatMap((entry, index) => {
    const path = [field, index]
    const hosted = field === 'tools' && isObject(entry) ? readGeminiTool(entry, path) : undefined
    if (hosted) {
      hostedTools.push(hosted)
      return []
    }
    const read = field === 'functions' ? readFunction(entry, path) : readTool(entry, path)
    if (names.has(read.name)) throw invalid([...path, 'name'], `repeats the name of another tool`)
    names.add(read.name)
    return read
  })
}

function readTool(value: unknown, path: FieldPath): ToolDefinition {
  const tool = readObject(value, path)
  if (tool.type !== 'function') {
    const type = readName(tool.type, [...path, 'type'])
    throw unsupported([...path, 'type'], `tools of the type \`${type}\` are not supported; send \`"function"\``)
  }
  const cache = readCacheMark(tool.cache_control, [...path, 'cache_control'])
  return { ...readFunction(tool.function, [...path, 'function']), ...(cache && { cache }) }
}

function readFunction(value: unknown, path: FieldPath): ToolDefinition {
  const { name, description, parameters, strict } = readObject(value, path)
  if (isPresent(strict) && typeof strict !== 'boolean') throw invalid([...path, 'strict'], 'must be true or false')
  return {
    name: readToolName(name, [...path, 'name']),
    ...(isPresent(description) && { description: readText(description, [...path, 'description']) }),
    parameters: !isPresent(parameters)
      ? { type: 'object', properties: {} }
      : readSchema(parameters, [...path, 'parameters']),
    ...(typeof strict === 'boolean' && { strict }),
  }
}

/** `{"type": "ephemeral"}` of a message, a part or a tool; undefined if absent. */
export function readCacheMark(value: unknown, path: FieldPath): CacheMark | undefined {
  if (!isPresent(value)) return undefined
  const { type, ttl } = readObject(value, path)
  readChoice(type, [...path, 'type'], ['ephemeral'])
  return !isPresent(ttl) ? {} : { ttl: readChoice(ttl, [...path, 'ttl'], ['5m', '1h']) }
}

/** `tools`: those that a choice of allowed tools leaves. */
function readToolChoice(
  value: unknown,
  path: FieldPath,
  tools: readonly ToolDefinition[],
): { toolChoice?: ToolChoice; tools?: ToolDefinition[] } {
  // Mistral's word.
  if (value === 'any') return { toolChoice: 'required' }
  if (typeof value === 'string') return { toolChoice: readChoice(value, path, ['none', 'auto', 'required']) }
  const choice = readObject(value, path)
  if (choice.type === 'allowed_tools') return readAllowed(choice, path, tools)
  if (choice.type === 'function' || (choice.type === undefined && path[0] === 'function_call')) {
    const isNested = choice.type === 'function'
    const at = isNested ? [...path, 'function', 'name'] : [...path, 'name']
    const name = readToolName(isNested ? readObject(choice.function, [...path, 'function']).name : choice.name, at)
    assertKnown(name, at, tools)
    return { toolChoice: { name } }
  }
  throw unsupported([...path, 'type'], 'must be `"function"` or `"allowed_tools"`')
}

function readAllowed(choice: Body, path: FieldPath, tools: readonly ToolDefinition[]) {
  const at = [...path, 'allowed_tools']
  const { mode, tools: allowed } = readObject(choice.allowed_tools, at)
  const names = new Set(
    readList(allowed, [...at, 'tools'], requestLimits.tools).map((entry, index) => {
      const where = [...at, 'tools', index]
      const tool = readObject(entry, where)
      const name = readToolName(isObject(tool.function) ? tool.function.name : tool.name, [
        ...where,
        'function',
        'name',
      ])
      assertKnown(name, [...where, 'function', 'name'], tools)
      return name
    }),
  )
  return {
    toolChoice: readChoice(mode, [...at, 'mode'], ['auto', 'required']),
    tools: tools.filter(({ name }) => names.has(name)),
  }
}

function assertKnown(name: string, path: FieldPath, tools: readonly ToolDefinition[]) {
  if (!tools.some((tool) => tool.name === name)) throw invalid(path, 'names a tool that the request does not have')
}

/** The search of OpenAI's Responses API, which has the same settings, or that of another provider. */
function readWebSearch(value: unknown): HostedTool {
  const path = ['web_search_options']
  const { search_context_size: size, user_location: location } = readSchema(value, path)
  const definition: Record<string, unknown> = { type: 'web_search' }
  if (isPresent(size))
    definition.search_context_size = readChoice(size, [...path, 'search_context_size'], ['low', 'medium', 'high'])
  const search: WebSearch = { uses: usualToolCalls }
  if (isPresent(location)) {
    const at = [...path, 'user_location']
    const { approximate } = readObject(location, at)
    search.location = { type: 'approximate', ...readObject(approximate, [...at, 'approximate']) }
    definition.user_location = search.location
  }
  return {
    family: 'openai',
    kind: 'web_search',
    type: 'web_search',
    definition,
    ...searchForms('openai', search),
  }
}

/** Searches of OpenAI have a limit that is sent. */
function limitsOf(hostedTools: readonly HostedTool[]): HostedToolLimits {
  const kinds = hostedTools.map(({ kind }) => kind)
  return hostedTools.some(({ family }) => family === 'gemini')
    ? limitsOfGemini(kinds)
    : limitsOfCalls(kinds, usualToolCalls)
}

function readResponseFormat(value: unknown): ResponseFormat | undefined {
  if (!isPresent(value)) return undefined
  const path = ['response_format']
  const format = readObject(value, path)
  const type = readChoice(format.type, [...path, 'type'], ['text', 'json_object', 'json_schema'])
  if (type === 'text') return undefined
  if (type === 'json_object') return { type }
  const at = [...path, 'json_schema']
  const { name, description, schema, strict } = readObject(format.json_schema, at)
  if (isPresent(strict) && typeof strict !== 'boolean') throw invalid([...at, 'strict'], 'must be true or false')
  return {
    type,
    name: readToolName(name, [...at, 'name']),
    ...(isPresent(description) && { description: readText(description, [...at, 'description']) }),
    schema: !isPresent(schema) ? {} : readSchema(schema, [...at, 'schema']),
    ...(typeof strict === 'boolean' && { strict }),
  }
}

/** Tools that Google runs, by the names of its API and of its Python SDK; clients of the compatible API send them so. */
const tools: Readonly<Record<string, { kind: HostedToolKind; name: string }>> = {
  googleSearch: { kind: 'web_search', name: 'googleSearch' },
  google_search: { kind: 'web_search', name: 'googleSearch' },
  urlContext: { kind: 'web_fetch', name: 'urlContext' },
  url_context: { kind: 'web_fetch', name: 'urlContext' },
  codeExecution: { kind: 'code_execution', name: 'codeExecution' },
  code_execution: { kind: 'code_execution', name: 'codeExecution' },
}

/** `{"google_search": {}}`; undefined for other tools. Throws AppError. */
function readGeminiTool(tool: Record<string, unknown>, path: FieldPath): HostedTool | undefined {
  if (tool.type !== undefined) return undefined
  const names = Object.keys(tool)
  const known = names.find((name) => Object.hasOwn(tools, name))
  if (known === undefined) return undefined
  if (names.length > 1) throw invalid(path, 'must have one tool')
  const { kind, name } = tools[known]!
  return { family: 'gemini', kind, type: name, definition: { [name]: readSchema(tool[known], [...path, known]) } }
}

/** Pages that one request may read: https://ai.google.dev/gemini-api/docs/url-context#limitations */
const pagesPerAnswer = 20

/** What bounds the cost of such tools. Google has no field for it: uses beyond the limit are not billed. */
function limitsOfGemini(kinds: readonly HostedToolKind[]): HostedToolLimits {
  const most: Partial<Record<HostedToolKind, number>> = {
    web_search: usualToolCalls,
    web_fetch: pagesPerAnswer,
    code_execution: containersPerAnswer,
  }
  const uses = [...new Set(kinds)].map((kind) => ({ kinds: [kind], most: most[kind]! }))
  return { uses, unlimited: [], rounds: usualToolCalls }
}
