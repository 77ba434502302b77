import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../../platform/kernel/index.ts'
import { createExtractorPool, type ExtractorPool } from '../isolation/extractor-pool.ts'
import { readImagePages } from '../extractors/image/image-pages.ts'
import type { PdfText } from '../testing/build-documents.ts'
import { buildTiff, drawPages } from '../testing/build-images.ts'
import { buildDocxWithPictures, drawnPicture } from '../testing/build-pictures.ts'
import { chunking, type ExtractorStage, openExtractorStage } from '../testing/extractor-stage.ts'
import { buildScannedPdf } from '../testing/scanned-pdf.ts'
import { buildPng } from './picture-file.ts'
import { type PictureFile, type RecognitionService, RecognitionServiceError } from './recognition-service.ts'
import type { KeptPage } from './recogniser.ts'

let stage: ExtractorStage
let pool: ExtractorPool | undefined
beforeAll(async () => {
  stage = await openExtractorStage()
})
afterEach(() => pool?.close())
afterAll(() => stage.remove())

/** Reads a file in a child process, whose pictures `recognise` reads. */
async function read(name: string, content: Buffer, recognise: RecognitionService['recognise'], kept: KeptPage[] = []) {
  const recognitionService = { recognise }
  pool = createExtractorPool({ size: 1, chunking, readableFolders: [stage.folder], recognitionService, log: silentLog })
  const newPages: KeptPage[] = []
  const { chunks, summary } = pool.extract({
    ...(await stage.put(name, content)),
    readsEmbedded: true,
    recognition: { languages: ['deu'], isDeferred: false, keptPages: kept },
    onRecognised: (page) => page && newPages.push(page),
  })
  const texts = (await Array.fromAsync(chunks)).flat().map(({ text }) => text)
  return { texts, newPages, warnings: (await summary).warnings }
}

const page = (texts: string[]): PdfText[] => texts.map((text, line) => ({ text, x: 72, y: 700 - line * 18, size: 12 }))
const roses = page(['The garden of the museum has'])
const birds = page(['Seven birds were counted'])

test('has the pages of a scan read by the service, one after the other', async () => {
  const asked: (PictureFile & { languages: readonly string[] })[] = []
  const answers = ['Two hundred\r\nroses of\0 many kinds.\n\nA second paragraph.\n\f', '', null]
  const scan = await buildScannedPdf([roses, birds, roses])
  const { texts, warnings, newPages } = await read('scan.pdf', scan, async (picture, languages) => {
    asked.push({ ...picture, languages })
    return answers[asked.length - 1]!
  })
  expect(texts).toEqual(['Two hundred roses of many kinds.', 'A second paragraph.'])
  expect(asked.map(({ mimeType, languages }) => ({ mimeType, languages }))).toEqual(
    Array.from({ length: 3 }, () => ({ mimeType: 'image/png', languages: ['deu'] })),
  )
  const sizes = asked.flatMap(({ bytes }) => readImagePages(Buffer.from(bytes)))
  expect(sizes).toMatchObject([{ width: 1700, height: 2200 }, {}, {}])
  expect(warnings).toContainEqual({ code: 'recognised_text', message: expect.any(String), pages: [1] })
  expect(warnings).toContainEqual({ code: 'pages_without_text', message: expect.any(String), pages: [2, 3] })
  expect(newPages[0]).toMatchObject({ page: 1, confidence: null })
  const again = await read('scan.pdf', scan, async () => null, newPages.slice(0, 1))
  expect(again.texts).toEqual(texts)
})

test('sends each page of a TIFF file by itself, and the pictures of office files', async () => {
  const [first, second] = await drawPages([roses, birds])
  const pages: number[] = []
  await read('fax.image', buildTiff([first!, second!]), async ({ bytes, mimeType }) => {
    expect(mimeType).toBe('image/tiff')
    return `Page ${pages.push(readImagePages(Buffer.from(bytes)).length)}.`
  })
  expect(pages).toEqual([1, 1])
  const file = buildDocxWithPictures({ 'a.png': buildPng(first!) }, (id) => [drawnPicture(id)])
  const { texts, warnings } = await read('letter.docx', file, async () => 'In the picture.')
  expect(texts.join(' ').split(/\s+/).join(' ')).toBe('First. In the picture. Last.')
  expect(warnings.map(({ code }) => code)).toEqual(['recognised_text'])
})

test('ends with the fault of the service, and reads the next file', async () => {
  const scan = await buildScannedPdf([roses])
  const fault = new RecognitionServiceError('it did not answer')
  await expect(read('scan.pdf', scan, () => Promise.reject(fault))).rejects.toBe(fault)
  const { texts } = await read('scan.pdf', scan, async () => 'Roses.')
  expect(texts).toEqual(['Roses.'])
})

test('asks the service no longer where the extraction is ended', async () => {
  const ended = new AbortController()
  const asked = Promise.withResolvers<AbortSignal>()
  const recognise: RecognitionService['recognise'] = (picture, languages, signal) => {
    asked.resolve(signal)
    return new Promise(() => {})
  }
  const options = { size: 1, chunking, readableFolders: [stage.folder], log: silentLog }
  pool = createExtractorPool({ ...options, recognitionService: { recognise } })
  const { chunks } = pool.extract({
    ...(await stage.put('scan.pdf', await buildScannedPdf([roses]))),
    recognition: { languages: [], isDeferred: false, keptPages: [] },
    signal: ended.signal,
  })
  const reading = Array.fromAsync(chunks)
  const signal = await asked.promise
  ended.abort(new Error('deleted'))
  await expect(reading).rejects.toThrow('deleted')
  expect(signal.aborted).toBe(true)
})
