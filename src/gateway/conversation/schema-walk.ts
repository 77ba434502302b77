import { isObject } from '../../platform/kernel/index.ts'

export type JsonSchema = Record<string, unknown>

/** Deepest nesting of a schema. */
export const maximumSchemaLevels = 64
/** Objects of a schema that are read; a schema of 256 KiB has fewer than half. */
const maximumSchemaNodes = 20_000

/** A place in a schema that a provider cannot take, as a JSON pointer (RFC 6901), and why. */
export class SchemaProblem extends Error {
  readonly pointer: string

  constructor(pointer: string, reason: string) {
    super(reason)
    this.name = 'SchemaProblem'
    this.pointer = pointer
  }
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const one = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
])
const list = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'])
const named = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/**
 * A copy of a schema in which `visit` has replaced every subschema, the inner ones first. Throws SchemaProblem for a schema that is too deep or
 * too large; the client's object is not changed.
 */
export function mapSchema(schema: JsonSchema, visit: (node: JsonSchema, pointer: string) => JsonSchema): JsonSchema {
  let nodes = 0
  const map = (value: unknown, pointer: string, level: number): unknown => {
    if (!isObject(value)) return value
    if (level > maximumSchemaLevels) throw new SchemaProblem(pointer, `has more than ${maximumSchemaLevels} levels`)
    if (++nodes > maximumSchemaNodes) throw new SchemaProblem(pointer, `has more than ${maximumSchemaNodes} subschemas`)
    const copy: JsonSchema = {}
    for (const [name, member] of Object.entries(value)) {
      const at = `${pointer}/${escapePointer(name)}`
      if (Array.isArray(member) && list.has(name))
        copy[name] = member.map((entry, index) => map(entry, `${at}/${index}`, level + 1))
      else if (one.has(name)) copy[name] = map(member, at, level + 1)
      else if (named.has(name) && isObject(member)) {
        copy[name] = Object.fromEntries(
          Object.entries(member).map(([key, entry]) => [key, map(entry, `${at}/${escapePointer(key)}`, level + 1)]),
        )
      } else copy[name] = member
    }
    return visit(copy, pointer)
  }
  return map(schema, '', 1) as JsonSchema
}

export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The subschema that a local reference names; undefined if there is none. */
export function resolveReference(root: JsonSchema, reference: unknown): JsonSchema | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined
  let place: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = decodeStep(step)
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return undefined
    place = (place as Record<string, unknown>)[name]
  }
  return isObject(place) ? place : undefined
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}
