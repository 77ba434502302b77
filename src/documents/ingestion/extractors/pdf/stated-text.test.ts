import { expect, test } from 'vitest'
import { defaultLimits } from '../../isolation/limits.ts'
import { buildGlyphPdf, type GlyphRun, type StatedRuns } from '../../testing/build-documents.ts'
import { createFileExtractor } from '../extract-file.ts'

const extractor = createFileExtractor()

async function readText(...pages: (GlyphRun | StatedRuns)[][]): Promise<{ text: string; warnings: string[] }> {
  const content = buildGlyphPdf(pages)
  const warnings: string[] = []
  const input = {
    filePath: '',
    content,
    sizeBytes: content.length,
    limits: defaultLimits('pdf', content.length),
    report: { progress() {}, warn: ({ code }: { code: string }) => void warnings.push(code) },
  }
  const texts: string[] = []
  for await (const batch of extractor.extract('pdf', input)) texts.push(...batch.map(({ text }) => text))
  return { text: texts.join('\n'), warnings }
}

const y = 700
/** Every glyph is 5 wide and 10 high. */
const letterWidth = 5
const run = (x: number, ...glyphs: string[]): GlyphRun => ({ glyphs, x, y })
const blank = (x: number): GlyphRun => ({ glyphs: [], x, y })
const stated = (text: string, ...runs: GlyphRun[]): StatedRuns => ({ stated: text, runs })

test('a syllable is read once where the mark of one is drawn over the next one', async () => {
  const { text, warnings } = await readText([
    stated('ទាំ', run(100, '\u0001'), { ...run(106, '\u0002'), y: y - 0.4 }),
    run(105, 'ង'),
    run(110, 'អ'),
    stated('ស់', run(115, 'ស'), { ...run(121, '\u0002'), y: y - 0.4 }),
    run(120, 'ក'),
    stated('ក្នុ', run(125, 'ក'), { ...run(126, '\u0003'), y: y - 4 }),
    run(130, 'ង'),
  ])
  expect(text).toBe('ទាំងអស់កក្នុង')
  expect(warnings).toEqual([])
})

test('a blank that is drawn between syllables is a blank, and a sign without a width stays', async () => {
  const { text } = await readText([
    stated('កើ', run(100, 'ក')),
    blank(105),
    stated('ខើ', run(105.5, 'ខ')),
    stated('\u200b', blank(110.5)),
    stated('គើ', run(110.5, 'គ')),
  ])
  expect(text).toBe('កើ ខើ\u200bគើ')
})

/** A right-to-left line as browsers print it: letters from left to right, each with its text, and blanks on their own. */
function printed(line: string, blankWidth: number): (GlyphRun | StatedRuns)[] {
  let x = 100
  return Array.from(line)
    .toReversed()
    .map((letter) => {
      const at = x
      if (letter === '\u200c') return stated(letter, blank(at))
      x += letter === ' ' ? blankWidth : letterWidth
      return letter === ' ' ? blank(at) : stated(letter, run(at, letter.codePointAt(0)! % 2 ? 'ﺑ' : 'ﻪ'))
    })
}

test.each([0.3, 2.5])('Persian words keep their blanks and zero width non-joiners: blanks %d wide', async (width) => {
  const line = 'کتاب‌های کتابخانه‌ها را نمی‌توان بیش از این گرفت'
  expect((await readText(printed(line, width))).text).toBe(line)
})

test('blanks around numbers and Latin words of a right-to-left line are kept', async () => {
  const words = [run(100, 'ن', 'آ'), blank(110), run(110.4, '2', '5'), blank(120.4), run(120.8, 'O', 'K')]
  const { text } = await readText([...words, blank(130.8), run(131.2, 'ت', 'م', 'ی', 'ق')])
  expect(text).toBe(['قیمت', '25', 'OK', 'آن'].join(' '))
})

test('a blank is kept before a Latin word that ends a right-to-left line', async () => {
  const below = (x: number, letter: string) => stated(letter, { glyphs: [letter], x, y: y - 12 })
  const first = [run(100, 'O', 'K'), blank(110), stated('ت', run(110.4, 'ت')), stated('م', run(115.4, 'م'))]
  const { text } = await readText([...first, below(105.4, 'ن'), below(110.4, 'ا')])
  expect(text.replace('\n', ' ')).toBe('مت OK ان')
})

test('a letter with marks and a ligature that are stated are in the order of reading', async () => {
  const { text } = await readText([
    stated('م', run(100, 'م')),
    stated('لا', run(105, 'ﻼ')),
    stated('سَ', run(110, 'س'), { ...run(112, '\u0001'), y: y + 1 }),
  ])
  expect(text).toBe('سَلام')
})

test('a stated text that replaces lines stays where PDFium places it', async () => {
  const sentence = 'The figure shows how the amounts of each year grow.'
  const { text } = await readText([run(100, ...'Before'), stated(sentence, run(140, ...'Fig'))])
  expect(text).toBe(`Before ${sentence}`)
})
