import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { shopFile } from '../../../../test/harness/tool-services.ts'
import { sharedDataFolder } from '../../../../test/harness/shared-data.ts'
import { spaceToolLimits } from '../../../contract/space-tools.ts'
import type { ReadTools } from '../tool-server.ts'
import { readOpenapi } from './read-openapi.ts'

function read(file: object | string): ReadTools {
  const result = readOpenapi(typeof file === 'string' ? file : JSON.stringify(file))
  if ('problem' in result) throw new Error(result.problem)
  return result
}

const fileOf = (paths: object, more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'T', version: '1' },
  paths,
  ...more,
})

test('each operation is a tool with a schema of its parameters and its body', () => {
  const { title, url, tools, isComplete } = read(shopFile)
  expect({ title, url, isComplete }).toEqual({ title: 'Shop', url: 'https://shop.example/v1', isComplete: true })
  expect(tools.map(({ name, changesData }) => [name, changesData])).toEqual([
    ['getOrder', false],
    ['deleteOrder', true],
    ['createOrder', true],
  ])
  expect(tools[0]).toEqual({
    name: 'getOrder',
    description: 'Get an order',
    changesData: false,
    problem: null,
    parameters: {
      type: 'object',
      additionalProperties: false,
      required: ['orderId'],
      properties: {
        orderId: { type: 'string', description: 'Its number.' },
        fields: { type: 'array', items: { type: 'string' } },
        'X-Region': { type: 'string' },
      },
    },
    request: {
      method: 'get',
      path: '/orders/{orderId}',
      body: 'none',
      parameters: [
        { argument: 'orderId', name: 'orderId', in: 'path', required: true },
        { argument: 'fields', name: 'fields', in: 'query', required: false },
        { argument: 'X-Region', name: 'X-Region', in: 'header', required: false },
      ],
    },
  })
  expect(tools[2]!.parameters).toMatchObject({
    required: ['body'],
    properties: { body: { properties: { item: { type: 'string' }, parent: {} } } },
  })
})

test('YAML is read as JSON is', () => {
  const yaml = 'openapi: 3.0.0\ninfo: {title: T, version: "1"}\npaths:\n  /a:\n    get:\n      summary: Read it\n'
  expect(read(yaml).tools).toMatchObject([{ name: 'get__a', description: 'Read it' }])
})

describe('a file that cannot be read is refused with the reason', () => {
  test.each([
    ['no file', 'no_file'],
    ['{"swagger": "2.0", "paths": {}}', 'version'],
    ['{"openapi": "2.0"}', 'version'],
    ['a: [', 'no_file'],
    [`${'['.repeat(100_000)}`, 'no_file'],
    // Aliases that multiply.
    [
      `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`).join('\n')}`,
      'no_file',
    ],
  ])('%.20j', (text, reason) => {
    expect(readOpenapi(text)).toEqual({ problem: reason })
  })
})

describe('references', () => {
  test('to other files and addresses are not followed', () => {
    const schema = { $ref: 'https://evil.example/schema.json' }
    const { tools } = read(fileOf({ '/a': { get: { parameters: [{ name: 'q', in: 'query', schema }] } } }))
    expect(tools[0]!.parameters['properties']).toEqual({ q: {} })
  })

  test('that multiply stay within the limit of a schema', () => {
    const level = (next: number) => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [`p${index}`, { $ref: `#/components/schemas/S${next}` }]),
      ),
    })
    const schemas = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`S${index}`, level(index + 1)]))
    const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } }
    const { tools } = read(fileOf({ '/a': { post: { requestBody: body } } }, { components: { schemas } }))
    expect(tools[0]!.problem).toBeNull()
    expect(JSON.stringify(tools[0]!.parameters).length).toBeLessThanOrEqual(spaceToolLimits.schema)
  })
})

test('parameters with one name in two places get two arguments, and credentials none', () => {
  const parameters = [
    { name: 'id', in: 'path', required: true },
    { name: 'id', in: 'query' },
    { name: 'Authorization', in: 'header' },
    { name: 'session', in: 'cookie' },
    { name: 'filter[x]', in: 'query' },
  ]
  const { tools } = read(fileOf({ '/a/{id}': { get: { parameters } } }))
  expect(tools[0]!.request!.parameters.map(({ argument, name, in: place }) => [argument, name, place])).toEqual([
    ['id', 'id', 'path'],
    ['id_2', 'id', 'query'],
    ['filter_x', 'filter[x]', 'query'],
  ])
})

test.each([
  ['a required cookie', { parameters: [{ name: 's', in: 'cookie', required: true }] }],
  ['a required form', { requestBody: { required: true, content: { 'multipart/form-data': {} } } }],
])('an operation with %s cannot be used', (_, operation) => {
  expect(read(fileOf({ '/a': { post: operation } })).tools[0]!.problem).toBe('unsupported')
})

test('more operations than the limit are left out, and the result states it', () => {
  const paths = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`/p${index}`, { get: {} }]))
  const { tools, isComplete } = read(fileOf(paths))
  expect({ tools: tools.length, isComplete }).toEqual({ tools: spaceToolLimits.toolsPerServer, isComplete: false })
})

const shared = sharedDataFolder('openapi')
test.skipIf(!shared)('a published file of a large API is read, and its tools are small', () => {
  const { tools } = read(readFileSync(path.join(shared!, 'openai-chat-models-embeddings.openapi.yaml'), 'utf8'))
  expect(tools.map(({ name }) => name)).toContain('createChatCompletion')
  for (const tool of tools) {
    expect(tool.problem).toBeNull()
    expect(JSON.stringify(tool.parameters).length).toBeLessThanOrEqual(spaceToolLimits.schema)
  }
})
