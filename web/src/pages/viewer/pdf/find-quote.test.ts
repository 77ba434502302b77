import { describe, expect, it } from 'vitest'
import { expectCost } from '../../../../../test/harness/timing.ts'
import { findQuote } from './find-quote.ts'

const found = (page: string, quote: string) => findQuote(page, quote).map(({ start, end }) => page.slice(start, end))

describe('a quote on a page of a pdf', () => {
  it('is found across lines, hyphens, ligatures and other white space', () => {
    const page = 'Chapter 2\nThe ﬁrst respon-\nsibility  of the\nconservators (1) is hu-\nmidity.\nNext.'
    expect(found(page, 'The first responsibility of the conservators (1) is humidity.')).toEqual([
      'The ﬁrst respon-\nsibility  of the\nconservators (1) is hu-\nmidity.',
    ])
  })

  it('ends with the signs of the quote, and with no others', () => {
    expect(found('"Really?" she said.', 'Really?')).toEqual(['Really?'])
    expect(found('It is so. And', 'It is so')).toEqual(['It is so'])
    expect(found('価格は五百円。次', '価格は五百円。')).toEqual(['価格は五百円。'])
    expect(found('end 𝒜. More', 'end 𝒜.')).toEqual(['end 𝒜.'])
  })

  it('is found in parts where it continues on the next page, also among repeated phrases', () => {
    const phrase = 'the collection of ships is maintained with care'
    const quote = `First ${phrase}. And then ${phrase} again and again until the evening of the day.`
    const one = `Page one. First it rains. First ${phrase}`
    const two = `And then ${phrase} again and again until the evening of the day. The ${phrase}.`
    expect(found(one, quote)).toEqual([`First ${phrase}`])
    expect(found(two, quote)).toEqual([quote.slice(quote.indexOf('And then'), -1)])
    const whole = `${one} ${two} ${phrase}`
    expect(found(two, whole)).toEqual([two.slice(0, -1)])
  })

  it('is found by a few letters at the border, where it is known to continue', () => {
    const quote = 'It is written. Room 7 shows ships, and room 8 shows maps. It is over.'
    const before = 'Room 6 shows ships, and room 5 shows maps. It is written.'
    const after = 'It is over. Room 9 shows ships, and room 1 shows maps.'
    const on = (page: string, part: 'begins' | 'ends') =>
      findQuote(page, quote, part).map(({ start, end }) => page.slice(start, end))
    expect(on(before, 'begins')).toEqual(['It is written'])
    expect(on(after, 'ends')).toEqual(['It is over'])
  })

  it('is found in parts where the page has other text between them', () => {
    const page = 'Measurements of the eastern harbour wall\n17\nPRINT 24\nwere taken in the winter of that year.'
    const quote = 'Measurements of the eastern harbour wall were taken in the winter of that year.'
    expect(found(page, quote)).toEqual([page.slice(0, -1)])
    const far = page.replace('PRINT 24', 'An advertisement of another company, with its own long text.')
    expect(found(far, quote)).toEqual([
      'Measurements of the eastern harbour wall',
      'were taken in the winter of that year',
    ])
  })

  it('is not found where only short words agree', () => {
    expect(findQuote('The ships are in the harbour.', 'The collection is in the museum of the town.')).toEqual([])
    expect(findQuote('Some text', '… — !')).toEqual([])
    expect(findQuote('', 'quote')).toEqual([])
  })

  it.each([
    ['a', 'b'],
    ['ab', 'c'],
  ])('takes no longer on a hostile page of %j that is longer than what is read', async (unit, other) => {
    const quote = `${unit.repeat(6_000 / unit.length)}${other}${unit.repeat(6_000 / unit.length)}`
    const find = (pageUnits: number) => findQuote(unit.repeat(pageUnits / unit.length), quote)
    const longest = () => find(100_000)
    await expectCost(() => find(1_000_000), longest, 3, 'a page of ten times the size')
  })
})
