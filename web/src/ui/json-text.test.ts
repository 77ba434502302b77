import { describe, expect, it } from 'vitest'
import { expectLinear } from '../../../test/harness/timing.ts'
import { findJsonProblem, indentJson, jsonBytes, metadataText } from './json-text.ts'

describe('the text of metadata', () => {
  const text = '{"n":12345678901234567890,"a":["x, {y}: \\"z\\"",{}],"o":{"ü":null,"e":[]}}'

  it('is indented without a change of its values', () => {
    expect(indentJson(text)).toBe(`{
  "n": 12345678901234567890,
  "a": [
    "x, {y}: \\"z\\"",
    {}
  ],
  "o": {
    "ü": null,
    "e": []
  }
}`)
  })

  it('is counted in bytes without the white space between its parts', () => {
    expect(jsonBytes(indentJson(text))).toBe(new TextEncoder().encode(text).length)
  })

  it('is read from the end of a document whose name looks like it', () => {
    const name = JSON.stringify(',"metadata":{"n":1}')
    expect(metadataText(`{"name":${name},"metadata":${text}}`)).toBe(text)
    expect(metadataText(`{"name":${name},"metadata":null}`)).toBe('null')
  })

  it('takes time in proportion to its length', async () => {
    const indent = (count: number) => {
      const long = `{"s":"${'\\"'.repeat(count)}","t":"${' {'.repeat(count)}"}`
      expect(indentJson(long).length).toBeGreaterThan(long.length)
    }
    await expectLinear(indent, 50_000)
  })
})

describe('the place where a text stops being JSON', () => {
  it.each([
    ['{"a": 1, "b": [true, null, -1.5e3, "x\\u00e4\\n"]}', undefined],
    [' "text" ', undefined],
    ['[]', undefined],
    ['', [1, 1]],
    ['{\n  "a": 1,\n}', [3, 1]],
    ['{\n  "a" 1\n}', [2, 7]],
    ['[1, 2', [1, 6]],
    ['[1 2]', [1, 4]],
    ['[1, ]', [1, 5]],
    ['{"a": tru}', [1, 7]],
    ["{'a': 1}", [1, 2]],
    ['{"a": 01}', [1, 8]],
    ['["a\nb"]', [1, 2]],
    ['[1}', [1, 3]],
    ['{} {}', [1, 4]],
  ])('of %j is %j', (text, place) => {
    const found = findJsonProblem(text)
    expect(found && [found.line, found.column]).toEqual(place)
    expect(found === undefined).toBe(isJson(text))
  })

  it('is found in time in proportion to the length', async () => {
    const find = (count: number) =>
      expect(findJsonProblem(`[${'"\\\\a",{"b":['.repeat(count)}${']},1,'.repeat(count)}`)).toBeDefined()
    await expectLinear(find, 20_000)
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
