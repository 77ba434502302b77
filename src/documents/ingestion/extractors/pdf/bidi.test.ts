import createBidi from 'bidi-js'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultLimits } from '../../isolation/limits.ts'
import { buildGlyphPdf, buildTextPdf, type GlyphRun, type PdfText } from '../../testing/build-documents.ts'
import { createFileExtractor } from '../extract-file.ts'

const extractor = createFileExtractor()
const bidi = (createBidi as unknown as typeof createBidi.default)()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-bidi-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function readText(pdf: Buffer): Promise<string> {
  const filePath = path.join(folder, 'file.pdf')
  await writeFile(filePath, pdf)
  const input = {
    filePath,
    sizeBytes: pdf.length,
    limits: defaultLimits('pdf', pdf.length),
    report: { progress() {}, warn() {} },
  }
  const texts: string[] = []
  for await (const batch of extractor.extract('pdf', input)) texts.push(...batch.map(({ text }) => text))
  return texts.join('\n')
}

const letterWidth = 5

/** The letters of a line as a page shows them, from left to right, with each letter's place in the text. */
function shown(line: string, direction: 'rtl' | 'ltr'): { letter: string; index: number }[] {
  const levels = bidi.getEmbeddingLevels(line, direction)
  const mirrored = bidi.getMirroredCharactersMap(line, levels.levels)
  return bidi.getReorderedIndices(line, levels).map((index) => ({ letter: mirrored.get(index) ?? line[index]!, index }))
}

/** The ways in which producers draw a line: at once, word by word, or letter by letter, in the order of display or of reading. */
const producers: Record<string, (line: string, y: number, direction: 'rtl' | 'ltr') => GlyphRun[]> = {
  'a line at once': (line, y, direction) => [{ glyphs: shown(line, direction).map(({ letter }) => letter), x: 100, y }],
  'words in order of display': (line, y, direction) => words(line, y, direction),
  'words in order of reading': (line, y, direction) => words(line, y, direction).toReversed(),
  'letters in order of reading': (line, y, direction) =>
    shown(line, direction)
      .map(({ letter, index }, place) => ({ glyphs: [letter], x: 100 + place * letterWidth, y, index }))
      .sort((one, other) => one.index - other.index),
}

function words(line: string, y: number, direction: 'rtl' | 'ltr'): GlyphRun[] {
  const letters = shown(line, direction).map(({ letter }) => letter)
  const runs: GlyphRun[] = []
  for (const [place, letter] of letters.entries()) {
    if (letter === ' ') continue
    if (place === 0 || letters[place - 1] === ' ') runs.push({ glyphs: [], x: 100 + place * letterWidth, y })
    runs.at(-1)!.glyphs.push(letter)
  }
  return runs
}

const hebrew = [
  'ברוכים הבאים אל המדריך של Windows 10 למשתמשים',
  'המחיר הוא 25.50 שקל (כולל מע"מ) החל מ-2024',
  'שלחו הודעה אל office@example.org או התקשרו 03-1234567',
]
const arabic = [
  'في عام 2024 استخدم الفريق Microsoft Word وحده',
  'تقع المدينة على بعد 15 كيلومترا من الساحل (انظر الخريطة)',
  'This page has one line of English only',
  'النسخة الأخيرة من Portable Document Format متاحة للجميع',
]

test.each(Object.keys(producers))(
  'keeps the order of right-to-left pages with Latin words and numbers: %s',
  async (name) => {
    for (const lines of [hebrew, arabic]) {
      const pdf = buildGlyphPdf([lines.flatMap((line, index) => producers[name]!(line, 700 - index * 12, 'rtl'))])
      expect((await readText(pdf)).replace(/\s+/g, ' ')).toBe(lines.join(' '))
    }
  },
)

test.each(Object.keys(producers))('keeps the order of a right-to-left word on a Latin page: %s', async (name) => {
  const lines = [
    'The greeting שלום עולם means hello world and is',
    'used in many places, as the word سلام is elsewhere.',
  ]
  const pdf = buildGlyphPdf([lines.flatMap((line, index) => producers[name]!(line, 700 - index * 12, 'ltr'))])
  expect(await readText(pdf)).toBe(lines.join(' '))
})

test('reads Arabic ligatures and presentation forms as plain letters', async () => {
  const ligature = { glyphs: ['م', 'لا', 'س', ' ', 'ﻢ', 'ﻼ', 'ﺳ'], x: 100, y: 700 }
  expect(await readText(buildGlyphPdf([[ligature]]))).toBe('سلام سلام')
})

/** Texts at places that a page turned by quarter turns shows at x and y of the upright one. */
function turnTexts(texts: PdfText[], turns: number): PdfText[] {
  return texts.map((text) => {
    const [x, y] = [
      [text.x, text.y],
      [700 - text.y, text.x],
      [600 - text.x, 750 - text.y],
      [text.y, 700 - text.x],
    ][turns]!
    return { ...text, x: x!, y: y!, turns }
  })
}

test.each([0, 1, 2, 3])('reads a page that is drawn turned by %d quarters letter by letter', async (turns) => {
  const line = 'Turned line of some words here'
  const texts = [0, 1, 2].flatMap((row) =>
    Array.from(line, (text, place) => ({ text, x: 100 + place * 6, y: 500 - row * 12, size: 10 })).filter(
      ({ text }) => text !== ' ',
    ),
  )
  const text = await readText(buildTextPdf([{ texts: turnTexts(texts, turns) }]))
  expect(text.replace(/\s+/g, '')).toBe(line.repeat(3).replaceAll(' ', ''))
})

test.each(['\u2010', '\u00ad'])('joins words that are split at a line end by %j', async (hyphen) => {
  const lines = [`words of a docu${hyphen}`, 'ment that are parted']
  const pdf = buildGlyphPdf([lines.map((line, index) => ({ glyphs: Array.from(line), x: 100, y: 700 - index * 12 }))])
  expect(await readText(pdf)).toBe('words of a document that are parted')
})

test('puts letters of another font that are drawn behind the others of their line into its words', async () => {
  const line = 'mở cửa lúc chín giờ sáng'
  const others = 'ởửờ'
  const usual = { glyphs: Array.from(line, (letter) => (others.includes(letter) ? '' : letter)), x: 100, y: 700 }
  const later = Array.from(others, (letter) => ({
    glyphs: [letter],
    x: 100 + line.indexOf(letter) * letterWidth,
    y: 700,
  }))
  expect(await readText(buildGlyphPdf([[usual, ...later]]))).toBe(line)
})

test('leaves letters that are drawn over others in their order', async () => {
  const below = { glyphs: Array.from('a line'), x: 100, y: 700 }
  const above = { glyphs: Array.from('over'), x: 112, y: 700 }
  expect((await readText(buildGlyphPdf([[below, above]]))).replaceAll(/\s/g, '')).toBe('alineover')
})

test('has a blank between words that PDFium has in another order and that are close together', async () => {
  const word = (text: string, x: number) => ({ glyphs: Array.from(text), x, y: 700 })
  const runs = [
    word('\u05d2\u05d1\u05d0', 200),
    word('Limited', 161.9),
    word('Harbour', 125.2),
    word('\u05d5\u05d4\u05d3', 100),
  ]
  expect(await readText(buildGlyphPdf([runs]))).toContain('Harbour Limited')
})
