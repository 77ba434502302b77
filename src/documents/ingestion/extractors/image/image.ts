import { readFile } from 'node:fs/promises'
import { ExtractionError, type ExtractedBlock } from '../../extraction.ts'
import { corruptFile, type ExtractorInput } from '../extractor.ts'
import { createPageRecognition } from '../pdf/page-recognition.ts'
import { createDocumentSense, pageBlocks } from '../pdf/paragraphs.ts'
import { createPdfTableReader } from '../pdf/tables/table-blocks.ts'
import { readImagePages } from './image-pages.ts'

/** A sheet of A4 at 600 dots per inch has 35 million; more need more memory than a file may use. */
export const maximumDots = 40_000_000

/** A picture of text, such as a photo of a page or a scan: its text is recognised. A TIFF file can have several pages. */
export async function* extractImage(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const { filePath, content, report } = input
  const pages = readImagePages(content ?? (await readFile(filePath)))
  if (pages.length === 0) throw corruptFile('The picture is damaged, or no picture of the type of its name.')
  const recognition = createPageRecognition(input)
  if (!recognition.isOn())
    throw new ExtractionError(
      'no_text',
      'The file is a picture, and text recognition (OCR) is off or not installed. Turn it on for the Space, or upload the text.',
    )
  const sense = createDocumentSense()
  const tables = createPdfTableReader(sense.keepsHyphen)
  const unread: number[] = []
  const withoutText: number[] = []
  report.progress(0, pages.length)
  for (const [index, image] of pages.entries()) {
    const page = index + 1
    if (!recognition.isOn()) unread.push(page)
    else {
      const isTooLarge = image.width * image.height > maximumDots
      const lines = recognition.readKept(page) ?? (isTooLarge ? null : await recognition.read(image, page))
      if (lines === null && pages.length === 1) throw isTooLarge ? tooLarge() : corruptFile('The picture is damaged.')
      if (lines === null)
        report.warn({ code: 'damaged_parts', message: 'Pages that cannot be read were left out.', pages: [page] })
      else {
        if (lines.length === 0) withoutText.push(page)
        sense.learn(lines)
        yield pageBlocks(lines, page, sense, tables)
      }
    }
    report.progress(page, pages.length)
  }
  if (withoutText.length > 0)
    report.warn({
      code: 'pages_without_text',
      message: 'No text was found in the pictures of these pages. If they show text, scan them again or upload it.',
      pages: withoutText,
    })
  if (unread.length > 0)
    report.warn({
      code: 'truncated',
      message: 'These pages were not read: a file has too many of them.',
      pages: unread,
    })
}

function tooLarge(): ExtractionError {
  return new ExtractionError(
    'too_complex',
    `The picture has more than ${maximumDots / 1_000_000} million dots. Save it with fewer dots per inch and upload it again.`,
  )
}
