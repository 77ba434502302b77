import { isObject } from '../../../platform/kernel/index.ts'
import type { HostedTool, ToolChoice, ToolDefinition } from '../../providers/index.ts'
import {
  type FieldPath,
  invalid,
  isPresent,
  readChoice,
  readList,
  readObject,
  readSchema,
  readText,
  readToolName,
  requestLimits,
} from '../limits.ts'
import { hostedToolMembers, readHostedTool, refuseHosted } from './hosted-tools.ts'
import { nameUnknown, type Reading } from './reading.ts'

/** Members of a tool that are read; the others are named in `x-ignored-params`. */
export const toolMembers = ['type', 'name', 'description', 'parameters', 'strict', 'format', ...hostedToolMembers]
const ownMembers = ['type', 'name', 'description', 'parameters', 'strict', 'format'] as const

export interface ReadTools {
  tools: ToolDefinition[]
  /** Those that the provider runs. */
  hostedTools: HostedTool[]
  /** Names of the custom tools among them: the model calls them as functions with one text. */
  customTools: string[]
  toolChoice?: ToolChoice
  /** As the response object repeats them. */
  described: { tools: object[]; toolChoice: unknown }
}

/** `tools` and `tool_choice`. Throws AppError with the field. */
export function readTools(tools: unknown, choice: unknown, reading: Reading): ReadTools {
  const read: ReadTools = { tools: [], hostedTools: [], customTools: [], described: { tools: [], toolChoice: 'auto' } }
  const names = new Set<string>()
  const list = isPresent(tools) ? readList(tools, ['tools'], requestLimits.tools) : []
  for (const [index, value] of list.entries()) {
    const path = ['tools', index]
    const tool = readObject(value, path)
    const type = readText(tool.type, [...path, 'type'])
    const hosted = readHostedTool(tool, type, path)
    if (hosted) {
      addHosted(read, hosted)
      continue
    }
    if (type !== 'function' && type !== 'custom') throw refuseHosted(type, [...path, 'type'])
    const name = readToolName(tool.name, [...path, 'name'])
    if (names.has(name)) throw invalid([...path, 'name'], 'repeats the name of another tool')
    names.add(name)
    nameUnknown(tool, ownMembers, 'tools.', reading)
    if (type === 'function') addFunction(read, tool, name, path)
    else addCustom(read, tool, name, path, reading)
  }
  if (isPresent(choice)) readToolChoice(read, choice, names)
  return read
}

/** The response object repeats no secrets of servers. */
function addHosted(read: ReadTools, hosted: HostedTool): void {
  read.hostedTools.push(hosted)
  const { authorization: _authorization, headers: _headers, ...described } = hosted.definition
  read.described.tools.push(described)
}

function addFunction(read: ReadTools, tool: Record<string, unknown>, name: string, path: FieldPath): void {
  const definition: ToolDefinition = {
    name,
    parameters: isPresent(tool.parameters)
      ? readSchema(tool.parameters, [...path, 'parameters'])
      : { type: 'object', properties: {} },
  }
  const description = readDescription(tool, path)
  if (description !== undefined) definition.description = description
  const strict = readBoolean(tool.strict, [...path, 'strict'])
  if (strict !== undefined) definition.strict = strict
  read.tools.push(definition)
  read.described.tools.push({
    type: 'function',
    name,
    description: description ?? null,
    parameters: definition.parameters,
    strict: strict ?? null,
  })
}

/** Providers without such tools get a function with one text; the grammar of the text, which none of them enforces, is described. */
function addCustom(
  read: ReadTools,
  tool: Record<string, unknown>,
  name: string,
  path: FieldPath,
  { adjusted }: Reading,
): void {
  const description = readDescription(tool, path)
  const texts = description === undefined ? [] : [description]
  if (isPresent(tool.format)) {
    const at = [...path, 'format']
    const format = readObject(tool.format, at)
    if (readChoice(format.type, [...at, 'type'], ['text', 'grammar']) === 'grammar') {
      const syntax = readChoice(format.syntax, [...at, 'syntax'], ['lark', 'regex'])
      const definition = readText(format.definition, [...at, 'definition'])
      if (Buffer.byteLength(definition) > requestLimits.schemaBytes)
        throw invalid([...at, 'definition'], `must have at most ${requestLimits.schemaBytes} bytes`)
      texts.push(
        `The input must match this ${syntax === 'lark' ? 'Lark grammar' : 'regular expression'}:\n${definition}`,
      )
      adjusted.add('tools.format')
    }
  }
  read.tools.push({
    name,
    ...(texts.length > 0 && { description: texts.join('\n\n') }),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The input of the tool, as plain text.' } },
      required: ['input'],
      additionalProperties: false,
    },
  })
  read.customTools.push(name)
  read.described.tools.push({
    type: 'custom',
    name,
    ...(description !== undefined && { description }),
    ...(isPresent(tool.format) && { format: tool.format }),
  })
}

/** Arguments of a custom tool's call in the form that the model sees. */
export function customArguments(input: string): string {
  return JSON.stringify({ input })
}

/** The text of a custom tool's call. A model that ignores the schema may send it alone. */
export function customInput(argumentsJson: string): string {
  try {
    const value: unknown = JSON.parse(argumentsJson)
    if (isObject(value) && typeof value.input === 'string') return value.input
  } catch {
    // Not JSON: the text itself.
  }
  return argumentsJson
}

function readToolChoice(read: ReadTools, choice: unknown, names: ReadonlySet<string>): void {
  read.described.toolChoice = choice
  if (typeof choice === 'string') {
    setMode(read, readChoice(choice, ['tool_choice'], ['auto', 'none', 'required']), ['tool_choice'])
    return
  }
  const path = ['tool_choice']
  const object = readObject(choice, path)
  const type = readText(object.type, [...path, 'type'])
  if (type === 'function' || type === 'custom') read.toolChoice = { name: readChosen(object, path, names) }
  else if (type === 'allowed_tools') allowOnly(read, object, names)
  else throw refuseHosted(type, [...path, 'type'])
}

/** Only the allowed tools are sent: no other provider has the field. */
function allowOnly(read: ReadTools, choice: Record<string, unknown>, names: ReadonlySet<string>): void {
  const path = ['tool_choice', 'tools']
  const allowed = new Set<string>()
  for (const [index, value] of readList(choice.tools, path, requestLimits.tools).entries()) {
    const at = [...path, index]
    const tool = readObject(value, at)
    const type = readText(tool.type, [...at, 'type'])
    if (type !== 'function' && type !== 'custom') throw refuseHosted(type, [...at, 'type'])
    allowed.add(readChosen(tool, at, names))
  }
  const mode = isPresent(choice.mode)
    ? readChoice(choice.mode, ['tool_choice', 'mode'], ['auto', 'none', 'required'])
    : 'auto'
  read.tools = read.tools.filter(({ name }) => allowed.has(name))
  setMode(read, mode, path)
}

function setMode(read: ReadTools, mode: 'auto' | 'none' | 'required', path: FieldPath): void {
  if (read.tools.length > 0 || read.hostedTools.length > 0) read.toolChoice = mode
  else if (mode === 'required') throw invalid(path, 'is only allowed with tools')
}

function readChosen(choice: Record<string, unknown>, path: FieldPath, names: ReadonlySet<string>): string {
  const name = readText(choice.name, [...path, 'name'])
  if (!names.has(name)) throw invalid([...path, 'name'], 'names no tool of `tools`')
  return name
}

function readDescription(tool: Record<string, unknown>, path: FieldPath): string | undefined {
  return isPresent(tool.description) ? readText(tool.description, [...path, 'description']) : undefined
}

export function readBoolean(value: unknown, path: FieldPath): boolean | undefined {
  if (!isPresent(value)) return undefined
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false')
  return value
}
