import { findJsonProblem } from '../../ui/json-text.ts'

/** What a person writes into the editors of the playground, read and checked before it is sent. */

export interface ToolDefinition {
  type: 'function'
  function: {
    name: string
    description?: string
    parameters?: Record<string, unknown>
    strict?: boolean
  }
}

export type JsonProblem =
  | { what: 'syntax'; line: number; column: number }
  | { what: 'notObject' | 'notList' | 'type' | 'name' | 'sameName' | 'unknown' | 'notText' | 'notFlag'; place: string }
  | { what: 'tooMany' | 'tooLarge'; limit: number }

export type Read<Value> = { value: Value } | { problem: JsonProblem }

/** `requestLimits` of src/gateway/apis/limits.ts; a test compares them. */
export const definitionLimits = { tools: 1_000, toolNameCharacters: 128, schemaBytes: 256 * 1024 }

const namePattern = new RegExp(`^[A-Za-z0-9_.:-]{1,${definitionLimits.toolNameCharacters}}$`)
const fields = ['name', 'description', 'parameters', 'strict']

/** A list of functions in the form of chat completions, or without its frame: `[{"name", "description", "parameters"}]`. */
export function readTools(text: string): Read<ToolDefinition[]> {
  const read = readJson(text)
  if ('problem' in read) return read
  const { value } = read
  if (!Array.isArray(value)) return { problem: { what: 'notList', place: '' } }
  if (value.length > definitionLimits.tools) return { problem: { what: 'tooMany', limit: definitionLimits.tools } }
  const tools: ToolDefinition[] = []
  const names = new Set<string>()
  for (const [index, entry] of value.entries()) {
    const tool = readTool(entry, `tools[${index}]`)
    if ('problem' in tool) return tool
    const { name } = tool.value.function
    if (names.has(name)) return { problem: { what: 'sameName', place: `tools[${index}]: ${name}` } }
    names.add(name)
    tools.push(tool.value)
  }
  return { value: tools }
}

function readTool(entry: unknown, place: string): Read<ToolDefinition> {
  if (!isRecord(entry)) return { problem: { what: 'notObject', place } }
  if ('type' in entry && entry.type !== 'function') return { problem: { what: 'type', place: `${place}.type` } }
  const isFramed = 'function' in entry
  const inner = isFramed ? entry.function : Object.fromEntries(Object.entries(entry).filter(([key]) => key !== 'type'))
  const at = isFramed ? `${place}.function` : place
  if (!isRecord(inner)) return { problem: { what: 'notObject', place: at } }
  const unknown = Object.keys(inner).find((key) => !fields.includes(key))
  if (unknown !== undefined) return { problem: { what: 'unknown', place: `${at}.${unknown}` } }
  const { name, description, parameters, strict } = inner
  if (typeof name !== 'string' || !namePattern.test(name)) return { problem: { what: 'name', place: `${at}.name` } }
  if (description !== undefined && typeof description !== 'string')
    return { problem: { what: 'notText', place: `${at}.description` } }
  if (strict !== undefined && typeof strict !== 'boolean')
    return { problem: { what: 'notFlag', place: `${at}.strict` } }
  if (parameters !== undefined && !isRecord(parameters))
    return { problem: { what: 'notObject', place: `${at}.parameters` } }
  return { value: { type: 'function', function: inner as ToolDefinition['function'] } }
}

/** A JSON Schema: what its keywords mean is the provider's matter. */
export function readSchema(text: string): Read<Record<string, unknown>> {
  const read = readJson(text)
  if ('problem' in read) return read
  const { value } = read
  if (!isRecord(value)) return { problem: { what: 'notObject', place: 'schema' } }
  const limit = definitionLimits.schemaBytes
  return new TextEncoder().encode(JSON.stringify(value)).length > limit
    ? { problem: { what: 'tooLarge', limit } }
    : { value }
}

function readJson(text: string): Read<unknown> {
  const place = findJsonProblem(text)
  return place ? { problem: { what: 'syntax', ...place } } : { value: JSON.parse(text) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
