import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTurns, expectLinear } from '../../../../test/harness/timing.ts'
import { createCitationRewriter, removeMarkers } from './citation-rewriter.ts'

const [a, b, c] = ['a', 'b', 'c'].map((documentId) => ({ documentId, title: `${documentId}.pdf`, url: null }))
/** Passages 1 and 3 come from the same document. */
const sources = [a!, b!, a!, c!]

function rewrite(text: string, { inline = true, pieces = [text] }: { inline?: boolean; pieces?: string[] } = {}) {
  const rewriter = createCitationRewriter(sources, { inline })
  const output = pieces.map((piece) => rewriter.push(piece)).join('') + rewriter.end()
  return { output, cited: rewriter.cited().map(({ source }) => source.documentId) }
}

const shown = (text: string) => rewrite(text).output
const hidden = (text: string) => rewrite(text, { inline: false }).output

describe('markers', () => {
  it('are counted with other text that looks like them', () => {
    const rewriter = createCitationRewriter(sources, { inline: true })
    let output = ''
    for (const unit of 'See x[1]. Rain [2]. Sun [1]. `a[1]` Snow [2][2], [1].') output += rewriter.push(unit)
    expect(output + rewriter.end()).toBe('See x[1]. Rain [1]. Sun [2]. `a[1]` Snow [1], [2].')
    expect(rewriter.cited().map(({ markers }) => markers.map(({ occurrence }) => occurrence))).toEqual([
      [2, 4, 4],
      [1, 2],
    ])
  })

  it('number documents from 1 in order of first use', () => {
    expect(rewrite('Rain [2]. Sun [1]. Rain again [2].')).toEqual({
      output: 'Rain [1]. Sun [2]. Rain again [1].',
      cited: ['b', 'a'],
    })
  })

  it('show two passages of one document as one citation', () => {
    expect(shown('Sun [1][3].')).toBe('Sun [1].')
    expect(shown('Sun [1] [3] shines.')).toBe('Sun [1] shines.')
    expect(shown('Sun [1, 3] and rain [2; 1].')).toBe('Sun [1] and rain [2][1].')
  })

  it.each([
    '[2]',
    '[ 2 ]',
    '[2\u200b]',
    '[\ufeff2]',
    '［2］',
    '［２］',
    '【2】',
    '【2†source】',
    '【2:0†handbook.pdf】',
    '[2†L1-L9]',
    '[^2]',
    '[^2^]',
    '[[2]]',
    '[Source 2]',
    '[source: 2]',
    '[sources 2]',
    '[citation:2]',
    '[ref 2]',
    '[Quelle 2]',
    '[来源2]',
    '[Source 2: Handbook.pdf, page 3]',
    '[2, p. 3]',
    '[#2]',
  ])('are recognised as %s', (marker) => {
    expect(rewrite(`Rain falls ${marker}.`)).toEqual({ output: 'Rain falls [1].', cited: ['b'] })
    expect(hidden(`Rain falls ${marker}.`)).toBe('Rain falls.')
  })

  it.each([
    '[1, 2]',
    '[1,2]',
    '[1;2]',
    '[1、2]',
    '［1，2］',
    '[1-2]',
    '[1–2]',
    '[1 , 2]',
    '[1 and 2]',
    '[Source 1, Source 2]',
    '[^1, ^2]',
    '[1][2]',
    '[1-3]',
  ])('name each passage of %s', (marker) => {
    expect(rewrite(`Rain falls ${marker}.`)).toEqual({ output: 'Rain falls [1][2].', cited: ['a', 'b'] })
    expect(hidden(`Rain falls ${marker}.`)).toBe('Rain falls.')
  })

  it('keep the emphasis around them', () => {
    expect(shown('Rain **[2]** and *[1]*.')).toBe('Rain **[1]** and *[2]*.')
  })

  it('are recognised directly after a word, a bracket of prose and another bracketed number', () => {
    expect(shown('The sky is blue[2]. 空は青い[1]。 It rains (in May)[2]. In [2024][1].')).toBe(
      'The sky is blue[1]. 空は青い[2]。 It rains (in May)[1]. In [2024][2].',
    )
  })
})

const otherForms: [string, string][] = [
  ['Rain falls (Source 2).', 'Rain falls [1].'],
  ['Rain falls (Quellen 2, 1).', 'Rain falls [1][2].'],
  ['Rain falls.² Sun shines¹ here.', 'Rain falls.[1] Sun shines[2] here.'],
  ['Rain falls<sup>2</sup>.', 'Rain falls[1].'],
  ['Rain falls<sup>2, 1</sup>.', 'Rain falls[1][2].'],
  [String.raw`Rain falls \[2\].`, 'Rain falls [1].'],
  ['Rain falls [2](#source-2).', 'Rain falls [1].'],
  ['Rain falls [٢] and [२].', 'Rain falls [1] and [1].'],
  ['Rain falls [b.pdf] and [A.PDF].', 'Rain falls [1] and [2][2].'.replace('[2][2]', '[2]')],
]

describe('other forms of markers', () => {
  it.each(otherForms)('%s', (text, expected) => {
    expect(shown(text)).toBe(expected)
    expect(rewrite(text, { pieces: [...text] }).output).toBe(expected)
    expect(hidden(text)).not.toMatch(/\[\d|[²¹]|<sup>|source/i)
  })
})

describe('a marker without a passage', () => {
  it.each([
    ['Rain [9] falls [99].', 'Rain falls.'],
    ['Rain falls [^9]. Sun 【9†source】 shines (Source 9).', 'Rain falls. Sun shines.'],
    ['Rain [2, 9] and [9, 2], and sun [1][9] or [9], [1].', 'Rain [1] and [1], and sun [2] or [2].'],
    ['Rain falls<sup>9</sup>.⁹', 'Rain falls.'],
  ])('%s goes, and leaves the others', (text, expected) => {
    expect(shown(text)).toBe(expected)
    expect(rewrite(text, { pieces: [...text] }).output).toBe(expected)
  })
})

describe('text in brackets that is not a marker stays as it is', () => {
  it.each([
    '[2024] [0] [0, 1] [3-1]',
    'x[0] and a[1] and items[2] and row_1[2] and myList[1]',
    'f(x)[1] and m[1][2] and d["k"][1] and x[0][1]',
    String.raw`\sqrt[3]{x} and \[x\]`,
    'Call foo([1, 2]) to start, or foo(a, [1]).',
    'rows[1].name and x = [1, 2] and the interval [1, 2] and n ∈ [1, 3]',
    'The area is 5 m² or 10³ or 3 cm<sup>2</sup>, and x² (1).',
    '(Sources) and (source code 1) and [a.pdf](https://example.com) and <sub>1</sub>',
    '[[1, 2], [3, 4]] and [1, [2]]',
    '[1](https://example.com/a_(b)) and ![2](image.png "Title")',
    '[the handbook][1]',
    '[1]: https://example.com "Title"\n[2]: <https://example.com/2>\n',
    '- [ ] open\n- [x] done',
    '(1) and {1} and [see 2] and [1.2] and [1 2] and [x]',
    'an open [ at the end [1',
  ])('%s', (text) => {
    expect(rewrite(text)).toEqual({ output: text, cited: [] })
    expect(hidden(text)).toBe(text)
  })

  it.each([
    'inline `[1]` and ``a ` [2]`` and `two\nlines [1]`',
    '```js\na [1]\n```\n',
    '~~~\na [1]\n```\n[2]\n~~~\n',
    'text\n\n    indented [1]\n\n\tand [2]\n',
    '1. step\n\n   ```\n   a [1]\n   ```\n',
    '> ```\n> a [1]\n> ```\n',
    '```\nnever closed [1]\n\n[2]',
  ])('in code: %j', (text) => {
    expect(rewrite(text)).toEqual({ output: text, cited: [] })
    expect(hidden(text)).toBe(text)
  })
})

describe('text that resembles code', () => {
  it.each([
    ['A lone ` is text [2].', 'A lone ` is text [1].'],
    ['A lone ` is text [2].\n\nHere is another ` one [2].', 'A lone ` is text [1].\n\nHere is another ` one [1].'],
    ['`` does not close ` here [2]', '`` does not close ` here [1]'],
    ['\\`[2]\\`', '\\`[1]\\`'],
    ['- a\n\n    a paragraph of the item [2]', '- a\n\n    a paragraph of the item [1]'],
    ['a paragraph\n    that goes on [2]', 'a paragraph\n    that goes on [1]'],
    ['```code``` [2]', '```code``` [1]'],
    ['> ```\n> a\n\nafter the quote [2]', '> ```\n> a\n\nafter the quote [1]'],
    ['| a ` | [2] |\n| b ` | [2] |', '| a ` | [1] |\n| b ` | [1] |'],
    ['[1](no link at all', '[1](no link at all'],
  ])('%j has markers', (text, expected) => {
    expect(shown(text)).toBe(expected)
  })

  it('has markers where a code span would be longer than the look-ahead', () => {
    expect(shown(`\`[2] ${'word '.repeat(400)}\``)).toMatch(/^`\[1\] word/)
  })
})

describe('without inline sources', () => {
  it.each([
    ['Sun [1]. Rain 【2】.', 'Sun. Rain.'],
    ['Sun [1], [2]. Rain [1] and [2], too.', 'Sun. Rain, too.'],
    ['Sun **[1]** shines (**[2]**, [1]).', 'Sun shines.'],
    ['Sun **[1], [2]**. Rain<sup>[1]</sup>.', 'Sun. Rain.'],
    ['**Sun [1]** and *rain* [2]', '**Sun** and *rain*'],
    ['[1] Sun\n- [2] rain\n', 'Sun\n- rain\n'],
    ['Sun[1]shine and rain [1]drop', 'Sunshine and rain drop'],
    ['(see [1]) **[2] bold**', '(see) **bold**'],
  ])('%j becomes %j', (text, expected) => {
    expect(rewrite(text, { inline: false })).toEqual({ output: expected, cited: [] })
  })
})

describe('an earlier answer', () => {
  const { signal } = new AbortController()

  it('loses its markers, which count from 1 in order of first use, and no other text', async () => {
    expect(await removeMarkers('Sun [1]. Rain [2][1]. `a [1]` In [2024], x[1], [1](http://a.b), [5].', signal)).toBe(
      'Sun. Rain. `a [1]` In [2024], x[1], [1](http://a.b), [5].',
    )
  })

  it('gives the event loop a turn after every 20,000 characters', async () => {
    expect(await countTurns(() => removeMarkers('[1](`'.repeat(60_000), signal))).toBe(300_000 / 20_000 - 1)
  })
})

const fragment = fc.constantFrom(
  '[',
  ']',
  '1',
  '2',
  '9',
  ',',
  ' ',
  '-',
  '(',
  ')',
  ':',
  '*',
  '**',
  '_',
  '`',
  '``',
  '```',
  '~~~',
  '\\',
  '\n',
  '\n\n',
  '    ',
  '\t',
  '> ',
  '- ',
  '1. ',
  '#',
  '|',
  '【',
  '】',
  '†source',
  '^',
  'Source ',
  'and',
  'x',
  'word',
  '😀',
  '<sup>',
  '</sup>',
  '[1]',
  ' [2]',
  '[[1]]',
  '[1, 3]',
  '[4]',
  '[2024]',
  '(http://a.b)',
  '[1]: http://a.b',
  '=',
)
const texts = fc.array(fragment, { maxLength: 60 }).map((fragments) => fragments.join(''))
const sizes = fc.infiniteStream(fc.integer({ min: 1, max: 6 }))

function cut(text: string, lengths: Iterator<number>): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length;) {
    const size = lengths.next().value as number
    pieces.push(text.slice(start, start + size))
    start += size
  }
  return pieces
}

describe('for any text', () => {
  it('the result does not depend on how it is cut', () => {
    fc.assert(
      fc.property(texts, sizes, fc.boolean(), (text, lengths, inline) => {
        expect(rewrite(text, { inline, pieces: cut(text, lengths) })).toEqual(rewrite(text, { inline }))
      }),
      { numRuns: 300 },
    )
  })

  it('only markers change: all other characters keep their order', () => {
    const other = fc.constantFrom('word', ' ', '.', '\n', '[x]', '[2024]', '[0]', '(', ')', '`', '~~~', '*', '[', ']')
    fc.assert(
      fc.property(fc.array(other, { maxLength: 60 }), sizes, fc.boolean(), (fragments, lengths, inline) => {
        const text = fragments.join('')
        expect(rewrite(text, { inline, pieces: cut(text, lengths) })).toEqual({ output: text, cited: [] })
      }),
      { numRuns: 200 },
    )
  })

  it('markers and references match one to one, in order of first use', () => {
    const piece = fc.constantFrom(
      '[1]',
      '[2]',
      '[3]',
      '[4]',
      '【1†source】',
      '[^2]',
      ' ',
      'word',
      '.',
      '[1][2]',
      '[2, 1]',
      '\n',
      '**',
      '` ',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), sizes, (fragments, lengths) => {
        // One backtick in a text is never code.
        const text = fragments.filter((one, index) => one !== '` ' || fragments.indexOf(one) === index).join('')
        const { output, cited } = rewrite(text, { pieces: cut(text, lengths) })
        const used = [...new Set([...output.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1])))]
        expect(used).toEqual(cited.map((_, index) => index + 1))
        expect(output).not.toMatch(/[【†^]/)
        expect(hidden(text)).not.toMatch(/\[\d/)
      }),
      { numRuns: 200 },
    )
  })

  it('the text that is held back is bounded', () => {
    fc.assert(
      fc.property(texts, fc.boolean(), (text, inline) => {
        const rewriter = createCitationRewriter(sources, { inline })
        rewriter.push(text + 'word. '.repeat(400))
        expect(rewriter.end().length).toBeLessThan(1_600)
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    '[',
    '`',
    '[1',
    '[1](',
    '[[1, ',
    '【1†',
    '` [1] `` [1] ',
    '\\`',
    '**[1]** ',
    '[1] ',
    '~~~\n',
    '> ',
    '- ',
    '[1]: <',
    '\n',
  ])('a text of %j takes linear time, in one piece or in single characters', { timeout: 120_000 }, async (unit) => {
    for (const inline of [true, false]) {
      const rewriteBoth = (length: number) => {
        const text = unit.repeat(length / unit.length)
        rewrite(text, { inline })
        rewrite(text, { inline, pieces: text.split('') })
      }
      await expectLinear(rewriteBoth, 20_000, `a text with inline ${inline}`)
    }
  })
})
