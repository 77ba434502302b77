import type { z } from 'zod'
import { quickReader } from '../../contract/quick-reader.ts'
import { readFields, sentence } from '../../contract/validation.ts'
import { maximumCharactersPerMessage } from '../../contract/gateway.ts'
import { countCharacters, JsonText } from '../../platform/bodies/index.ts'
import { AppError, type HostedToolKind, isObject, publicNetworks, invalidField } from '../../platform/kernel/index.ts'
import type { HostedTool, HostedToolLimits } from '../providers/index.ts'
import { type PromptText } from '../conversation/index.ts'

/** Bounds that the client APIs of version 2 share. They limit memory and time of one request, and no known client reaches them. */
export const requestLimits = {
  messages: 1_024,
  partsPerMessage: 1_024,
  tools: 1_000,
  /** Images of one request, in all messages together. */
  images: 100,
  /** Of one schema, as JSON. */
  schemaBytes: 256 * 1024,
  schemaLevels: 64,
  toolNameCharacters: 128,
  callIdCharacters: 512,
  /** Decoded bytes of one image, file or recording. */
  mediaBytes: 20 * 1024 * 1024,
  urlCharacters: 8_192,
  /** Short words and names, such as a model's or a file's. */
  nameCharacters: 256,
} as const

/** Nesting of a whole body: that of a schema, and of the fields around it. */
export const maximumBodyDepth = requestLimits.schemaLevels + 16

export type FieldPath = readonly (string | number)[]

/** `messages[3].tool_call_id` */
export function fieldName(path: FieldPath): string {
  let name = ''
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`
    else name += name === '' ? part : `.${part}`
  }
  return name
}

/** `words` continue a sentence that begins with the field: `must be a string`. */
export function invalid(path: FieldPath, words: string): AppError {
  const param = fieldName(path)
  return invalidField(param, `\`${param}\` ${words}.`)
}

/** A field or a value that exists in the client API and that Portico does not offer; `why` names what to send instead. */
export function unsupported(path: FieldPath, why: string): AppError {
  const param = fieldName(path)
  return new AppError('unsupported_parameter', `\`${param}\`: ${why}.`, { param })
}

export function nameOfType(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'absent'
  if (Array.isArray(value)) return 'an array'
  return { string: 'a string', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'an object'
}

export function readObject(value: unknown, path: FieldPath): Record<string, unknown> {
  if (!isObject(value)) throw invalid(path, `must be a JSON object, not ${nameOfType(value)}`)
  return value
}

/** A reader of the fields of a body that have a schema. It throws with the field. */
export function settingsReader<Schema extends z.ZodObject>(schema: Schema) {
  const readQuickly = quickReader(schema)
  return (body: Record<string, unknown>): z.output<Schema> => {
    const settings = readQuickly(body)
    if (settings !== undefined) return settings
    const read = readFields(schema, body)
    if ('value' in read) return read.value
    const param = read.problem.param.replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]')
    throw invalidField(param, sentence(`\`${param}\``, read.problem.words))
  }
}

export function readText(value: unknown, path: FieldPath): string {
  if (typeof value !== 'string') throw invalid(path, `must be a string, not ${nameOfType(value)}`)
  return value
}

/** A text with at least one character. */
export function readName(value: unknown, path: FieldPath, maximumCharacters: number = requestLimits.nameCharacters) {
  const text = readText(value, path)
  if (text === '') throw invalid(path, 'must not be empty')
  if (text.length > maximumCharacters) throw invalid(path, `must have at most ${maximumCharacters} characters`)
  return text
}

const publicInternet = publicNetworks()
/** Names of the machine that resolves them (RFC 6761). */
const ownName = /(^|\.)localhost\.?$/i

/**
 * Whether a provider would connect to its own machine or network, which may be the operator's. Names are judged where the request is
 * answered (given-addresses.ts).
 */
export function isOutsideInternet({ hostname }: URL): boolean {
  return ownName.test(hostname) || publicInternet.hostRefusal(hostname) !== undefined
}

/** The address of a server that a provider calls. */
export function readServer(value: unknown, path: FieldPath): NonNullable<HostedTool['server']> {
  const text = readName(value, path, requestLimits.urlCharacters)
  const url = /^https:\/\//i.test(text) ? URL.parse(text) : null
  if (!url) throw invalid(path, 'must be an address that begins with https://')
  if (isOutsideInternet(url)) throw invalid(path, 'must be an address of the public internet')
  return { url: text, field: fieldName(path) }
}

export function readList(value: unknown, path: FieldPath, maximumItems: number): unknown[] {
  if (!Array.isArray(value)) throw invalid(path, `must be an array, not ${nameOfType(value)}`)
  if (value.length > maximumItems) throw invalid(path, `must have at most ${maximumItems} entries`)
  return value
}

export function readChoice<const Choice extends string>(
  value: unknown,
  path: FieldPath,
  choices: readonly Choice[],
): Choice {
  if (!choices.includes(value as Choice)) {
    throw invalid(path, `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`)
  }
  return value as Choice
}

const toolName = /^[A-Za-z0-9_.:-]+$/

export function readToolName(value: unknown, path: FieldPath): string {
  const name = readName(value, path, requestLimits.toolNameCharacters)
  if (!toolName.test(name)) throw invalid(path, 'must have letters, digits, `_`, `-`, `.` and `:` only')
  return name
}

/** A JSON Schema: an object of bounded size and nesting. Its keywords are the provider's matter. */
export function readSchema(value: unknown, path: FieldPath): Record<string, unknown> {
  const schema = readOpaque(value, path)
  const { schemaBytes } = requestLimits
  if (roomAfter(schema, schemaBytes) < 0 && Buffer.byteLength(JSON.stringify(schema)) > schemaBytes)
    throw invalid(path, `must have at most ${schemaBytes} bytes as JSON`)
  return schema
}

/** Bytes of the longest form of a UTF-16 unit in JSON, and of a number or a word with its sign. */
const unitBytes = 6
const scalarBytes = 30

/** What is left of so many bytes after the JSON of a value, at least; below 0: it may not fit. */
function roomAfter(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - unitBytes * value.length - 3
  let left = bytes - scalarBytes
  if (typeof value !== 'object' || value === null) return left
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) left = roomAfter(value[index], left - 1)
    return left
  }
  for (const name in value) {
    left = roomAfter((value as Record<string, unknown>)[name], left - unitBytes * name.length - 4)
    if (left < 0) break
  }
  return left
}

/** An object of the client whose members are the provider's matter, of bounded nesting. */
export function readOpaque(value: unknown, path: FieldPath): Record<string, unknown> {
  const opaque = readObject(value, path)
  if (nestingOf(opaque, requestLimits.schemaLevels) > requestLimits.schemaLevels)
    throw invalid(path, `must be nested at most ${requestLimits.schemaLevels} levels deep`)
  return opaque
}

/** Levels of arrays and objects, at most one above `most`. A text kept as bytes is a text: its bytes are not visited. */
export function nestingOf(value: unknown, most: number): number {
  return Math.max(1, levelsOf(value, most))
}

/** The recursion ends with `most`. */
function levelsOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null || value instanceof JsonText) return 0
  if (most === 0) return 1
  let deepest = 0
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && deepest < most; index++)
      deepest = Math.max(deepest, levelsOf(value[index], most - 1))
  } else {
    for (const name in value) {
      deepest = Math.max(deepest, levelsOf((value as Record<string, unknown>)[name], most - 1))
      if (deepest === most) break
    }
  }
  return deepest + 1
}

/** As in the compatible API, null counts as absent. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Throws with the field if it is no text. */
export function readPromptText(value: unknown, path: FieldPath): PromptText {
  return value instanceof JsonText ? value : readText(value, path)
}

/** The limit of version 1 for the texts of one message together. Throws with the field. */
export function assertCharacters(texts: readonly (string | JsonText)[], path: FieldPath): void {
  const most = texts.reduce((sum, text) => sum + (typeof text === 'string' ? text.length : text.maximumCharacters), 0)
  if (most <= maximumCharactersPerMessage) return
  if (texts.reduce((sum, text) => sum + countCharacters(text.toString()), 0) > maximumCharactersPerMessage)
    throw invalid(path, `must have at most ${maximumCharactersPerMessage} characters`)
}

/**
 * Checks that tool calls and their results belong together: each id is called once and answered once, after its call and before the next
 * turn of the user or the model. Providers reject other conversations, each in different words.
 */
export function createCallLinks() {
  const seen = new Set<string>()
  /** Calls without a result yet, with their fields. */
  const open = new Map<string, FieldPath>()
  return {
    /** For a call of a host without ids. */
    newId: () => `call_${seen.size + 1}`,
    called(id: string, path: FieldPath): void {
      if (seen.has(id)) throw invalid(path, 'repeats the id of another tool call; each call needs its own id')
      seen.add(id)
      open.set(id, path)
    },
    answered(id: string, path: FieldPath): void {
      if (open.delete(id)) return
      if (seen.has(id)) throw invalid(path, 'names a tool call that already has a result')
      throw invalid(path, 'names no tool call of the assistant turn before it')
    },
    /** The id of the oldest call without a result, for a result without an id. */
    answeredNext(path: FieldPath): string {
      const [id] = open.keys()
      if (id === undefined) throw invalid(path, 'is required: the id of the tool call that this message answers')
      open.delete(id)
      return id
    },
    /** Called before a turn that is no tool result, and at the end. */
    assertAnswered(): void {
      for (const path of open.values()) {
        throw invalid(path, 'names a tool call without a result; a result for each call must follow')
      }
    },
  }
}

export type CallLinks = ReturnType<typeof createCallLinks>

/** The limit of calls that is sent if the client has none. */
export const usualToolCalls = 10
/** The code of one answer runs in one container. */
export const containersPerAnswer = 1

/**
 * Bounds of a request to the Responses API with a limit of calls, which holds for all its tools together. Calls beyond it are ignored, so
 * the model reads the prompt once more than it has calls: https://platform.openai.com/docs/api-reference/responses/create
 */
export function limitsOfCalls(kinds: readonly HostedToolKind[], maxToolCalls: number): HostedToolLimits {
  const counted = [...new Set(kinds)].filter((kind) => kind !== 'code_execution')
  return {
    uses: [
      ...(counted.length > 0 ? [{ kinds: counted, most: maxToolCalls }] : []),
      ...(kinds.includes('code_execution') ? [{ kinds: ['code_execution' as const], most: containersPerAnswer }] : []),
    ],
    unlimited: [],
    rounds: maxToolCalls + 1,
    maxToolCalls,
  }
}
