import { isObject } from '../../platform/kernel/index.ts'
import { type JsonSchema, mapSchema, resolveReference, SchemaProblem } from './schema-walk.ts'

/**
 * Schemas of answers in the subsets that providers accept. What a subset lacks is either left out (the gateway checks the whole answer), or
 * throws a SchemaProblem with its place.
 */

/** Every reference must name a place in the schema: nothing is fetched. */
function assertReference(root: JsonSchema, node: JsonSchema, pointer: string): void {
  if (node.$ref !== undefined && !resolveReference(root, node.$ref))
    throw new SchemaProblem(`${pointer}/$ref`, 'refers to nothing in the schema')
}

function isObjectSchema({ type, properties }: JsonSchema): boolean {
  return type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'))
}

/** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
const outsideOfStrict = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'default',
  'contains',
  'prefixItems',
  'uniqueItems',
]

/**
 * OpenAI's strict mode: objects are closed and require every property. A schema with optional or open properties is returned as it is, with
 * `isStrict` false.
 */
export function toOpenAiSchema(schema: JsonSchema): { schema: JsonSchema; isStrict: boolean } {
  let isStrict = true
  const closed = mapSchema(schema, (node, pointer) => {
    assertReference(schema, node, pointer)
    if (outsideOfStrict.some((keyword) => node[keyword] !== undefined)) isStrict = false
    if (!isObjectSchema(node)) return node
    const names = isObject(node.properties) ? Object.keys(node.properties) : []
    const required = new Set(Array.isArray(node.required) ? node.required : [])
    const isOpen = node.additionalProperties !== undefined && node.additionalProperties !== false
    if (isOpen || names.some((name) => !required.has(name))) isStrict = false
    return { ...node, additionalProperties: false }
  })
  if (schema.$ref === undefined && !isObjectSchema(schema))
    throw new SchemaProblem('/type', 'must be "object" at the root')
  return isStrict ? { schema: closed, isStrict } : { schema, isStrict }
}

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations */
const uncheckedByClaude = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'examples',
  '$schema',
  '$id',
]
const refusedByClaude = [
  'not',
  'if',
  'patternProperties',
  'propertyNames',
  'dependentSchemas',
  'dependentRequired',
  'contains',
  'prefixItems',
]

/** Claude's grammar: closed objects without recursion, at Anthropic and on Bedrock. */
export function toClaudeSchema(schema: JsonSchema): JsonSchema {
  assertNoCycle(schema)
  return mapSchema(schema, (node, pointer) => {
    assertReference(schema, node, pointer)
    for (const keyword of refusedByClaude) {
      if (node[keyword] !== undefined)
        throw new SchemaProblem(`${pointer}/${keyword}`, 'is not supported by the provider')
    }
    if (node.additionalProperties !== undefined && node.additionalProperties !== false)
      throw new SchemaProblem(`${pointer}/additionalProperties`, 'must be false for this provider')
    const kept = omit(node, uncheckedByClaude)
    if (typeof kept.minItems === 'number' && kept.minItems > 1) kept.minItems = 1
    if (kept.oneOf !== undefined) {
      kept.anyOf = kept.oneOf
      delete kept.oneOf
    }
    return isObjectSchema(kept) ? { ...kept, additionalProperties: false } : kept
  })
}

/** https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support */
const keptByGemini = new Set([
  '$id',
  '$defs',
  '$ref',
  '$anchor',
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'oneOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
  'definitions',
])

export function toGeminiSchema(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (node, pointer) => {
    assertReference(schema, node, pointer)
    const merged = mergeAllOf(node, pointer)
    if (merged.const !== undefined) merged.enum = [merged.const]
    return Object.fromEntries(Object.entries(merged).filter(([keyword]) => keptByGemini.has(keyword)))
  })
}

/** Hosts that take any schema of an object: its references and size are checked. */
export function toPlainSchema(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (node, pointer) => {
    assertReference(schema, node, pointer)
    return node
  })
}

/** The members of `allOf` in one schema. Two values of one keyword other than properties and required ones cannot be merged. */
function mergeAllOf(node: JsonSchema, pointer: string): JsonSchema {
  if (!Array.isArray(node.allOf)) return { ...node }
  const { allOf, ...merged } = node as JsonSchema & { allOf: unknown[] }
  for (const [index, member] of allOf.entries()) {
    if (!isObject(member)) continue
    for (const [keyword, value] of Object.entries(member)) {
      const known = merged[keyword]
      if (known === undefined || JSON.stringify(known) === JSON.stringify(value)) merged[keyword] = value
      else if (keyword === 'properties' && isObject(known) && isObject(value)) merged[keyword] = { ...known, ...value }
      else if (keyword === 'required' && Array.isArray(known) && Array.isArray(value))
        merged[keyword] = [...new Set([...known, ...value])]
      else throw new SchemaProblem(`${pointer}/allOf/${index}/${keyword}`, 'contradicts another part of allOf')
    }
  }
  return merged
}

/** A reference from a place to one that contains it, directly or through others, is a recursion. */
function assertNoCycle(root: JsonSchema): void {
  /** References in a definition, without those of the definitions in it. */
  const referencesOf = (start: JsonSchema) => {
    const found: { target: JsonSchema; reference: string }[] = []
    mapSchema(omit(start, ['$defs', 'definitions']), (node) => {
      const target = resolveReference(root, node.$ref)
      if (target) found.push({ target, reference: String(node.$ref) })
      return node
    })
    return found
  }
  const finished = new Set<JsonSchema>()
  const open = new Set<JsonSchema>([root])
  const stack = [{ node: root, references: referencesOf(root) }]
  while (stack.length > 0) {
    const top = stack.at(-1)!
    const next = top.references.pop()
    if (!next) {
      stack.pop()
      open.delete(top.node)
      finished.add(top.node)
    } else if (open.has(next.target)) {
      throw new SchemaProblem(next.reference.slice(1), 'is recursive')
    } else if (!finished.has(next.target)) {
      open.add(next.target)
      stack.push({ node: next.target, references: referencesOf(next.target) })
    }
  }
}

function omit(node: JsonSchema, keywords: readonly string[]): JsonSchema {
  const kept = { ...node }
  for (const keyword of keywords) if (kept[keyword] !== undefined) delete kept[keyword]
  return kept
}
