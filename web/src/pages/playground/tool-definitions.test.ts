import { describe, expect, it } from 'vitest'
import { requestLimits } from '../../../../src/gateway/apis/limits.ts'
import { attachmentLimits } from './attachments.ts'
import { schemaExamples, toolExamples } from './examples.ts'
import { definitionLimits, readSchema, readTools } from './tool-definitions.ts'

const functionOf = (fields: object) => JSON.stringify([{ type: 'function', function: fields }])
const problemOf = (read: object) => ('problem' in read ? read.problem : undefined)

describe('the definitions of tools', () => {
  it.each(Object.entries(toolExamples))('are valid in the example %s', (_name, text) => {
    expect(readTools(text)).toEqual({ value: JSON.parse(text) })
  })

  it('may have no frame', () => {
    const fields = { name: 'weather', parameters: { type: 'object' } }
    const expected = { value: [{ type: 'function', function: fields }] }
    expect(readTools(JSON.stringify([fields]))).toEqual(expected)
    expect(readTools(JSON.stringify([{ type: 'function', ...fields }]))).toEqual(expected)
  })

  it.each([
    ['[{\n  "name": "a"\n  "description": "b"\n}]', { what: 'syntax', line: 3, column: 3 }],
    ['{"name": "a"}', { what: 'notList', place: '' }],
    ['["a"]', { what: 'notObject', place: 'tools[0]' }],
    ['[{"name": "a"}, {"type": "web_search"}]', { what: 'type', place: 'tools[1].type' }],
    [functionOf({}), { what: 'name', place: 'tools[0].function.name' }],
    [functionOf({ name: 'two words' }), { what: 'name', place: 'tools[0].function.name' }],
    [functionOf({ name: 'x'.repeat(129) }), { what: 'name', place: 'tools[0].function.name' }],
    ['[{"name": "a"}, {"name": "a"}]', { what: 'sameName', place: 'tools[1]: a' }],
    [functionOf({ name: 'a', paramters: {} }), { what: 'unknown', place: 'tools[0].function.paramters' }],
    [functionOf({ name: 'a', description: 1 }), { what: 'notText', place: 'tools[0].function.description' }],
    [functionOf({ name: 'a', parameters: [] }), { what: 'notObject', place: 'tools[0].function.parameters' }],
    [functionOf({ name: 'a', strict: 'yes' }), { what: 'notFlag', place: 'tools[0].function.strict' }],
    [JSON.stringify(Array.from({ length: 1001 }, (_, at) => ({ name: `t${at}` }))), { what: 'tooMany', limit: 1000 }],
  ])('%#: names the place of a problem', (text, problem) => {
    expect(problemOf(readTools(text))).toEqual(problem)
  })
})

describe('the schema of an answer', () => {
  it('is an object of bounded size', () => {
    expect(readSchema(schemaExamples.city)).toEqual({ value: JSON.parse(schemaExamples.city) })
    expect(problemOf(readSchema('[]'))).toEqual({ what: 'notObject', place: 'schema' })
    const limit = definitionLimits.schemaBytes
    expect(problemOf(readSchema(JSON.stringify({ title: 'ä'.repeat(limit / 2) })))).toEqual({ what: 'tooLarge', limit })
  })
})

it('checks the limits of the gateway', () => {
  const { tools, toolNameCharacters, schemaBytes, mediaBytes, images } = requestLimits
  expect(definitionLimits).toEqual({ tools, toolNameCharacters, schemaBytes })
  expect(attachmentLimits).toMatchObject({ fileBytes: mediaBytes, images })
})
