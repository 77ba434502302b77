import type { ExtractedBlock } from '../../extraction.ts'
import type { PartReader } from '../attached-files.ts'
import { createBlockBatch, type ExtractionReport, type Extractor, type ExtractorInput } from '../extractor.ts'
import {
  findDocumentPart,
  linksOf,
  type OfficePackage,
  openOfficePackage,
  readRelationships,
  type Relationship,
} from '../office-package.ts'
import { readChartBlocks } from '../office-charts.ts'
import { type OfficeKind, readWholeXml } from '../office-xml.ts'
import { createEmbeddedObjects } from '../embedded-objects.ts'
import { createEmbeddedPictures } from '../image/embedded-pictures.ts'
import { readCommentAuthors, readSlideComments } from './comments.ts'
import { readShapes, type SlideText } from './slide.ts'

const powerPointKind: OfficeKind = {
  format: 'pptx',
  what: 'presentation',
  program: 'PowerPoint',
  formerExtension: '.ppt',
  usualPart: 'ppt/presentation.xml',
  foreignParts: /^\/?(?:word|xl)\//,
  longest: 'paragraph',
  encryptedCode: 'encrypted_file',
}

/**
 * A PowerPoint presentation: each slide with its title, its texts and tables in reading order, its notes and comments, and what its layout
 * adds. Macros are never read.
 */
export function createPptxExtractor(readPart: PartReader): Extractor {
  return (input) => extractPptx(input, readPart)
}

async function* extractPptx(input: ExtractorInput, readPart: PartReader): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openOfficePackage(input, powerPointKind)
  try {
    const presentation = await findDocumentPart(archive)
    const relationships = await readRelationships(archive, presentation)
    const parts = await listSlides(archive, presentation, relationships)
    const context: Presentation = {
      archive,
      report: input.report,
      pictures: createEmbeddedPictures(archive, input),
      authors: await readCommentAuthors(archive, relationships),
      layouts: createLayoutReader(archive),
    }
    const embedded = createEmbeddedObjects(archive, input, readPart)
    const batch = createBlockBatch()
    for (const [index, part] of parts.entries()) {
      const page = index + 1
      const { blocks, objects } = await readSlide(context, part, page)
      for (const block of blocks) if (batch.add({ ...block, page })) yield batch.take()
      const leftOut = () => input.report.warn({ ...embeddedFile, pages: [page] })
      for (const object of objects)
        for await (const found of embedded.read(object, leftOut)) {
          yield batch.take()
          yield found.map((block) => ({ ...block, page }))
        }
      input.report.progress(page, parts.length)
    }
    context.pictures.report()
    yield batch.take()
  } finally {
    archive.close()
  }
}

interface Presentation {
  archive: OfficePackage
  report: ExtractionReport
  pictures: ReturnType<typeof createEmbeddedPictures>
  /** Names of those who comment, by their ids. */
  authors: ReadonlyMap<string, string>
  layouts: ReturnType<typeof createLayoutReader>
}

/** The parts of the slides in the order of the presentation. */
async function listSlides(
  archive: OfficePackage,
  part: string,
  relationships: readonly Relationship[],
): Promise<string[]> {
  const targets = new Map(relationships.filter(({ type }) => type === 'slide').map(({ id, target }) => [id, target]))
  const slides: string[] = []
  await readWholeXml(
    archive.read(part),
    {
      open(name, attribute) {
        const target = name === 'sldId' ? targets.get(attribute('r:id') ?? '') : undefined
        if (target !== undefined) slides.push(target)
      },
    },
    archive.kind,
  )
  return slides.slice(0, targets.size)
}

const embeddedFile = {
  code: 'embedded_content_skipped',
  message:
    'Embedded objects, such as spreadsheets, were not read. Where they matter, write them into the presentation as text.',
} as const
const control =
  'The values of controls (ActiveX) were not read. Where they matter, write them into the presentation as text.'

/** The texts of a slide, and the files of other programs that it shows. */
async function readSlide({ archive, report, pictures, authors, layouts }: Presentation, part: string, number: number) {
  const relationships = await readRelationships(archive, part)
  const links = linksOf(relationships)
  const warn = (code: 'damaged_parts' | 'embedded_content_skipped', message: string) =>
    report.warn({ code, message, pages: [number] })
  if (!archive.has(part)) warn('damaged_parts', 'Slides that are missing in the file were left out.')
  const slide = await readShapes(archive, part, { links })
  if (slide.hasControl) warn('embedded_content_skipped', control)
  const objects = slide.objects.map((wanted) => relationships.find(({ id }) => id === wanted))
  const shown: ExtractedBlock[] = []
  for (const picture of slide.pictures) shown.push(...(await pictures.read(relationships, picture, number)))
  const diagrams: ExtractedBlock[] = []
  const charts: ExtractedBlock[] = []
  const notes: ExtractedBlock[] = []
  const comments: ExtractedBlock[] = []
  for (const relationship of relationships) {
    const { type, target } = relationship
    if (type === 'diagramData') diagrams.push(...(await readShapes(archive, target, { links })).blocks)
    else if (type === 'comments') comments.push(...(await readSlideComments(archive, target, authors)))
    else if (type === 'notesSlide') notes.push(...(await readShapes(archive, target, { links, kind: 'notes' })).blocks)
    else if (type === 'chart' || type === 'chartEx')
      charts.push(...(await readChartBlocks(archive, relationship, report, [number])))
  }
  const framing = slide.showsMaster ? await layouts.read(relationships) : []
  const blocks = [...slide.blocks, ...shown, ...diagrams, ...charts]
  if (slide.title === '' && blocks.length + notes.length + comments.length === 0)
    return { blocks: objects.length === 0 ? framing : [slideHeading(slide, number), ...framing], objects }
  if (notes.length > 0) notes.unshift({ kind: 'heading', level: 2, text: 'Notes' })
  return { blocks: [slideHeading(slide, number), ...blocks, ...framing, ...notes, ...comments], objects }
}

function slideHeading({ title, isHidden }: SlideText, number: number): ExtractedBlock {
  const shown = title === '' ? `Slide ${number}` : title
  return { kind: 'heading', level: 1, text: isHidden ? `${shown} (hidden)` : shown }
}

/** Reads what layouts and their masters add to slides: each text once, at the first slide that shows it. */
function createLayoutReader(archive: OfficePackage) {
  const read = new Set<string>()
  const texts = new Set<string>()
  const next = async (relationships: readonly Relationship[], wanted: string): Promise<ExtractedBlock[]> => {
    const part = relationships.find(({ type, isExternal }) => type === wanted && !isExternal)?.target
    if (part === undefined || read.has(part)) return []
    read.add(part)
    const named = await readRelationships(archive, part)
    const { blocks, showsMaster } = await readShapes(archive, part, { links: linksOf(named), kind: 'layout' })
    const own = blocks.filter(({ text }) => !texts.has(text))
    for (const { text } of own) texts.add(text)
    return [...own, ...(showsMaster ? await next(named, 'slideMaster') : [])]
  }
  return {
    /** `relationships`: of the slide. */
    read: (relationships: readonly Relationship[]) => next(relationships, 'slideLayout'),
  }
}
