import { isObject, lookUp } from '../../platform/kernel/index.ts'
import { escapePointer, type JsonSchema, maximumSchemaLevels, resolveReference } from './schema-walk.ts'

/** Where an answer differs from its schema, as JSON pointers. */
export interface SchemaMismatch {
  /** Place in the answer. */
  instance: string
  keyword: string
}

/** Comparisons of one check, about 20 ms. A check that needs more ends without a verdict. */
const maximumSteps = 200_000

/** No verdict: the schema takes too long, whatever the answer. */
const tooMany = Symbol('too many steps')

interface Check {
  root: JsonSchema
  steps: number
}

/**
 * The first difference of a whole answer from its schema, or null. Bounded in time and depth for every schema: patterns and formats are not
 * checked, because a client's regular expression has no bound.
 */
export function findSchemaMismatch(schema: JsonSchema, text: string): SchemaMismatch | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { instance: '', keyword: 'json' }
  }
  try {
    return mismatch(schema, value, '', { root: schema, steps: 0 }, 0)
  } catch (error) {
    if (error === tooMany) return null
    throw error
  }
}

type Verdict = SchemaMismatch | null
type Rule = (expected: unknown, value: unknown, at: string, check: Check, level: number, schema: JsonSchema) => Verdict

function mismatch(schema: unknown, value: unknown, at: string, check: Check, level: number): Verdict {
  if (++check.steps > maximumSteps) throw tooMany
  if (schema === false) return { instance: at, keyword: 'false' }
  // References to themselves end here.
  if (!isObject(schema) || level > 4 * maximumSchemaLevels) return null
  for (const keyword in schema) {
    const rule = lookUp(rules, keyword)
    const found = rule?.(schema[keyword], value, at, check, level + 1, schema)
    if (found) return found
  }
  return null
}

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  object: isObject,
  array: Array.isArray,
}

const limit =
  (
    keyword: string,
    measure: (value: unknown) => number | undefined,
    holds: (size: number, bound: number) => boolean,
  ): Rule =>
  (expected, value, at) => {
    const size = measure(value)
    return size === undefined || typeof expected !== 'number' || holds(size, expected)
      ? null
      : { instance: at, keyword }
  }
const asNumber = (value: unknown) => (typeof value === 'number' ? value : undefined)
const asLength = (value: unknown) => (typeof value === 'string' ? [...value].length : undefined)
const asItems = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const asMembers = (value: unknown) => (isObject(value) ? Object.keys(value).length : undefined)
const atLeast = (size: number, bound: number) => size >= bound
const atMost = (size: number, bound: number) => size <= bound

const rules: Readonly<Record<string, Rule>> = {
  $ref: (expected, value, at, check, level) =>
    mismatch(resolveReference(check.root, expected), value, at, check, level),
  type: (expected, value, at) => {
    const allowed = Array.isArray(expected) ? expected : [expected]
    return allowed.some((name) => !Object.hasOwn(types, String(name)) || types[String(name)]!(value))
      ? null
      : { instance: at, keyword: 'type' }
  },
  enum: (expected, value, at, check) =>
    !Array.isArray(expected) || expected.some((entry) => isSame(entry, value, check, 0))
      ? null
      : { instance: at, keyword: 'enum' },
  const: (expected, value, at, check) =>
    isSame(expected, value, check, 0) ? null : { instance: at, keyword: 'const' },
  minimum: limit('minimum', asNumber, atLeast),
  maximum: limit('maximum', asNumber, atMost),
  exclusiveMinimum: limit('exclusiveMinimum', asNumber, (size, bound) => size > bound),
  exclusiveMaximum: limit('exclusiveMaximum', asNumber, (size, bound) => size < bound),
  minLength: limit('minLength', asLength, atLeast),
  maxLength: limit('maxLength', asLength, atMost),
  minItems: limit('minItems', asItems, atLeast),
  maxItems: limit('maxItems', asItems, atMost),
  minProperties: limit('minProperties', asMembers, atLeast),
  maxProperties: limit('maxProperties', asMembers, atMost),
  required: (expected, value, at) => {
    if (!isObject(value) || !Array.isArray(expected)) return null
    const missing = expected.some((name) => typeof name === 'string' && !Object.hasOwn(value, name))
    return missing ? { instance: at, keyword: 'required' } : null
  },
  properties: (expected, value, at, check, level) => {
    if (!isObject(value) || !isObject(expected)) return null
    for (const [name, member] of Object.entries(value)) {
      if (!Object.hasOwn(expected, name)) continue
      const found = mismatch(expected[name], member, `${at}/${escapePointer(name)}`, check, level)
      if (found) return found
    }
    return null
  },
  additionalProperties: (expected, value, at, check, level, { properties, patternProperties }) => {
    if (!isObject(value) || patternProperties !== undefined) return null
    for (const [name, member] of Object.entries(value)) {
      if (isObject(properties) && Object.hasOwn(properties, name)) continue
      const found = mismatch(expected, member, `${at}/${escapePointer(name)}`, check, level)
      if (found) return expected === false ? { instance: found.instance, keyword: 'additionalProperties' } : found
    }
    return null
  },
  prefixItems: (expected, value, at, check, level) => {
    if (!Array.isArray(value) || !Array.isArray(expected)) return null
    for (const [index, item] of value.slice(0, expected.length).entries()) {
      const found = mismatch(expected[index], item, `${at}/${index}`, check, level)
      if (found) return found
    }
    return null
  },
  items: (expected, value, at, check, level, { prefixItems }) => {
    if (!Array.isArray(value) || Array.isArray(expected)) return null
    for (let index = Array.isArray(prefixItems) ? prefixItems.length : 0; index < value.length; index++) {
      const found = mismatch(expected, value[index], `${at}/${index}`, check, level)
      if (found) return found
    }
    return null
  },
  allOf: (expected, value, at, check, level) => {
    for (const part of Array.isArray(expected) ? expected : []) {
      const found = mismatch(part, value, at, check, level)
      if (found) return found
    }
    return null
  },
  anyOf: (expected, value, at, check, level) =>
    !Array.isArray(expected) || expected.some((part) => mismatch(part, value, at, check, level) === null)
      ? null
      : { instance: at, keyword: 'anyOf' },
  oneOf: (expected, value, at, check, level) => {
    if (!Array.isArray(expected)) return null
    const matching = expected.filter((part) => mismatch(part, value, at, check, level) === null)
    return matching.length === 1 ? null : { instance: at, keyword: 'oneOf' }
  },
  not: (expected, value, at, check, level) =>
    mismatch(expected, value, at, check, level) === null ? { instance: at, keyword: 'not' } : null,
}

function isSame(left: unknown, right: unknown, check: Check, level: number): boolean {
  if (++check.steps > maximumSteps) throw tooMany
  if (left === right) return true
  if (level > maximumSchemaLevels || typeof left !== 'object' || typeof right !== 'object') return false
  if (left === null || right === null || Array.isArray(left) !== Array.isArray(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every(
      (name) =>
        Object.hasOwn(right, name) && isSame((left as JsonSchema)[name], (right as JsonSchema)[name], check, level + 1),
    )
  )
}
