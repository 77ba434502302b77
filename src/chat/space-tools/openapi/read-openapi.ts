import { parseDocument } from 'yaml'
import { spaceToolLimits, type StoredTool } from '../../../contract/space-tools.ts'
import { isObject } from '../../../platform/kernel/index.ts'
import { cleanText } from '../bounded-body.ts'
import { readSchema, resolveReference } from '../read-schema.ts'
import type { ReadTools } from '../tool-server.ts'
import { uniqueName } from '../tool-names.ts'

/**
 * Reads the operations of an OpenAPI file, version 3.0 or 3.1 (https://spec.openapis.org/oas/v3.1.1.html). The general parsers of such files copy every
 * reference into its place, also those to other files and addresses; this one follows local references of the operations only, and bounds
 * what it makes. It runs in a thread: see openapi-thread.ts.
 */

type Json = Record<string, unknown>
type Request = NonNullable<StoredTool['request']>

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
/** Aliases of YAML that are followed; more multiply into values without end. */
const maximumAliases = 100
const maximumParameters = 50

/** `no_file`: neither JSON nor YAML with an object. `version`: no OpenAPI file, or one of another version. */
export type OpenapiProblem = 'no_file' | 'version'

export function readOpenapi(text: string): ReadTools | { problem: OpenapiProblem } {
  const root = parse(text)
  if (!isObject(root)) return { problem: 'no_file' }
  const version = root['openapi']
  if (typeof version !== 'string' || !/^3\.[01](?:\.|$)/.test(version)) return { problem: 'version' }
  const tools: StoredTool[] = []
  const names = new Set<string>()
  let isComplete = true
  let characters = 0
  for (const { path, method, shared, operation } of operationsOf(root)) {
    const tool = readOperation(root, { path, method, shared, operation }, names)
    characters += JSON.stringify(tool).length
    if (tools.length >= spaceToolLimits.toolsPerServer || characters > spaceToolLimits.serverCharacters) {
      isComplete = false
      break
    }
    tools.push(tool)
  }
  const { info } = root
  return { title: isObject(info) ? textOf(info['title'], 200) || null : null, url: addressOf(root), tools, isComplete }
}

function parse(text: string): unknown {
  try {
    if (text.trimStart().startsWith('{')) return JSON.parse(text)
    const read = parseDocument(text, { logLevel: 'silent', uniqueKeys: false, prettyErrors: false })
    return read.errors.length > 0 ? undefined : read.toJS({ maxAliasCount: maximumAliases })
  } catch {
    return undefined
  }
}

interface Operation {
  path: string
  method: (typeof methods)[number]
  /** Parameters of all operations of the path. */
  shared: unknown
  operation: Json
}

function* operationsOf({ paths }: Json): Generator<Operation> {
  if (!isObject(paths)) return
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith('/') || path.length > 2_000 || !isObject(item)) continue
    for (const method of methods) {
      const operation = item[method]
      if (isObject(operation)) yield { path, method, shared: item['parameters'], operation }
    }
  }
}

function readOperation(root: Json, { path, method, shared, operation }: Operation, names: Set<string>): StoredTool {
  const name = uniqueName(textOf(operation['operationId'], 200) || `${method}_${path}`, spaceToolLimits.toolName, names)
  const description = [textOf(operation['summary'], 300), textOf(operation['description'], 1_000)]
    .filter((part) => part !== '')
    .join('. ')
    .slice(0, spaceToolLimits.description)
    .toWellFormed()
  const fixed = { name, description, changesData: method !== 'get' }
  const unusable = (problem: StoredTool['problem']) => ({ ...fixed, parameters: { type: 'object' }, problem })
  const given = [...listOf(shared), ...listOf(operation['parameters'])].map((one) => follow(root, one)).filter(isObject)
  const body = bodyOf(root, operation)
  if (given.length > maximumParameters || body === 'unsupported') return unusable('unsupported')
  const read = readParameters(given)
  if (!read) return unusable('unsupported')
  const properties: Json = {}
  for (const { parameter, source } of read) {
    const text = textOf(source['description'], 300)
    properties[parameter.argument] = {
      ...(isObject(source['schema']) ? source['schema'] : { type: 'string' }),
      ...(text && { description: text }),
    }
  }
  if (body) properties['body'] = body.schema
  const required = read.filter(({ parameter }) => parameter.required).map(({ parameter }) => parameter.argument)
  if (body?.isRequired) required.push('body')
  const parameters = readSchema({ type: 'object', properties, required, additionalProperties: false }, root)
  if (!parameters) return unusable('too_large')
  const request: Request = {
    method,
    path,
    parameters: read.map(({ parameter }) => parameter),
    body: body ? (body.isRequired ? 'required' : 'optional') : 'none',
  }
  return { ...fixed, parameters, problem: null, request }
}

/** Those of an operation replace those of its path. Undefined: one that is required has a place that is not supported. */
function readParameters(given: readonly Json[]) {
  const byPlace = new Map<string, Json>()
  for (const one of given) byPlace.set(`${String(one['in'])} ${String(one['name'])}`, one)
  const names = new Set(['body'])
  const read: { parameter: Request['parameters'][number]; source: Json }[] = []
  for (const source of byPlace.values()) {
    const { name, in: place } = source
    const required = place === 'path' || source['required'] === true
    const isSupported =
      typeof name === 'string' &&
      name.length > 0 &&
      name.length <= 200 &&
      cleanText(name) === name &&
      (place === 'path' || place === 'query' || (place === 'header' && isFreeHeader(name))) &&
      source['content'] === undefined
    if (isSupported) {
      const argument = uniqueName(name, 60, names)
      read.push({ parameter: { argument, name, in: place as 'path' | 'query' | 'header', required }, source })
    } else if (required) return undefined
  }
  return read
}

/** The credential and the client set the others. OpenAPI ignores the first three as well. */
const isFreeHeader = (name: string) =>
  /^(?!(?:accept|content-type|authorization|proxy-authorization|cookie|host|connection|content-length|transfer-encoding|expect|upgrade|keep-alive|te|trailer|user-agent)$)[a-z0-9-]{1,100}$/i.test(
    name,
  )

function bodyOf(root: Json, operation: Json): { schema: unknown; isRequired: boolean } | 'unsupported' | undefined {
  const body = follow(root, operation['requestBody'])
  if (!isObject(body)) return undefined
  const isRequired = body['required'] === true
  const content = isObject(body['content']) ? body['content'] : {}
  const type = Object.keys(content).find((name) => /^application\/(?:[\w.+-]+\+)?json\b/i.test(name))
  if (type === undefined) return isRequired ? 'unsupported' : undefined
  const media = content[type]
  return { schema: (isObject(media) ? media['schema'] : undefined) ?? { type: 'object' }, isRequired }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, 200) : [])

function follow(root: Json, value: unknown): unknown {
  return isObject(value) && typeof value['$ref'] === 'string' ? resolveReference(root, value['$ref']) : value
}

function addressOf({ servers }: Json): string | null {
  const first: unknown = listOf(servers)[0]
  if (!isObject(first) || typeof first['url'] !== 'string' || first['url'].length > spaceToolLimits.url) return null
  const variables = isObject(first['variables']) ? first['variables'] : {}
  const url = first['url'].replaceAll(/\{([^{}]{1,100})\}/g, (whole: string, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
    return isObject(variable) && typeof variable['default'] === 'string' ? variable['default'] : whole
  })
  return URL.canParse(url) ? url.slice(0, spaceToolLimits.url) : null
}

const textOf = (value: unknown, characters: number): string =>
  typeof value === 'string' ? cleanText(value.slice(0, characters)).trim() : ''
