import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wordRecall } from '../../../../scripts/corpus/word-recall.ts'
import { sharedDataFolder } from '../../../../test/harness/shared-data.ts'
import { ExtractionError } from '../extraction.ts'
import type { ExtractorPool } from '../isolation/extractor-pool.ts'
import type { ExtractionLimits } from '../isolation/limits.ts'
import type { RecognitionRequest } from '../isolation/protocol.ts'
import { buildPptx, buildTextPdf, type PdfText } from '../testing/build-documents.ts'
import { buildTiff, drawPages } from '../testing/build-images.ts'
import { buildPng } from './picture-file.ts'
import { buildDocxWithPictures, drawnPicture, pictureParts } from '../testing/build-pictures.ts'
import { type ExtractorStage, openExtractorStage } from '../testing/extractor-stage.ts'
import { buildScannedPdf } from '../testing/scanned-pdf.ts'
import { isOcrInstalled } from './engine.ts'
import type { KeptPage } from './recogniser.ts'

const installed = isOcrInstalled()
let stage: ExtractorStage
let pool: ExtractorPool
beforeAll(async () => {
  stage = await openExtractorStage()
  pool = stage.startPool()
})
afterAll(async () => {
  await stage.endTest()
  await stage.remove()
})

const auto: RecognitionRequest = { languages: [], isDeferred: false, keptPages: [] }

/** Reads a pdf, or a picture, in a child process, as the service does. */
async function read(
  content: Buffer,
  recognition?: RecognitionRequest,
  limits?: Partial<ExtractionLimits>,
  name = 'scan.pdf',
) {
  const recognised: number[] = []
  const newPages: KeptPage[] = []
  const { chunks, summary } = pool.extract({
    ...(await stage.put(name, content)),
    recognition,
    limits,
    readsEmbedded: true,
    onProgress: (done, total, pages) => recognised.push(pages),
    onRecognised: (page) => page && newPages.push(page),
  })
  const all = (await Array.fromAsync(chunks)).flat()
  const { warnings } = await summary
  const text = all.map((chunk) => chunk.text).join('\n')
  return { text, chunks: all, warnings, recognised: Math.max(...recognised), newPages }
}

const page = (texts: string[]): PdfText[] => texts.map((text, line) => ({ text, x: 72, y: 700 - line * 18, size: 12 }))
const roses = page(['The garden of the museum has', 'two hundred roses of many kinds.'])
const birds = page(['Seven birds were counted', 'at the lake before noon.'])

test('fails a scan for want of text where text recognition is off', async () => {
  await expect(read(await buildScannedPdf([roses]))).rejects.toMatchObject({ code: 'no_text' })
})

describe.skipIf(!installed)(`text recognition${installed ? '' : ' (npm run install:ocr has not run)'}`, () => {
  test('reads scanned pages as paragraphs, and names them', async () => {
    const { text, chunks, warnings, recognised } = await read(await buildScannedPdf([roses, birds]), auto)
    expect(text.split(/\s+/).join(' ')).toBe(
      'The garden of the museum has two hundred roses of many kinds. Seven birds were counted at the lake before noon.',
    )
    expect(chunks.map(({ pageFrom }) => pageFrom)).toEqual([1, 1, 2, 2])
    expect(warnings).toEqual([{ code: 'recognised_text', message: expect.any(String), pages: [1, 2] }])
    expect(recognised).toBe(2)
  })

  test('reads no page again that an interrupted run has read', async () => {
    const scan = await buildScannedPdf([roses, birds])
    const whole = await read(scan, auto)
    expect(whole.newPages.map(({ page }) => page)).toEqual([1, 2])
    const [first] = whole.newPages
    const rest = await read(scan, { ...auto, keptPages: [first!] })
    expect(rest.newPages).toEqual([whole.newPages[1]])
    expect({ ...rest, newPages: null }).toEqual({ ...whole, newPages: null })
    const none = await read(scan, { ...auto, keptPages: whole.newPages })
    expect(none.newPages).toEqual([])
    expect(none.chunks).toEqual(whole.chunks)
  })

  test('does not count the time of recognition as that of the extraction', async () => {
    const { text } = await read(await buildScannedPdf([roses]), auto, { timeLimitMs: 800 })
    expect(text).toContain('hundred roses')
  })

  test('leaves pages with text as they are', async () => {
    const { text, warnings } = await read(buildTextPdf([{ texts: roses }]), auto)
    expect(text.split(/\s+/).join(' ')).toBe('The garden of the museum has two hundred roses of many kinds.')
    expect(warnings).toEqual([])
  })

  test('reads a page from its picture if its letters are no language', async () => {
    const moved = (text: string) => text.replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 29))
    const texts = Array.from({ length: 12 }, (_, line) => `The tenant pays the rent and keeps the receipt ${line}`)
    const { text, warnings } = await read(buildTextPdf([{ texts: page(texts.map(moved)) }]), auto)
    // What the glyphs show is the text that they stand for, here the moved one.
    expect(warnings.map(({ code }) => code)).toEqual([expect.stringMatching(/recogni/)])
    expect(text).not.toBe('')
  })

  test('warns if the words are uncertain', async () => {
    const { warnings } = await read(await buildScannedPdf([roses], { blur: 5 }), { ...auto, languages: ['eng'] })
    expect(warnings).toEqual([{ code: 'uncertain_recognition', message: expect.any(String), pages: [1] }])
  })

  test.each([1, 2, 3])('reads a page that is sideways or upside down, by %i quarter turns', async (turns) => {
    const texts = [
      'The garden of the museum has two hundred',
      'roses of many kinds. They are watered in',
      'the evening, and in the summer twice a day.',
      '',
      'Seven birds were counted at the lake before',
      'noon. The park opens at eight and closes',
      'when it gets dark.',
    ]
    const [x, y, stepX, stepY] = [
      [0, 0, 0, 0],
      [200, 150, 20, 0],
      [450, 400, 0, 20],
      [400, 650, -20, 0],
    ][turns] as [number, number, number, number]
    const turned = texts.map((text, line) => ({ text, x: x + line * stepX, y: y + line * stepY, size: 14, turns }))
    const { text, warnings } = await read(await buildScannedPdf([turned.filter(({ text }) => text !== '')]), auto)
    expect(text.split(/\s+/).join(' ')).toBe(texts.filter((line) => line !== '').join(' '))
    expect(warnings).toEqual([{ code: 'recognised_text', message: expect.any(String), pages: [1] }])
  })

  test('reads a picture, and each page of a TIFF file', async () => {
    const [first, second] = await drawPages([roses, birds])
    const png = await read(buildPng(first!), auto, undefined, 'photo.image')
    expect(png.text.split(/\s+/).join(' ')).toBe('The garden of the museum has two hundred roses of many kinds.')
    const upsideDown = { ...first!, pixels: first!.pixels.toReversed(), orientation: 3 }
    const blank = { ...first!, pixels: new Uint8Array(first!.pixels.length).fill(255) }
    const tiff = await read(buildTiff([second!, upsideDown, blank]), auto, undefined, 'fax.image')
    expect(tiff.text.split(/\s+/).join(' ')).toBe(
      'Seven birds were counted at the lake before noon. The garden of the museum has two hundred roses of many kinds.',
    )
    expect(tiff.warnings).toEqual([
      { code: 'recognised_text', message: expect.any(String), pages: [1, 2] },
      { code: 'pages_without_text', message: expect.any(String), pages: [3] },
    ])
    const kept = await read(
      buildTiff([second!, upsideDown, blank]),
      { ...auto, keptPages: tiff.newPages },
      undefined,
      'fax.image',
    )
    expect(kept).toMatchObject({ newPages: [], chunks: tiff.chunks })
  })

  test('reads the text of pictures in office files, each once and at its place', async () => {
    const [first, second] = (await drawPages([roses, birds])).map(buildPng)
    const file = buildDocxWithPictures({ 'a.png': first!, 'damaged.png': first!.subarray(0, 3_000) }, (id) => [
      drawnPicture(id),
      drawnPicture(id),
    ])
    const { text, warnings } = await read(file, auto, undefined, 'letter.docx')
    expect(text.split(/\s+/).join(' ')).toBe(
      'First. The garden of the museum has two hundred roses of many kinds. Last.',
    )
    expect(warnings).toEqual([
      { code: 'embedded_content_skipped', message: expect.stringContaining('1 picture without') },
      { code: 'recognised_text', message: expect.stringContaining('of 1 picture was') },
    ])
    const slides = buildPptx(
      [{ content: drawnPicture('p0') }, { content: drawnPicture('p0') }],
      pictureParts('ppt/slides/_rels/1.xml.rels', 'ppt/media', { 'b.png': second! }),
    )
    const shown = await read(slides, auto, undefined, 'slides.pptx')
    expect(shown.text).toContain('Seven birds were counted')
    expect(shown.warnings).toContainEqual({ code: 'recognised_text', message: expect.any(String), pages: [2] })
    const waiting = read(file, { ...auto, isDeferred: true }, undefined, 'letter.docx')
    await expect(waiting).rejects.toMatchObject({ code: 'processing_timeout' })
  })

  test('reads no further pictures of a file after many without text', async () => {
    const photos = Array.from({ length: 22 }, (_, index) => {
      const pixels = new Uint8Array(60_000).fill(200 + index)
      return [`${index}.png`, buildPng({ width: 300, height: 200, pixels })] as const
    })
    const { newPages, warnings } = await read(
      buildDocxWithPictures(Object.fromEntries(photos)),
      { ...auto, languages: ['eng'] },
      undefined,
      'album.docx',
    )
    expect(newPages).toEqual([])
    expect(warnings).toEqual([
      { code: 'embedded_content_skipped', message: expect.stringContaining('2 pictures without') },
    ])
  })

  test.each([
    [
      'a damaged picture',
      () => buildPng({ width: 30, height: 20, pixels: new Uint8Array(600) }).subarray(0, 60),
      'corrupt_file',
    ],
    [
      'a picture of more dots than memory allows',
      () => buildPng({ width: 60_000, height: 60_000, pixels: new Uint8Array(0) }),
      'too_complex',
    ],
    [
      'a picture without text',
      () => buildPng({ width: 300, height: 200, pixels: new Uint8Array(60_000).fill(255) }),
      'no_text',
    ],
  ])('fails %s', async (_, build, code) => {
    await expect(read(build(), auto, undefined, 'photo.image')).rejects.toMatchObject({ code })
  })

  test('leaves a scan to a worker with more time', async () => {
    const reading = read(await buildScannedPdf([roses]), { ...auto, isDeferred: true })
    await expect(reading).rejects.toThrow(ExtractionError)
    await expect(reading).rejects.toMatchObject({ code: 'processing_timeout' })
  })
})

/** A page takes seconds; the figures of all are in docs/understand/ingestion.md. */
const measured = ['scans/en-plain-0.pdf', 'scans/en-faint-0.pdf', 'scans/de-noise-1.pdf']
const folder = sharedDataFolder('office-and-scans')
const scans: { id: string; grade: 'clean' | 'noisy'; expected_file: string }[] = folder
  ? JSON.parse(await readFile(path.join(folder, 'index.json'), 'utf8')).files.filter(({ id }: { id: string }) =>
      measured.includes(id),
    )
  : []

describe.skipIf(!installed || !folder)(`shared scans${folder ? '' : ' (folder is missing)'}`, () => {
  test.each(scans)('$id yields its words', { timeout: 300_000 }, async ({ id, grade, expected_file }) => {
    const { text } = await read(await readFile(path.join(folder!, id)), auto)
    const expected = await readFile(path.join(folder!, expected_file), 'utf8')
    expect(wordRecall(expected, text)).toBeGreaterThanOrEqual(grade === 'clean' ? 0.9 : 0.75)
  })
})
