import { describe, expect, it } from 'vitest'
import { expectLinear } from '../../../../test/harness/timing.ts'
import { indentJson, jsonBytes, metadataText } from './json-text.ts'

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
