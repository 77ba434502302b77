import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wordRecall } from '../../../../scripts/corpus/word-recall.ts'
import { sharedDataFolder } from '../../../../test/harness/shared-data.ts'
import { ExtractionError } from '../extraction.ts'
import type { ExtractorPool } from '../isolation/extractor-pool.ts'
import type { ExtractionLimits } from '../isolation/limits.ts'
import type { RecognitionRequest } from '../isolation/protocol.ts'
import { buildTextPdf, type PdfText } from '../testing/build-documents.ts'
import { type ExtractorStage, openExtractorStage } from '../testing/extractor-stage.ts'
import { buildScannedPdf } from '../testing/scanned-pdf.ts'
import { isOcrInstalled } from './engine.ts'

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

const auto: RecognitionRequest = { languages: [], isDeferred: false }

/** Reads a pdf in a child process, as the service does. */
async function read(content: Buffer, recognition?: RecognitionRequest, limits?: Partial<ExtractionLimits>) {
  const recognised: number[] = []
  const { chunks, summary } = pool.extract({
    ...(await stage.put('scan.pdf', content)),
    recognition,
    limits,
    onProgress: (done, total, pages) => recognised.push(pages),
  })
  const all = (await Array.fromAsync(chunks)).flat()
  const { warnings } = await summary
  return { text: all.map(({ text }) => text).join('\n'), chunks: all, warnings, recognised: Math.max(...recognised) }
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
