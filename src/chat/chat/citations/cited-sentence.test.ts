import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCitationRewriter } from './citation-rewriter.ts'

const source = { documentId: 'a', title: 'a.pdf', url: null }
/** Twenty passages of one document. */
const sources = Array.from({ length: 20 }, () => source)

const sentencesOf = (text: string) => citedIn([text]).map(({ sentence }) => sentence)
const partsOf = (text: string) => citedIn([text]).map(({ part }) => part)

function citedIn(pieces: readonly string[]) {
  const rewriter = createCitationRewriter(sources, { inline: true })
  for (const piece of pieces) rewriter.push(piece)
  rewriter.end()
  return rewriter.cited().flatMap(({ markers }) => markers.map(({ cited }) => cited()))
}

describe('the sentence of a marker', () => {
  test.each([
    ['Rain falls. Tickets cost 12 euros [3].', 'Tickets cost 12 euros'],
    ['Rain falls. Tickets of Dr. Smith cost 12 euros [3].', 'Tickets of Dr. Smith cost 12 euros'],
    ['Rain falls. Tickets cost 12 euros. [3] Sun shines.', 'Tickets cost 12 euros'],
    ['Rain falls. According to [3] tickets cost 12.50 euros. Sun.', 'According to tickets cost 12.50 euros'],
    ['# Prices\n- Tickets cost 12 euros [3]\n- Children pay nothing', '- Tickets cost 12 euros'],
    ['雨が降る。券は12ユーロです[3]。晴れ。', '券は12ユーロです'],
    ['[3] says it', 'says it'],
  ])('in %j is %j', (text, sentence) => {
    expect(sentencesOf(text)).toEqual([sentence])
  })

  test('is known for each marker', () => {
    expect(sentencesOf('Rain falls [1][2]. Sun shines [2]. Wind blows [3].')).toEqual([
      'Rain falls',
      'Rain falls',
      'Sun shines',
      'Wind blows',
    ])
  })

  test('at the beginning of a line is the sentence after it', () => {
    expect(sentencesOf('Rain falls.\n- [2] Sun shines. Wind blows.')).toEqual(['Sun shines'])
  })

  test('has the part since the row of markers before', () => {
    expect(
      partsOf('Rain falls [1][2] and snow melts [3], later [4]. Sun [5] shines. According to [6] it hails.'),
    ).toEqual(['Rain falls', 'Rain falls', ' and snow melts', ', later', 'Sun', 'According to'])
  })

  test('has a bounded length in a text without stops', () => {
    const [sentence] = sentencesOf(`${'word '.repeat(5_000)}[1]${' word'.repeat(5_000)}`)
    expect(sentence!.length).toBeLessThanOrEqual(900)
  })

  test('does not depend on how the text is cut', () => {
    const texts = fc.array(
      fc.constantFrom('Rain ', 'costs 3.5', '. ', '! ', '\n', '[1]', '[2]', ' [3]', '“so.” ', 'a'),
      {
        maxLength: 40,
      },
    )
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 9 }), (parts, length) => {
        const text = parts.join('')
        const pieces = text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? []
        expect(citedIn(pieces)).toEqual(citedIn([text]))
      }),
    )
  })
})
