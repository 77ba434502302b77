import vm from 'node:vm'
import { describe, expect, it } from 'vitest'
import { toAscii } from './to-ascii.ts'

describe('toAscii', () => {
  it.each([
    ['a string', `'Größe 😀 ·'`],
    ['a template', '`€${1}’`'],
    ['an escaped character', String.raw`'\é'`],
    ['a backslash before a character', String.raw`'\\é'`],
    ['a pattern', `'für 😀'.match(/[äöü]r [😀]/u)[0]`],
    ['the text of a pattern', "new RegExp(String.raw`^[（·]+$`, 'u').test('（·')"],
  ])('keeps the value of %s', (_, code) => {
    const ascii = toAscii(code)
    expect(ascii).toMatch(/^[\0-\x7f]+$/)
    expect(vm.runInNewContext(ascii)).toEqual(vm.runInNewContext(code))
  })
})
