import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memberTexts, readMetadata } from './document-metadata.ts'
import { cleanName } from './document-name.ts'

describe('metadata as JSON text', () => {
  const values = fc.dictionary(fc.string({ unit: 'binary', maxLength: 8 }), fc.jsonValue({ maxDepth: 4 }), {
    maxKeys: 6,
  })

  it('has the same value after a round trip with any spacing and escapes', () => {
    fc.assert(
      fc.property(values, fc.nat(4), fc.boolean(), (value, indent, escaped) => {
        const plain = JSON.stringify(value, null, indent)
        const text = escaped ? plain.replaceAll(/[\u0080-\uffff]/g, toEscape) : plain
        expect(readMetadata(text).json).toBe(JSON.stringify(value))
      }),
    )
  })

  it('is found in a PATCH body like in JSON.parse', () => {
    fc.assert(
      fc.property(values, values, fc.nat(2), (value, other, indent) => {
        const body = JSON.stringify({ other, metadata: value, last: { metadata: other } }, null, indent)
        // As text, since JSON has no -0.
        expect(readMetadata(memberTexts(body).get('metadata')!).json).toBe(JSON.stringify(value))
      }),
    )
    expect(memberTexts('{"metadata":1,"metadata": null }').get('metadata')).toBe('null')
    expect(memberTexts('{"meta\\u0064ata":{"a":1}}').get('metadata')).toBe('{"a":1}')
    expect(memberTexts('{"name":"metadata","x":{"metadata":1},"y":[{"metadata":2}]}').get('metadata')).toBeUndefined()
    expect(memberTexts('{}').get('metadata')).toBeUndefined()
  })

  it('keeps all digits of numbers and the order of keys, including duplicate keys', () => {
    const text = '{"2":1.50,"1":-0,"big":123456789012345678901234567890,"e":1E+400,"a":1,"a":2}'
    expect(readMetadata(text).json).toBe(text)
  })

  it('has a link only for http and https, in the form that browsers use', () => {
    const linkOf = (url: unknown) => readMetadata(JSON.stringify({ url })).sourceUrl
    expect(linkOf('https://example.org/a?b=c')).toBe('https://example.org/a?b=c')
    expect(linkOf(' https://example.org ')).toBe('https://example.org')
    expect(linkOf('https://exa\tmple.org/a\nb')).toBe('https://example.org/ab')
    for (const url of [
      'javascript:alert(1)',
      'java\tscript:alert(1)',
      '\u0001javascript:alert(1)',
      'java\nscript:alert(1)',
      'blob:https://example.org/x',
      'ftp://example.org/x',
      '/intranet/page',
      '//example.org/x',
      'example.org',
      'http://',
      ' JavaScript:x',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      '',
      ' ',
      5,
      null,
      ['x'],
      'a\u0000b',
    ]) {
      expect(linkOf(url)).toBeNull()
    }
    expect(readMetadata('{"nested":{"url":"https://example.org"}}').sourceUrl).toBeNull()
  })

  function toEscape(unit: string): string {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  }
})

describe('a display name', () => {
  it('never has path parts or control characters, and cleaning it again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
        let clean: string
        try {
          clean = cleanName(name, 'name')
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_request', param: 'name' })
          return
        }
        // oxlint-disable-next-line no-control-regex
        expect(clean).not.toMatch(/[\u0000-\u001f\u007f-\u009f/\\\u202a-\u202e]/)
        expect(clean.isWellFormed()).toBe(true)
        expect(clean).toBe(clean.trim().normalize('NFC'))
        expect(cleanName(clean, 'name')).toBe(clean)
      }),
      { numRuns: 500 },
    )
  })
})
