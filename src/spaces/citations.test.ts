import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCitationRewriter } from './citations.ts'

const sources = [
  { documentId: 'a', title: 'A.pdf', url: null },
  { documentId: 'b', title: 'B.pdf', url: null },
  { documentId: 'a', title: 'A.pdf', url: null },
]

function rewrite(text: string, { inline = true, pieces = [text] }: { inline?: boolean; pieces?: string[] } = {}) {
  const rewriter = createCitationRewriter(sources, { inline })
  const output = pieces.map((piece) => rewriter.push(piece)).join('') + rewriter.end()
  return { output, cited: rewriter.cited().map((source) => source.documentId) }
}

describe('citations', () => {
  it('numbers documents from 1 in order of first use', () => {
    expect(rewrite('Rain [2]. Sun [1]. Rain again [2].')).toEqual({
      output: 'Rain [1]. Sun [2]. Rain again [1].',
      cited: ['b', 'a'],
    })
  })

  it('shows two passages of one document as one citation', () => {
    expect(rewrite('Sun [1][3].').output).toBe('Sun [1].')
    expect(rewrite('Sun [1, 3] and rain [2; 1].').output).toBe('Sun [1] and rain [2][1].')
  })

  it('cuts a marker that names no passage out, with the space before it', () => {
    expect(rewrite('Sun [9]. Rain [0][2].')).toEqual({ output: 'Sun. Rain [1].', cited: ['b'] })
  })

  it('shows no marker when inline sources are off', () => {
    expect(rewrite('Sun [1]. Rain 【2】.', { inline: false })).toEqual({ output: 'Sun. Rain.', cited: [] })
  })

  it('leaves code and ordinary brackets alone', () => {
    expect(rewrite('`list[1]` and [a link](x) and [see 2]').output).toBe('`list[1]` and [a link](x) and [see 2]')
    expect(rewrite('an open [ at the end [1').output).toBe('an open [ at the end [1')
  })

  it('does not depend on where the text is cut', () => {
    const fragment = fc.constantFrom(
      '[',
      ']',
      '1',
      '2',
      '9',
      ',',
      ' ',
      'word',
      '`',
      '【',
      '】',
      '[1]',
      ' [2]',
      '\n',
      '[1, 3]',
      '😀',
    )
    fc.assert(
      fc.property(
        fc.array(fragment, { maxLength: 30 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
        (fragments, sizes) => {
          const text = fragments.join('')
          const pieces: string[] = []
          for (let start = 0; start < text.length;) {
            const size = sizes.next().value
            pieces.push(text.slice(start, start + size))
            start += size
          }
          expect(rewrite(text, { pieces })).toEqual(rewrite(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('never shows a marker outside code without its document, nor a document without its marker', () => {
    const fragment = fc.constantFrom('[1]', '[2]', '[3]', '[4]', '[12]', ' ', 'word', '.', '[1][2]', '[2, 1]', '\n')
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 40 }), (fragments) => {
        const { output, cited } = rewrite(fragments.join(''))
        const shown = new Set([...output.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1])))
        expect([...shown]).toEqual(cited.map((_, index) => index + 1))
      }),
      { numRuns: 500 },
    )
  })
})
