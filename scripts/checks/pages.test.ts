import { describe, expect, test } from 'vitest'
import { findPageFaults } from './pages.ts'

const check = (path: string, lines: string[]) =>
  findPageFaults([{ path, text: `${lines.join('\n')}\n` }]).map(({ line, reason }) => `${line}: ${reason}`)
const wide = 'x'.repeat(101)
const long = (count: number) => Array<string>(count).fill('Text.')

describe('the length of a page', () => {
  test('is at most 200 lines', () => {
    expect(check('docs/use/a.md', long(200))).toEqual([])
    expect(check('docs/use/a.md', long(203))).toEqual(['201: has 203 lines, above 200'])
  })

  test('is at most 60 lines for a decision, but not for their index', () => {
    expect(check('docs/decisions/0001-a.md', long(60))).toEqual([])
    expect(check('docs/decisions/0001-a.md', long(61))).toEqual(['61: has 61 lines, above 60'])
    expect(check('docs/decisions/README.md', long(61))).toEqual([])
  })

  test('has no bound for generated pages and for files outside of docs', () => {
    expect(check('docs/reference/a.md', [...long(300), wide])).toEqual([])
    expect(check('test/README.md', [...long(300), wide])).toEqual([])
  })
})

describe('the width of a line', () => {
  test('is at most 100 characters, in tables as well', () => {
    expect(check('docs/use/a.md', ['x'.repeat(100), wide, `| ${wide} |`])).toEqual([
      '2: has 101 characters, above 100',
      '3: has 105 characters, above 100',
    ])
  })

  test('counts code points', () => {
    expect(check('docs/use/a.md', ['😀'.repeat(100)])).toEqual([])
  })

  test('does not count code blocks and the addresses of links', () => {
    const address = `https://example.com/${wide}`
    expect(check('docs/use/a.md', ['```sh', wide, '```', `[a](${address})`, `See <${address}>.`, wide])).toEqual([
      '6: has 101 characters, above 100',
    ])
  })

  test('ends a code block only at its own fence', () => {
    expect(check('docs/use/a.md', ['````', '```', wide, '````', wide])).toEqual(['5: has 101 characters, above 100'])
  })
})
