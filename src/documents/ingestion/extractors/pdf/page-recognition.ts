import { ExtractionError } from '../../extraction.ts'
import { isOcrInstalled } from '../../ocr/engine.ts'
import type { KeptPage, Recogniser } from '../../ocr/recogniser.ts'
import { nestingOf } from '../attached-files.ts'
import type { ExtractorInput, Recognition } from '../extractor.ts'
import type { EncodedImage } from '../image/image-pages.ts'
import type { Line } from './reading-order.ts'
import { toLines } from './recognised-lines.ts'
import type { PageImage } from './render.ts'

/** Further pages of a file, and of those in it, are not recognised: a page takes seconds. */
const maximumPages = 200
/** Below this many of 100, every few words are wrong. */
const certainPage = 75

export const isUncertain = ({ confidence }: Pick<KeptPage, 'confidence'>): boolean =>
  confidence !== null && confidence < certainPage

const recognised = {
  code: 'recognised_text',
  message: 'The text of these pages was recognised from their pictures (OCR), so that single letters can be wrong.',
} as const

const uncertain = {
  code: 'uncertain_recognition',
  message:
    'The text of these pages was recognised from their pictures (OCR) with little certainty: many words can be wrong or missing. Scan them again, straight and with 300 dots per inch, or set the languages of the Space.',
} as const

/** Assumed of a picture file, where only the ratios of sizes matter. */
const assumedDotsPerInch = 200

/** Height and resolution of the picture that the places of lines are in. */
function placesOf(image: PageImage | EncodedImage): { height: number; dotsPerInch: number } {
  if ('pixels' in image) return { height: image.height, dotsPerInch: image.dotsPerInch }
  return { height: image.orientation > 4 ? image.width : image.height, dotsPerInch: assumedDotsPerInch }
}

/** Most files need none of it, and a process at rest is smaller without. */
async function openRecogniser(
  languages: readonly string[],
  { readPicture }: Pick<Recognition, 'readPicture'>,
  isPicture: boolean,
): Promise<Recogniser> {
  if (readPicture) {
    const { createRemoteRecogniser } = await import('../../ocr/remote-recogniser.ts')
    return createRemoteRecogniser(languages, readPicture)
  }
  const { createRecogniser } = await import('../../ocr/recogniser.ts')
  return createRecogniser(languages, isPicture)
}

type RecognitionInput = Pick<ExtractorInput, 'recognition' | 'report' | 'nesting'>

/** Reads pages without usable text from their pictures. */
export function createPageRecognition({ recognition, report, nesting }: RecognitionInput, isPicture = false) {
  const isAvailable = recognition !== undefined && (recognition.readPicture !== undefined || isOcrInstalled())
  const kept = new Map(recognition?.keptPages.map((page) => [page.page, page]))
  let languages = recognition?.languages ?? []
  let recogniser: Recogniser | undefined
  const { totals } = nestingOf({ nesting })

  /** What a picture shows; null where it cannot be read. */
  async function recognise(image: PageImage | EncodedImage): Promise<Omit<KeptPage, 'page'> | null> {
    if (!recognition || !isAvailable) return null
    if (recognition.isDeferred)
      throw new ExtractionError('processing_timeout', 'The file holds pictures of text, which take long to read.')
    totals.recognised += 1
    try {
      const reader = (recogniser ??= await openRecogniser(languages, recognition, isPicture))
      const result = await recognition.withMoreTime(() => reader.recognise(image))
      return { ...placesOf(image), ...result }
    } catch {
      return null
    }
  }

  function finish(page: KeptPage, isKept: boolean): Line[] {
    recognition?.recognised(page, isKept)
    if (page.lines.length === 0) return []
    report.warn({ ...(isUncertain(page) ? uncertain : recognised), pages: [page.page] })
    return toLines(page, page)
  }

  return {
    /** False where text recognition is off, is not installed, or has read as many pages as it may. */
    isOn: () => isAvailable && totals.recognised < maximumPages,
    /** The lines of a page that an interrupted run has read; undefined if there was none. */
    readKept(number: number): Line[] | undefined {
      const page = kept.get(number)
      if (!page) return undefined
      totals.recognised += 1
      // The language that was found on the first page is that of the others.
      if (page.lines.length > 0) languages = page.languages
      return finish(page, true)
    },
    recognise,
    /** The lines that the picture of a page shows; none where it shows no text, and null where it cannot be read. */
    async read(image: PageImage | EncodedImage, page: number): Promise<Line[] | null> {
      const result = await recognise(image)
      return result && finish({ ...result, page }, false)
    },
  }
}
