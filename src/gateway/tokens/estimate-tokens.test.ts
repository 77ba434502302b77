import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectLinear } from '../../../test/harness/timing.ts'
import { JsonText } from '../../platform/bodies/index.ts'
import { estimateLongText, estimateTokens } from './token-counting.ts'

const prose = [
  'The committee met on Tuesday to discuss the budget, and postponed the decision until the following week.',
  'Die Donaudampfschifffahrtsgesellschaft hat ihren Sitz in Wien; die Überprüfung dauert länger als geplant.',
  'export function add(a: number, b: number): number {\n  return a + b // trivial\n}\n',
  '{"id": 123456789, "name": "Müller", "tags": ["a", "b"], "ratio": 0.123456789}',
  '東京は日本の首都であり、世界最大級の都市圏を形成している。',
  'Москва является столицей Российской Федерации и крупнейшим городом страны.',
  'مرحبا بالعالم، هذا نص عربي قصير للاختبار.',
  '👩‍👩‍👧‍👦 family 🎉🎉🎉 party 🇩🇪',
  'aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQgZW5jb2RlZCB0ZXh0IHdpdGggbm9pc2Ugem9vcA==',
  'ACGTACGTTGCATGCATTTACGGCATCGATCGGATATATCGCGCGATTAACCGG',
]

describe('estimates without a tokenizer', () => {
  it('bound real tokenizers from above on prose, code, scripts and noise', () => {
    for (const text of prose) {
      const { bound } = estimateTokens(text)
      expect(bound, text).toBeGreaterThanOrEqual(countO200k(text))
      expect(bound, text).toBeGreaterThanOrEqual(countCl100k(text))
    }
  })

  it('bound lists of single digits, where each space is a separate token', () => {
    for (const text of ['1 2 3 4 5 6 7 8 9 '.repeat(50), '  0  0  0  0'.repeat(50), '0   0 1\n 2 \n3 '.repeat(50)]) {
      const { bound } = estimateTokens(text)
      expect(bound).toBeGreaterThanOrEqual(countO200k(text))
      expect(bound).toBeGreaterThanOrEqual(countCl100k(text))
    }
  })

  it('bound real tokenizers from above on generated text', () => {
    const word = fc.oneof(
      fc.stringMatching(/^[a-z]{1,12}$/),
      fc.stringMatching(/^[A-Za-z0-9+/]{1,40}$/),
      fc.stringMatching(/^[0-9.,;:!?(){}<>=+-]{1,10}$/),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.constantFrom(' ', '\n', '\t', '  ', '\n\n'),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (words) => {
        const text = words.join(' ')
        expect(estimateTokens(text).bound).toBeGreaterThanOrEqual(countO200k(text, { allowedSpecial: 'all' }))
      }),
      { numRuns: 300 },
    )
  })

  it('estimate ordinary English within a third', () => {
    const text = prose[0]!.repeat(40)
    const actual = countO200k(text)
    const { estimate } = estimateTokens(text)
    expect(Math.abs(estimate - actual) / actual).toBeLessThan(1 / 3)
  })

  it('take linear time', async () => {
    await expectLinear((count) => estimateTokens('some words and 123 numbers, '.repeat(count)), 2_000)
  })
})

describe('estimates of a long text that is not decoded', () => {
  const longText = (text: string) => {
    const literal = JSON.stringify(text).slice(1, -1)
    const shortEscapes = literal.match(/\\["\\/bfnrt]/g)?.length ?? 0
    const leads = Buffer.from(literal).filter((byte) => (byte & 0xc0) !== 0x80).length
    return new JsonText([Buffer.from(literal)], { leads, shortEscapes, longEscapes: 0, base64Bytes: 0 })
  }

  it('bound real tokenizers from above, and are near the estimate of the whole text', () => {
    for (const text of prose) {
      const long = `${text}\n`.repeat(Math.ceil(20_000 / text.length))
      const { estimate, bound } = estimateLongText(longText(long))
      expect(bound, text).toBeGreaterThanOrEqual(countO200k(long))
      expect(bound, text).toBeGreaterThanOrEqual(countCl100k(long))
      expect(bound, text).toBeGreaterThanOrEqual(estimateTokens(long).bound)
      const whole = estimateTokens(long).estimate
      expect(Math.abs(estimate - whole) / whole, text).toBeLessThan(0.15)
    }
  })

  it('bound English prose at most by half above the bound of the whole text', () => {
    const long = prose[0]!.repeat(200)
    expect(estimateLongText(longText(long)).bound).toBeLessThan(estimateTokens(long).bound * 1.5)
  })
})
