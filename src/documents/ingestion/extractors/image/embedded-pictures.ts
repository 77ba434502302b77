import type { ExtractedBlock, ExtractionWarning } from '../../extraction.ts'
import { nestingOf, roomForFile } from '../attached-files.ts'
import type { ExtractorInput } from '../extractor.ts'
import type { OfficePackage, Relationship } from '../office-package.ts'
import { createPageRecognition, isUncertain } from '../pdf/page-recognition.ts'
import { createDocumentSense, pageBlocks } from '../pdf/paragraphs.ts'
import { toLines } from '../pdf/recognised-lines.ts'
import { createPdfTableReader } from '../pdf/tables/table-blocks.ts'
import { type FoundPicture, undescribedPictures, unreadPictures } from '../picture-description.ts'
import { maximumDots } from './image.ts'
import { readImagePages } from './image-pages.ts'
import { isLargePicture } from './picture-size.ts'

/** Smaller pictures are signs and logos: dots, and the shorter side. */
const smallest = { dots: 20_000, side: 24 }
/** Below this many of 100, the letters are parts of a photo or drawing. */
const certainText = 60
/** After so many pictures without text in turn, the others are most likely photos too. */
const maximumFruitless = 20

/** The text in the pictures of an office file, each read once; without OCR, and for version 1 of the interface, only their number. */
export function createEmbeddedPictures(archive: OfficePackage, input: ExtractorInput) {
  const { readsEmbedded, report } = input
  const { totals } = nestingOf(input)
  const recognition = createPageRecognition(input, true)
  const readsText = readsEmbedded === true && recognition.isOn()
  const seen = new Set<string>()
  let fruitless = 0
  const counts = { unread: 0, recognised: 0, uncertain: 0 }
  const pages = { unread: new Set<number>(), recognised: new Set<number>(), uncertain: new Set<number>() }

  function count(what: keyof typeof counts, page: number | undefined): void {
    counts[what] += 1
    if (page !== undefined) pages[what].add(page)
  }

  /** Its text; null where it is large enough to have one and was not read. */
  async function read(target: string, page: number | undefined): Promise<ExtractedBlock[] | null> {
    const bytes = await archive.readBytes(target, roomForFile(input))
    if (!bytes) return null
    totals.bytes += bytes.length
    if (!isLargePicture(bytes, smallest)) return []
    const [image] = readImagePages(bytes)
    const canRead = readsText && recognition.isOn() && fruitless < maximumFruitless
    if (!image || !canRead || image.width * image.height > maximumDots) return null
    const shown = await recognition.recognise(image)
    input.recognition?.recognised(null, false)
    fruitless += 1
    if (!shown || shown.lines.length === 0) return shown && []
    if (shown.confidence !== null && shown.confidence < certainText) return null
    fruitless = 0
    count(isUncertain(shown) ? 'uncertain' : 'recognised', page)
    const lines = toLines(shown, shown)
    const sense = createDocumentSense()
    sense.learn(lines)
    return pageBlocks(lines, 1, sense, createPdfTableReader(sense.keepsHyphen)).map(asText)
  }

  return {
    /** `relationships`: of the part that shows it. `page`: of the picture, in files that have some. */
    async read(
      relationships: readonly Relationship[],
      { relationshipId, isDescribed }: FoundPicture,
      page?: number,
    ): Promise<ExtractedBlock[]> {
      const found = relationships.find(({ id, isExternal }) => id === relationshipId && !isExternal)
      if (found && readsEmbedded) {
        if (seen.has(found.target)) return []
        seen.add(found.target)
      }
      const blocks = found && readsEmbedded ? await read(found.target, page) : null
      if (blocks === null && !isDescribed) count('unread', page)
      return blocks ?? []
    },
    /** Warns of what was not read and of what was recognised. Call it at the end. */
    report(): void {
      const warn = (what: keyof typeof counts, warning: (pictures: string, count: number) => ExtractionWarning) => {
        const number = counts[what]
        if (number === 0) return
        const named = warning(number === 1 ? '1 picture' : `${number} pictures`, number)
        report.warn(pages[what].size > 0 ? { ...named, pages: [...pages[what]] } : named)
      }
      warn('unread', (_, number) => (readsText ? unreadPictures(number) : undescribedPictures(number)))
      warn('recognised', (pictures) => ({
        code: 'recognised_text',
        message: `The text of ${pictures} was recognised (OCR), so that single letters can be wrong.`,
      }))
      warn('uncertain', (pictures) => ({
        code: 'uncertain_recognition',
        message: `The text of ${pictures} was recognised (OCR) with little certainty: many words can be wrong or missing. Use pictures with more dots, or set the languages of the Space.`,
      }))
    },
  }
}

/** A heading in a picture is none of the document. */
function asText({ page: _page, level: _level, ...block }: ExtractedBlock): ExtractedBlock {
  return block.kind === 'heading' ? { ...block, kind: 'paragraph' } : block
}
