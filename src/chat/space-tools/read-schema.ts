import { isObject } from '../../platform/kernel/index.ts'
import { spaceToolLimits } from '../../contract/space-tools.ts'
import { cleanText } from './bounded-body.ts'

/**
 * Copies a JSON schema from a server or a file: only keywords that models use, with local references in place of their targets. Its size is bounded,
 * also where references repeat each other. Where it is too large, inner parts become `{}`, which accepts anything; then
 * it loses its descriptions.
 */

type Schema = Record<string, unknown>

/** Keywords whose values are copied as they are. */
const plainKeywords = [
  'type',
  'format',
  'pattern',
  'title',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
]
const countKeywords = ['minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'multipleOf']
const listKeywords = ['anyOf', 'oneOf', 'allOf']
/** Values of enums; models need no more. */
const maximumValues = 100
const maximumText = 500
/** Schemas in one schema. Each is visited once for each depth that is tried. */
const maximumSchemas = 2_000
const attempts = [
  ...[12, 6, 4, 3, 2].map((depth) => ({ depth, hasTexts: true })),
  ...[4, 2].map((depth) => ({ depth, hasTexts: false })),
]

/** Undefined: it is too large even without its inner parts. `root` has the targets of references. */
export function readSchema(schema: unknown, root: unknown): Schema | undefined {
  for (const { depth, hasTexts } of attempts) {
    const copy = new Copy(root, hasTexts).copy(schema, depth, [])
    if (JSON.stringify(copy).length <= spaceToolLimits.schema) return copy
  }
  return undefined
}

class Copy {
  private schemas = 0
  private readonly root: unknown

  /** False: without descriptions. */
  private readonly hasTexts: boolean

  constructor(root: unknown, hasTexts: boolean) {
    this.root = root
    this.hasTexts = hasTexts
  }

  /** `open`: the references that lead here; one of them again would not end. */
  copy(given: unknown, depth: number, open: readonly string[]): Schema {
    this.schemas++
    if (!isObject(given) || depth === 0 || this.schemas > maximumSchemas) return {}
    const reference = given['$ref']
    if (typeof reference === 'string') {
      if (open.includes(reference) || open.length > 20) return {}
      const target = this.copy(resolveReference(this.root, reference), depth, [...open, reference])
      return this.hasTexts && isText(given['description'])
        ? { ...target, description: shorten(given['description']) }
        : target
    }
    const copied = copyPlain(given)
    if (!this.hasTexts) delete copied['description']
    const inner = (schema: unknown) => this.copy(schema, depth - 1, open)
    if (isObject(given['properties'])) {
      copied['properties'] = Object.fromEntries(
        Object.entries(given['properties'])
          .slice(0, maximumValues)
          .map(([name, schema]) => [cleanText(name).slice(0, 100), inner(schema)]),
      )
    }
    if (isObject(given['items'])) copied['items'] = inner(given['items'])
    const { additionalProperties } = given
    if (typeof additionalProperties === 'boolean') copied['additionalProperties'] = additionalProperties
    else if (isObject(additionalProperties)) copied['additionalProperties'] = inner(additionalProperties)
    for (const keyword of listKeywords) {
      const alternatives = given[keyword]
      if (Array.isArray(alternatives)) copied[keyword] = alternatives.slice(0, 20).map(inner)
    }
    return copied
  }
}

function copyPlain(given: Schema): Schema {
  const copied: Schema = {}
  for (const keyword of [...plainKeywords, ...countKeywords]) {
    const value = given[keyword]
    // OpenAPI 3.0 has booleans for exclusive limits.
    if (typeof value === 'string') copied[keyword] = shorten(value)
    else if (typeof value === 'number' || keyword === 'uniqueItems') copied[keyword] = value
  }
  if (copied['uniqueItems'] === undefined) delete copied['uniqueItems']
  if (Array.isArray(given['type'])) copied['type'] = given['type'].filter(isText).slice(0, 7)
  else if (given['nullable'] === true && isText(given['type'])) copied['type'] = [given['type'], 'null']
  if (isText(given['description'])) copied['description'] = shorten(given['description'])
  if (Array.isArray(given['enum'])) copied['enum'] = given['enum'].slice(0, maximumValues).map(toScalar)
  for (const keyword of ['const', 'default'])
    if (given[keyword] !== undefined && !isObject(given[keyword]) && !Array.isArray(given[keyword]))
      copied[keyword] = toScalar(given[keyword])
  if (Array.isArray(given['required']))
    copied['required'] = given['required']
      .filter(isText)
      .slice(0, maximumValues)
      .map((name) => cleanText(name).slice(0, 100))
  return copied
}

const isText = (value: unknown): value is string => typeof value === 'string'
const shorten = (text: string) => cleanText(text).slice(0, maximumText).toWellFormed()
const toScalar = (value: unknown) =>
  isText(value) ? shorten(value) : typeof value === 'number' || typeof value === 'boolean' ? value : null

/** The target of a reference such as `#/components/schemas/Order`; undefined where there is none. Others than local ones are not followed. */
export function resolveReference(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#/') || reference.length > 1_000) return undefined
  let value: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const name = decodePart(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) value = value[Number(name)]
    else value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return value
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
