import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isAppError } from '../../platform/kernel/index.ts'
import {
  changeMetadata,
  type MetadataChange,
  parseMetadataChange,
  readMetadataChange,
  writeMetadataChange,
} from './metadata-change.ts'

const change = (set: string, ...remove: string[]) => readMetadataChange(set, remove)

function after(json: string | null, metadataChange: MetadataChange): string {
  const result = changeMetadata(json, metadataChange)
  return result.kind === 'changed' ? result.metadata.json : result.kind
}

function refusal(set: string | undefined, ...remove: string[]) {
  try {
    readMetadataChange(set, remove)
  } catch (error) {
    if (isAppError(error)) return { param: error.param, message: error.message }
  }
  throw new Error('accepted')
}

describe('a change of some keys of metadata', () => {
  test('replaces in place, adds at the end, and keeps the digits and the order of all others', () => {
    const json = '{"2":12345678901234567890,"a":{"b":[1.50]},"1":"x"}'
    expect(after(json, change('{"new":1.10,"a":0.10}', '1'))).toBe('{"2":12345678901234567890,"a":0.10,"new":1.10}')
  })

  test.each<[string, string | null, MetadataChange, string]>([
    ['of documents without metadata adds the keys', null, change('{"a":1}'), '{"a":1}'],
    ['leaves documents without the removed keys as they are', '{"b":1}', change('{}', 'a'), 'unchanged'],
    ['leaves documents that have the values already', '{"a":{"x":1}}', change('{"a": {"x": 1}}'), 'unchanged'],
    ['leaves documents without metadata if it only removes', null, change('{}', 'a'), 'unchanged'],
    ['of the last key leaves an empty object', '{"a":1}', change('{}', 'a'), '{}'],
    ['takes __proto__ as a key', '{"a":1}', change('{"__proto__":{"x":1}}'), '{"a":1,"__proto__":{"x":1}}'],
    ['removes a member that occurs twice', '{"a":1,"b":2,"a":3}', change('{}', 'a'), '{"b":2}'],
  ])('%s', (_what, json, metadataChange, expected) => {
    expect(after(json, metadataChange)).toBe(expected)
  })

  test('sets the link and the folder that lists and citations show', () => {
    const result = changeMetadata('{"url":"https://a.example/"}', change('{"path":"x/y"}', 'url'))
    expect(result).toMatchObject({ metadata: { sourceUrl: null, path: 'x/y' } })
  })

  test('leaves metadata that would become larger than 16384 bytes', () => {
    const stored = JSON.stringify({ a: 'x'.repeat(16_000) })
    const added = change(JSON.stringify({ b: 'y'.repeat(370) }))
    const fits = change(JSON.stringify({ b: 'y'.repeat(369) }))
    expect(after(stored, added)).toBe('too_large')
    expect(Buffer.byteLength(after(stored, fits))).toBe(16_384)
  })

  test('has the same effect as on JavaScript objects, also after it was stored', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6 })
    fc.assert(
      fc.property(object, object, fc.array(fc.string(), { maxLength: 3 }), (before, set, others) => {
        const remove = [...Object.keys(before).slice(0, 2), ...others].filter((key) => !Object.hasOwn(set, key))
        fc.pre(remove.length > 0 || Object.keys(set).length > 0)
        const text = JSON.stringify(before)
        const stored = parseMetadataChange(writeMetadataChange(readMetadataChange(JSON.stringify(set), remove)))
        const expected = new Map(Object.entries(before))
        for (const key of remove) expected.delete(key)
        for (const [key, value] of Object.entries(set)) expected.set(key, value)
        const result = after(text, stored)
        const found = result === 'unchanged' ? text : result
        expect(JSON.parse(found)).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(expected))))
      }),
    )
  })
})

test('a request without a key, with a key in both fields, or with too many bytes is refused', () => {
  expect(refusal(undefined)).toMatchObject({ param: 'set' })
  expect(refusal('{}')).toMatchObject({ param: 'set' })
  expect(refusal('{"a":1}', 'b', 'a')).toMatchObject({ param: 'remove' })
  expect(refusal(`{"a":"${'x'.repeat(16_384)}"}`)).toEqual({
    param: 'set',
    message: 'set: at most 16384 bytes of JSON, white space between its parts not counted.',
  })
})
