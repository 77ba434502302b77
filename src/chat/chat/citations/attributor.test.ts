import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { expectLinear } from '../../../../test/harness/timing.ts'
import { createAnswerCitations, createCitationRewriter } from './citation-rewriter.ts'

const sources = [{ documentId: 'a', title: 'a.pdf', url: null }]
/** Passage 1 supports every sentence with this word. */
const word = /euro|欧元|ยูโร/

function attribute(pieces: readonly string[]) {
  const rewriter = createCitationRewriter(sources, { inline: true, attribute: (text) => (word.test(text) ? 1 : null) })
  return pieces.map((piece) => rewriter.push(piece)).join('') + rewriter.end()
}

test.each([
  ['a sentence, after its stop', 'Adults pay 12 euros. Dogs are free.', 'Adults pay 12 euros. [1] Dogs are free.'],
  ['the last sentence', 'Dogs are free. Adults pay 12 euros.', 'Dogs are free. Adults pay 12 euros. [1]'],
  ['a sentence in emphasis', '**Adults pay 12 euros.** Fine.', '**Adults pay 12 euros.** [1] Fine.'],
  ['a sentence with decimals', 'Adults pay 12.50 euros today. Fine.', 'Adults pay 12.50 euros today. [1] Fine.'],
  ['a sentence with an abbreviation', 'Adults pay approx. 12 euros.\nFine.', 'Adults pay approx. 12 euros. [1]\nFine.'],
  ['items of a list without stops', '- Adults: 12 euros\n- Dogs: free', '- Adults: 12 euros [1]\n- Dogs: free'],
  ['items of a numbered list', '1. Adults pay 12 euros\n2. Dogs', '1. Adults pay 12 euros [1]\n2. Dogs'],
  ['Chinese, without a space', '成人票价为12欧元。狗免费。', '成人票价为12欧元。[1]狗免费。'],
  ['a sentence after one with a marker', 'Sun [1]. Adults pay 12 euros.', 'Sun [1]. Adults pay 12 euros. [1]'],
  ['a sentence after code', 'Run `a. b`. Adults pay 12 euros.', 'Run `a. b`. Adults pay 12 euros. [1]'],
  ['a sentence with a price in dollars', 'Adults pay $5 or 6 euros. Fine.', 'Adults pay $5 or 6 euros. [1] Fine.'],
  ['a sentence whose marker names no passage', 'Adults pay 12 euros [9].', 'Adults pay 12 euros. [1]'],
])('it adds a marker to %s', (_, text, output) => {
  expect(attribute([text])).toBe(output)
})

test.each([
  ['with a marker', 'Adults pay 12 euros [1]. Fine.'],
  ['with a marker after the stop', 'Adults pay 12 euros. [1] Fine.'],
  ['with a marker at their beginning', '[1] Adults pay 12 euros.'],
  ['that are questions', 'Do adults pay 12 euros? Fine.'],
  ['that announce a list', 'Adults pay these euros:\n'],
  ['of a heading', '# Adults pay 12 euros.\n\nFine.'],
  ['of a table', '| Adults pay 12 euros. | Fine. |\n|---|---|\n| Dogs pay 1 euro. | x |'],
  ['of a table without outer bars', 'Adults | pay 12 euros.\n--- | ---\n'],
  ['of a code block', '```\nAdults pay 12 euros. Fine.\n```\n'],
  ['of indented code', 'Code:\n\n    Adults pay 12 euros. Fine.\n'],
  ['of a code span', 'Run `Adults pay 12 euros. Fine.` now.'],
  ['of a code span over two lines', 'Run `Adults pay 12 euros.\nFine.` now.'],
  ['of a formula', '$$\nAdults pay 12 euros. Fine.\n$$'],
  ['of a formula in brackets', '\\[ Adults pay 12 euros. Fine. \\]'],
  ['of a link', '[Adults pay 12 euros. Fine.](https://example.org) x'],
  ['of a tag', '<img alt="Adults pay 12 euros. Fine."> x'],
  ['without a stop', 'Adults pay 12 euros\n\nFine.'],
  ['that no passage supports', 'Dogs are free on Sundays. Fine.'],
])('it leaves sentences alone %s', (_, text) => {
  expect(attribute([text])).toBe(text)
})

const textParts = fc.constantFrom(
  'Adults pay 12 euros',
  'e.g',
  'Dr',
  '12',
  '. ',
  '.',
  '! ',
  '?\n',
  '\n\n',
  '\n- ',
  '\n# ',
  '\n```\n',
  '`',
  '$',
  '| ',
  '成人票价为12欧元',
  '。',
  '”',
  '**',
  ' ',
  '[1]',
  '😀',
)

/** Texts that are `plain` with further markers, each with a space before it at most. */
function withMarkers(plain: string): RegExp {
  const added = '(?: ?\\[1\\])?'
  const characters = Array.from(plain, (character) => character.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
  return new RegExp(`^${added}${characters.join(added)}${added}$`, 'u')
}

it('changes nothing but adding markers, and does not depend on how the text is cut', () => {
  fc.assert(
    fc.property(fc.array(textParts, { maxLength: 30 }), fc.nat(100), (parts, cut) => {
      const text = parts.join('')
      const whole = attribute([text])
      const plain = createCitationRewriter(sources, { inline: true })
      expect(whole).toMatch(withMarkers(plain.push(text) + plain.end()))
      expect(attribute([...text])).toBe(whole)
      expect(attribute([text.slice(0, cut), text.slice(cut)])).toBe(whole)
    }),
    { numRuns: 2_000 },
  )
})

it('takes linear time, also for stops that end no sentence', () =>
  expectLinear((size) => attribute(['a. '.repeat(size), '` $ [ ', 'x. '.repeat(size)]), 2_000))

const { signal } = new AbortController()
const texts = {
  prices: 'The museum of Turku sells tickets. Adults pay 12 euros for a ticket, and children pay 6 euros.',
  hours: 'The museum of Turku is open from Tuesday to Friday. Dogs are not allowed in the garden behind the tower.',
}
const passages = Object.entries(texts).map(([name, text]) => {
  return { source: { documentId: name, title: `${name}.md`, url: null }, title: `${name}.md`, text }
})

async function answer(text: string, { attributes = true } = {}) {
  const citations = createAnswerCitations({ inline: true, attributes })
  citations.addPassages(passages)
  let output = ''
  for await (const piece of citations.push(text, signal)) output += piece
  output += citations.end()
  const markers = citations
    .cited()
    .flatMap(({ source, markers: of }) => of.map(({ isAttributed }) => [source.documentId, isAttributed]))
  return { output, markers, counts: citations.counts() }
}

describe('a sentence without a marker', () => {
  it('gets that of the passage that supports it', async () => {
    const { output, markers, counts } = await answer('Adults pay 12 euros for a ticket. Children pay 6 euros [1].')
    expect(output).toBe('Adults pay 12 euros for a ticket. [1] Children pay 6 euros [1].')
    expect(markers).toEqual([
      ['prices', true],
      ['prices', false],
    ])
    expect(counts).toMatchObject({ attributed: 1, supported: 1 })
  })

  it.each([
    'Adults pay 13 euros for a ticket.',
    'Dogs are allowed in the garden behind the tower.',
    'Children do not pay 6 euros.',
    'The files do not say whether children pay for the garden.',
    'Here is what I found about tickets.',
    'I hope this answers your question about the museum!',
  ])('gets none where no passage states it: %s', async (text) => {
    expect((await answer(text)).output).toBe(text)
  })

  it('gets one if it denies what the passage denies', async () => {
    expect((await answer('Dogs are not allowed in the garden.')).output).toBe('Dogs are not allowed in the garden. [1]')
  })

  it('gets none after a marker that failed', async () => {
    expect((await answer('Dogs are allowed in the garden behind the tower [2]. Fine.')).output).toBe(
      'Dogs are allowed in the garden behind the tower. Fine.',
    )
  })

  it('gets none where the Space does not want it', async () => {
    const text = 'Adults pay 12 euros for a ticket.'
    expect((await answer(text, { attributes: false })).output).toBe(text)
  })
})
