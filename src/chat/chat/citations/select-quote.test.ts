import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createQuotes, maximumQuoteCharacters, selectQuote as select } from './select-quote.ts'

const selectQuote = (passage: string, cited: string) => select(passage, cited).text

const museum = `The museum is open from Tuesday to Friday. On Sundays it closes at 17:00.

A ticket costs 12 euros. Children under six years enter free of charge. ${'The garden has many roses. '.repeat(30)}The pond holds forty herons.`

describe('a quote', () => {
  test('is for the part of a sentence, if the passage has two words of it', () => {
    const sentence = 'The mug costs 8.50, the poster costs 24.90, others'
    const quotes = createQuotes('Poster | 24.90\nMug | 8.50')
    expect(quotes({ sentence, part: 'The mug costs 8.50' }).text).toBe('Mug | 8.50')
    expect(quotes({ sentence, part: ', the poster costs 24.90' }).text).toBe('Poster | 24.90')
    expect(quotes({ sentence, part: ', others' }).text).toBe('Poster | 24.90\nMug | 8.50')
  })

  test('is the sentence with the words of the cited sentence', () => {
    expect(selectQuote(museum, 'Tickets cost 12 euros.')).toBe('A ticket costs 12 euros.')
    expect(selectQuote(museum, 'There are forty herons in the pond.')).toBe('The pond holds forty herons.')
  })

  test('spans several sentences where each of them adds a word', () => {
    expect(selectQuote(museum, 'A ticket is 12 euros, and children enter free.')).toBe(
      'A ticket costs 12 euros. Children under six years enter free of charge.',
    )
  })

  test('is the beginning of a passage that shares no word', () => {
    const quote = selectQuote(museum, 'Zzz')
    expect(museum.startsWith(quote)).toBe(true)
    expect(quote.length).toBeGreaterThan(100)
  })

  test('is a piece of a sentence that is longer than a quote', () => {
    const long = `${'word '.repeat(200)}herons ${'more '.repeat(200)}`
    const quote = selectQuote(long, 'herons')
    expect(quote).toContain('herons')
    expect(quote.length).toBeLessThanOrEqual(maximumQuoteCharacters)
  })

  test('finds sentences in scripts without spaces', () => {
    expect(
      selectQuote('博物館は火曜日に開きます。券は十二ユーロです。庭には薔薇があります。', '券の値段は十二ユーロ'),
    ).toBe('券は十二ユーロです。')
  })

  test('is a part of the passage, at most 300 characters long, and the same each time', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'herons', ' ', '. ', '\n', '𝒳', '.', '12', 'ß'),
      maxLength: 400,
    })
    fc.assert(
      fc.property(text, text, (passage, cited) => {
        const quote = selectQuote(passage, cited)
        const { text, at } = select(passage, cited)
        expect(passage.slice(at, at + text.length)).toBe(quote)
        expect([...quote].length).toBeLessThanOrEqual(maximumQuoteCharacters)
        expect(quote.isWellFormed()).toBe(true)
        expect(selectQuote(passage, cited)).toBe(quote)
        if (passage.trim() !== '') expect(quote).not.toBe('')
      }),
    )
  })
})
