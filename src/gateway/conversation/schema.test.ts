import { describe, expect, test } from 'vitest'
import {
  findSchemaMismatch,
  type JsonSchema,
  SchemaProblem,
  toClaudeSchema,
  toGeminiSchema,
  toOpenAiSchema,
  toPlainSchema,
} from './index.ts'

const person = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 1 }, age: { type: ['integer', 'null'], minimum: 0 } },
  required: ['name', 'age'],
}

function problemOf(translate: () => unknown): string {
  try {
    translate()
  } catch (error) {
    if (error instanceof SchemaProblem) return error.pointer
    throw error
  }
  return 'none'
}

describe('a schema in the dialect of a provider', () => {
  test('is closed for OpenAI, and stays open in spirit where strict mode cannot express it', () => {
    expect(toOpenAiSchema(person)).toEqual({ schema: { ...person, additionalProperties: false }, isStrict: true })
    const optional = { ...person, required: ['name'] }
    expect(toOpenAiSchema(optional)).toEqual({ schema: optional, isStrict: false })
  })

  test('is without bounds for Claude', () => {
    expect(toClaudeSchema(person)).toEqual({
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: ['integer', 'null'] } },
      required: ['name', 'age'],
      additionalProperties: false,
    })
  })

  test('has the keywords that Gemini knows', () => {
    const schema = { allOf: [person, { properties: { kind: { const: 'a' } }, required: ['kind'] }], $comment: 'x' }
    expect(toGeminiSchema(schema)).toEqual({
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: ['integer', 'null'], minimum: 0 }, kind: { enum: ['a'] } },
      required: ['name', 'age', 'kind'],
    })
  })

  test.each<[string, (schema: JsonSchema) => unknown, JsonSchema]>([
    [
      '/properties/a~1b/$ref',
      toPlainSchema,
      { type: 'object', properties: { 'a/b': { $ref: 'https://example.org/s' } } },
    ],
    ['/type', toOpenAiSchema, { type: 'array' }],
    ['/additionalProperties', toClaudeSchema, { type: 'object', additionalProperties: { type: 'string' } }],
    [
      '/$defs/node',
      toClaudeSchema,
      { $ref: '#/$defs/node', $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } } },
    ],
    ['/allOf/1/type', toGeminiSchema, { allOf: [{ type: 'object' }, { type: 'array' }] }],
  ])('is refused with the place %s', (pointer, translate, schema) => {
    expect(problemOf(() => translate(schema))).toBe(pointer)
  })

  test('is refused beyond 64 levels, and is not changed', () => {
    let schema: JsonSchema = { type: 'object' }
    for (let level = 0; level < 1_000; level++) schema = { type: 'object', properties: { a: schema } }
    const before = JSON.stringify(schema)
    for (const translate of [toPlainSchema, toOpenAiSchema, toClaudeSchema, toGeminiSchema])
      expect(problemOf(() => translate(schema))).toMatch(/^(\/properties\/a){64}$/)
    expect(JSON.stringify(schema)).toBe(before)
  })
})

describe('an answer that is compared with its schema', () => {
  test.each<[unknown, JsonSchema]>([
    [{ name: 'Ada', age: 36 }, person],
    [[1, 'a', true], { prefixItems: [{ type: 'integer' }, { type: 'string' }], items: { type: 'boolean' } }],
    [{ a: { b: [] } }, { $ref: '#/$defs/any', $defs: { any: { additionalProperties: { $ref: '#/$defs/any' } } } }],
    [3, { oneOf: [{ type: 'integer' }, { type: 'string' }], not: { const: 4 } }],
    [{ constructor: 1 }, { type: 'object', constructor: {}, properties: {} }],
    [{ a: [1, { b: null }] }, { enum: [{ a: [1, { b: null }] }] }],
  ])('%j matches %j', (value, schema) => expect(findSchemaMismatch(schema, JSON.stringify(value))).toBeNull())

  test.each<[string, string, string, JsonSchema]>([
    ['', 'json', '{"name":', person],
    ['', 'required', '{"name":"Ada"}', person],
    ['/age', 'minimum', '{"name":"Ada","age":-1}', person],
    ['/b', 'additionalProperties', '{"b":1}', { properties: { a: {} }, additionalProperties: false }],
    ['/0', 'type', '["a"]', { items: { type: 'number' } }],
    ['', 'anyOf', '{}', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['/x~1y', 'enum', '{"x/y":3}', { properties: { 'x/y': { enum: [1, 2] } } }],
  ])('differs at "%s" by %s: %s', (instance, keyword, text, schema) => {
    expect(findSchemaMismatch(schema, text)).toEqual({ instance, keyword })
  })

  test('gets no verdict where the schema takes too long', () => {
    const doubling = { anyOf: [{ $ref: '#' }, { $ref: '#' }, { const: 1 }] }
    expect(findSchemaMismatch({ ...doubling, type: 'string' }, '2')).toBeNull()
    const patterns = { type: 'string', pattern: '^(a+)+$' }
    expect(findSchemaMismatch(patterns, JSON.stringify(`${'a'.repeat(50_000)}b`))).toBeNull()
  })
})
