import { ExtractionError } from '../../extraction.ts'
import { isOcrInstalled } from '../../ocr/engine.ts'
import type { Recogniser } from '../../ocr/recogniser.ts'
import type { ExtractionReport, Recognition } from '../extractor.ts'
import type { Line } from './reading-order.ts'
import { toLines } from './recognised-lines.ts'
import type { PageImage } from './render.ts'

/** Further pages are not recognised: a page takes seconds. */
const maximumPages = 200
/** Below this many of 100, every few words are wrong. */
const certainPage = 75

const recognised = {
  code: 'recognised_text',
  message: 'The text of these pages was recognised from their pictures (OCR), so that single letters can be wrong.',
} as const

const uncertain = {
  code: 'uncertain_recognition',
  message:
    'The text of these pages was recognised from their pictures (OCR) with little certainty: many words can be wrong or missing. Scan them again, straight and with 300 dots per inch, or set the languages of the Space.',
} as const

/** Reads pages without usable text from their pictures. */
export function createPageRecognition(recognition: Recognition | undefined, report: ExtractionReport) {
  const isAvailable = recognition !== undefined && isOcrInstalled()
  let recogniser: Recogniser | undefined
  let pages = 0

  return {
    /** False where text recognition is off, is not installed, or has read as many pages as it may. */
    isOn: () => isAvailable && pages < maximumPages,
    /** The lines that the picture of a page shows; none where it shows no text, and null where it cannot be read. */
    async read(image: PageImage, page: number): Promise<Line[] | null> {
      if (!recognition || !isAvailable) return null
      if (recognition.isDeferred)
        throw new ExtractionError('processing_timeout', 'The file holds pictures of text, which take long to read.')
      pages += 1
      try {
        // Most files need none of it, and a process at rest is smaller without.
        const { createRecogniser } = await import('../../ocr/recogniser.ts')
        const reader = (recogniser ??= createRecogniser(recognition.languages))
        const result = await recognition.withMoreTime(() => reader.recognise(image))
        if (result.lines.length === 0) return []
        recognition.recognised()
        report.warn({ ...(result.confidence < certainPage ? uncertain : recognised), pages: [page] })
        return toLines(result, image)
      } catch {
        return null
      }
    },
  }
}
