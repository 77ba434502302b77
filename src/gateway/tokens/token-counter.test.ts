import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../test/harness/timing.ts'
import { createTokenCounter, loadVocabulary } from './index.ts'

const counter = createTokenCounter(loadVocabulary())
/** An independent implementation, quadratic in the longest word. */
const reference = (text: string) => countTokens(text, { disallowedSpecial: new Set() })

describe('token counts equal those of another o200k implementation', () => {
  test.each([
    ['English', "The company's handbook says: we'll meet at 10:30, won't we?\n\nDON'T be late; it'S 2024-01-31."],
    ['German', 'Die Übergabeprotokolle müssen spätestens am Straßenübergang vorliegen – „sonst nichts“.'],
    ['Thai', 'ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน'],
    ['Chinese', '今天天气很好,我们去公园散步吧。价格是１２３４５元。'],
    ['Japanese', 'こんにちは、世界。カタカナとｶﾅ。'],
    ['Hindi', 'नमस्ते दुनिया, यह एक परीक्षण है।'],
    ['Arabic', 'مرحبا بالعالم، هذا اختبارٌ للنَّصِّ العربي.'],
    ['emoji', '👩‍👩‍👧‍👦🇩🇪😀😀😀 ok 👍🏽'],
    ['combining marks', 'e\u0301\u0323\u0301 \u0301\u0301\u0301 a\u0301B'],
    ['code', 'function f(a,b){\r\n\treturn a!==b//?\n\n\n}  \n   x'],
    ['blanks', '   \n \t \u3000\u00a0 a  \r\n\r\n'],
    ['a control token', 'before<|endoftext|>after<|im_start|>'],
    ['lone surrogates', 'a\ud800b\udc00\ud83d'],
    ['nothing', ''],
  ])('%s', (_name, text) => {
    expect(counter.count(text)).toBe(reference(text))
  })

  const characters = [
    ...' \n\r\t/\u00a0\u3000\u2028',
    ...'abcXYZstmdlrveSTLVERD\'"',
    ...'0129.,;:!?-_=+#*<>|()[]{}\\`~',
    ...'äßéǅʰªſKºΑωЖя',
    ...'漢字かナ한กๆาुिعאّ٣五½',
    ...'\u0301\u0345\u200d\u200b\u00ad\ufe0f',
    '😀',
    '👩',
    '𝒳',
    '𐐀',
    '\ud800',
    '\udfff',
  ]

  test('random mixtures of scripts, signs and blanks', () => {
    const mixtures = fc.array(fc.constantFrom(...characters), { maxLength: 60 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(mixtures, (text) => counter.count(text) === reference(text)),
      { numRuns: 5_000 },
    )
  })

  test('random runs of few different characters', () => {
    const runs = fc
      .array(fc.tuple(fc.constantFrom(...characters), fc.integer({ min: 1, max: 40 })), { maxLength: 6 })
      .map((parts) => parts.map(([character, count]) => character.repeat(count)).join(''))
    fc.assert(
      fc.property(runs, (text) => counter.count(text) === reference(text)),
      { numRuns: 2_000 },
    )
  })

  test('any Unicode text', () => {
    // The other implementation loses byte order marks where it decodes parts of a word, and splits at U+FEFF but not at U+0085.
    const texts = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => !/[\ufeff\u0085]/.test(text))
    fc.assert(
      fc.property(texts, (text) => counter.count(text) === reference(text)),
      { numRuns: 3_000 },
    )
  })
})

test('counts a message of equal characters in linear time', { timeout: 120_000 }, async () => {
  for (const unit of ['😀', 'ก', 'a', 'A', ' ', '\n', '.', '7', '\u0301', '漢', '<source ', "'s", 'aA', '\t \n']) {
    const count = (length: number) => counter.count(unit.repeat(Math.floor(length / unit.length)))
    await expectLinear(count, 10_000, JSON.stringify(unit))
  }
})

test('counts a run far longer than a message, with a token or two more for each cut', () => {
  const tokens = counter.count('a'.repeat(2_000_000))
  // Eight letters a token.
  expect(tokens).toBeGreaterThanOrEqual(250_000)
  expect(tokens).toBeLessThan(250_020)
})
