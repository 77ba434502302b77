import { isDeepStrictEqual } from 'node:util'

/** What a model must see of a client's body. Read from the body itself, without Portico's parsers. */
export interface BodyFact {
  kind: 'text' | 'name' | 'schema' | 'arguments' | 'media'
  value: unknown
}

type Members = Record<string, unknown>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Fields with a text, at any place of the prompt. */
const textFields = new Set(['text', 'content', 'output', 'input', 'instructions', 'system', 'refusal', 'description'])
const schemaFields = new Set(['parameters', 'input_schema', 'schema'])
const mediaFields = new Set(['data', 'file_data', 'file_url', 'image_url', 'url'])
/** Reasoning returns to the host that made it only; the tests of replay cover it. */
const reasoningTypes = new Set<unknown>(['reasoning', 'thinking', 'redacted_thinking'])

/** The facts of a body of chat completions, of Responses or of Messages. */
export function factsOf(body: Members): BodyFact[] {
  const facts: BodyFact[] = []
  for (const name of ['messages', 'input', 'instructions', 'system', 'tools', 'functions'] as const)
    readField(name, body[name], facts)
  for (const format of formatsOf(body)) if (format.schema) facts.push({ kind: 'schema', value: format.schema })
  return facts
}

function formatsOf({ response_format, text, output_config, output_format }: Members): Members[] {
  const member = (value: unknown, name: string) => (isMembers(value) ? value[name] : undefined)
  return [
    member(response_format, 'json_schema'),
    member(text, 'format'),
    member(output_config, 'format'),
    output_format,
  ].filter(isMembers)
}

function readField(name: string, value: unknown, facts: BodyFact[]): void {
  if (typeof value === 'string') return readText(name, value, facts)
  if (Array.isArray(value)) return value.forEach((entry) => readField(name, entry, facts))
  if (!isMembers(value) || reasoningTypes.has(value.type)) return
  if (schemaFields.has(name)) return void facts.push({ kind: 'schema', value })
  // The arguments of a call in the Messages API.
  if (name === 'input' && !('type' in value || 'role' in value)) return void facts.push({ kind: 'arguments', value })
  for (const [member, inner] of Object.entries(value)) {
    if (member === 'name' && 'role' in value && value.role !== 'function') continue
    if (!member.startsWith('reasoning')) readField(member, inner, facts)
  }
}

function readText(name: string, value: string, facts: BodyFact[]): void {
  if (value.trim() === '') return
  if (textFields.has(name)) facts.push({ kind: 'text', value })
  else if (name === 'name') facts.push({ kind: 'name', value })
  else if (name === 'arguments') facts.push({ kind: 'arguments', value: parsed(value) ?? value })
  else if (mediaFields.has(name)) facts.push({ kind: 'media', value: value.replace(/^data:[^,]*,/, '') })
}

/** Finds facts in the body that an adapter built. */
export function createWireIndex(body: unknown) {
  const texts: string[] = []
  const values: unknown[] = []
  const pending: unknown[] = [body]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string') {
      texts.push(value)
      const inner = parsed(value)
      if (inner !== undefined) pending.push(inner)
    } else if (typeof value === 'object' && value !== null) {
      values.push(value)
      pending.push(...Object.values(value))
    }
  }
  const hasText = (text: string) => texts.some((found) => found.includes(text))
  const hasValue = (wanted: unknown) => values.some((found) => isDeepStrictEqual(found, wanted))
  return { hasText, hasValue }
}

/** The value of a text that is a JSON object or list. */
export function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
