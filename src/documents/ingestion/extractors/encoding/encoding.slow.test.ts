import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectCost, expectLinear } from '../../../../../test/harness/timing.ts'
import { detectFormat } from '../../detect-format.ts'
import type { DocumentFormat, ExtractionWarning } from '../../extraction.ts'
import { defaultLimits } from '../../isolation/limits.ts'
import { createFileExtractor } from '../extract-file.ts'
import { guessEncoding } from './guess-encoding.ts'
import { createLegacyDecoder } from './legacy-encodings.ts'
import { testSentences } from '../../testing/test-sentences.ts'

const extractor = createFileExtractor()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-encoding-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(content: Buffer, { format = 'txt' as DocumentFormat, declaredEncoding = '' } = {}) {
  const filePath = path.join(folder, `file.${format}`)
  await writeFile(filePath, content)
  const warnings: ExtractionWarning[] = []
  const report = { progress() {}, warn: (warning: ExtractionWarning) => void warnings.push(warning) }
  const limits = defaultLimits(format, content.length)
  const input = { filePath, sizeBytes: content.length, limits, report, ...(declaredEncoding && { declaredEncoding }) }
  const texts: string[] = []
  for await (const batch of extractor.extract(format, input)) texts.push(...batch.map(({ text }) => text))
  return { text: texts.join('\n'), warnings }
}

const cases = testSentences.flatMap(({ language, encodings, text }) =>
  encodings.filter((encoding) => encoding !== 'iso-2022-jp').map((encoding) => ({ language, encoding, text })),
)

/** Cuts of a text that take about so many bytes, from places spread over it. */
function cuts(text: string, encoding: string, bytes: number): string[] {
  const characters = Array.from(text)
  const length = Math.floor((bytes * characters.length) / iconv.encode(text, encoding).length)
  const pieces: string[] = []
  for (let from = 0; from === 0 || from + length <= characters.length; from += Math.max(length, 40))
    pieces.push(characters.slice(from, from + length).join(''))
  return pieces.filter((piece) => iconv.encode(piece, encoding).some((byte) => byte >= 0x80))
}

/** Share of the pieces that read as they were written. */
function accuracy(pieces: (text: string, encoding: string) => string[]) {
  const wrong: string[] = []
  let all = 0
  for (const { language, encoding, text } of cases)
    for (const piece of pieces(text, encoding)) {
      const bytes = iconv.encode(piece, encoding)
      const label = guessEncoding(bytes)
      all += 1
      if (createLegacyDecoder(label)!.decode(bytes).normalize('NFC') !== piece.normalize('NFC'))
        wrong.push(`${language} ${encoding} as ${label}`)
    }
  return { share: 1 - wrong.length / all, wrong }
}

describe('guesses the encoding of 30 languages', () => {
  test.each([
    ['20 bytes', 0.92, (text: string, encoding: string) => cuts(text, encoding, 20)],
    ['60 bytes', 0.98, (text: string, encoding: string) => cuts(text, encoding, 60)],
    ['a sentence', 1, (text: string) => [text]],
    ['2 KB', 1, (text: string) => [`${text}\n`.repeat(12)]],
    [
      '40 bytes repeated 50 times',
      0.98,
      (text: string, encoding: string) => [`${cuts(text, encoding, 40)[0]}\r\n`.repeat(50)],
    ],
  ])('from %s with an accuracy of %d or more', (_, minimum, pieces) => {
    const { share, wrong } = accuracy(pieces)
    expect(share, wrong.join(', ')).toBeGreaterThanOrEqual(minimum)
  })
})

const japanese = testSentences.find(({ language }) => language === 'Japanese')!.text
const chinese = testSentences.find(({ language }) => language === 'Simplified Chinese')!.text
const korean = testSentences.find(({ language }) => language === 'Korean')!.text
const russian = testSentences.find(({ language }) => language === 'Russian')!.text
/** ISO-2022-JP of 日本語のメール. */
const iso2022 = Buffer.from('\u001b$BF|K\\8l$N%a!<%k\u001b(B text', 'latin1')

test('reads ISO-2022-JP by its escape sequences', async () => {
  expect((await read(iso2022)).text).toBe('日本語のメール text')
})

test.each([
  ['Chinese', chinese],
  ['Japanese', japanese],
  ['Korean', korean],
  ['Russian', russian],
  ['short Chinese', '你好，世界'],
  ['English', 'Plain words.'],
])('accepts and reads UTF-16 and UTF-32 without a byte order mark: %s', async (_, text) => {
  for (const encoding of ['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be']) {
    const bytes = iconv.encode(text, encoding, { addBOM: false })
    expect(detectFormat({ fileName: 'a.txt', head: bytes }).supported).toBe(true)
    const { text: read1, warnings } = await read(bytes)
    expect(read1).toBe(text)
    expect(warnings).toEqual([{ code: 'encoding_guessed', message: expect.stringContaining(encoding) }])
  }
})

const shifted = (text: string, encoding: string) => iconv.encode(text, encoding).map((byte) => byte & 0x7f)
const between = (begin: string, bytes: Uint8Array, end: string) =>
  Buffer.concat([Buffer.from(begin), bytes, Buffer.from(end)])
/** As the codec of Python encodes it. */
const johab = Buffer.from(
  'a1a1976520b7a58865b76520c881b4e19069209881a681c8e120b861b7419da1b681a161208b6120b9a5b4f189c1208aa59fa1b54120b7b6b4e12095b79777d06194612e20f7d3f1ae',
  'hex',
)

test.each([
  ['iso-2022-kr', between('\u001b$)C\n\u000e', shifted('모든인간', 'euc-kr'), '\u000f (1948)\n'), '모든인간 (1948)'],
  [
    'hz-gb-2312',
    between('1 ~~: ~{', shifted('人人生而自由，在尊严和权利上', 'gb2312'), '~} ok'),
    '1 ~: 人人生而自由，在尊严和权利上 ok',
  ],
  [
    'utf-7',
    Buffer.from('Die Stra+AN8-e f+APw-hrt +APw-ber die Br+APw-cke, 1 +- 1'),
    'Die Straße führt über die Brücke, 1 + 1',
  ],
  ['johab', johab, '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 漢字'],
])('accepts and reads %s, guessed and declared', async (encoding, bytes, text) => {
  expect(detectFormat({ fileName: 'a.txt', head: bytes }).supported).toBe(true)
  const guessed = await read(bytes)
  expect(guessed.text.trim()).toBe(text)
  expect(guessed.warnings).toEqual([{ code: 'encoding_guessed', message: expect.stringContaining(encoding) }])
  expect(await read(bytes, { declaredEncoding: encoding })).toEqual({ ...guessed, warnings: [] })
})

test.each([
  'when %w~{a;b}~} or ~{x} then',
  'a ~{~} b',
  'x =~ /~{2}/',
  'user+tag@a.example +49 30 C++ a+bcd e+foo f+bar g+baz h+quux +AN8-',
])('reads source code as it is: %s', async (text) => {
  expect(await read(Buffer.from(text))).toEqual({ text, warnings: [] })
})

test('does not read binary data as UTF-16', () => {
  let seed = 7
  const bytes = Uint8Array.from({ length: 4096 }, () => (seed = (seed * 1103515245 + 12345) % 2147483648) >> 16)
  expect(detectFormat({ fileName: 'a.txt', head: bytes }).supported).toBe(false)
})

test.each(['txt', 'md', 'csv'] as const)('names a guessed encoding in a warning: %s', async (format) => {
  const { text, warnings } = await read(iconv.encode(russian, 'cp866'), { format })
  expect(text).toContain('рождаются свободными')
  expect(warnings).toEqual([{ code: 'encoding_guessed', message: expect.stringContaining('ibm866') }])
})

test.each([
  ['UTF-8', Buffer.from(russian), ''],
  ['ASCII', Buffer.from('plain words'), ''],
  ['a byte order mark', iconv.encode(russian, 'utf-16le', { addBOM: true }), ''],
  ['a declared encoding', iconv.encode(russian, 'koi8-r'), 'KOI8-R'],
  ['a declared code page', iconv.encode(russian, 'cp855'), 'cp855'],
])('gives no warning for %s', async (_, bytes, declaredEncoding) => {
  expect((await read(bytes, { declaredEncoding })).warnings).toEqual([])
})

test('reads a file in its declared encoding even where a guess would differ', async () => {
  const bytes = iconv.encode('Цена 5 руб', 'maccyrillic')
  expect((await read(bytes, { declaredEncoding: 'x-mac-cyrillic' })).text).toBe('Цена 5 руб')
})

test.each(['utf-8', 'shift_jis', 'us-ascii', 'no-such-encoding'])(
  'guesses where the bytes contradict the declared %s',
  async (declaredEncoding) => {
    const { text, warnings } = await read(iconv.encode(russian, 'windows-1251'), { declaredEncoding })
    expect(text).toBe(russian)
    expect(warnings).toEqual([{ code: 'encoding_guessed', message: expect.stringContaining('windows-1251') }])
  },
)

test('reads English with typographic signs as windows-1252', async () => {
  const text = 'It’s “quoted” – café, 5 € and more…'
  expect((await read(iconv.encode(text, 'windows-1252'))).text).toBe(text)
})

test('guesses from any bytes in linear time, and from many in that of the few that are read', async () => {
  const hostile = Uint8Array.from({ length: 64 * 1024 }, (_, index) => 0x80 + ((index * 7919) % 128))
  const readBytes = 6 * 1024
  const guess = (size: number) => guessEncoding(hostile.subarray(0, size))
  await expectLinear(guess, readBytes / 4)
  await expectCost(
    () => guess(hostile.length),
    () => guess(readBytes),
    3,
    'ten times the size',
  )
})
