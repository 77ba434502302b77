import type { ExtractedBlock } from '../../extraction.ts'
import { createBlockBatch, type ExtractionReport, type ExtractorInput } from '../extractor.ts'
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
import { undescribedPictures } from '../picture-description.ts'
import { readCommentAuthors, readSlideComments } from './comments.ts'
import { readShapes } from './slide.ts'

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
export async function* extractPptx(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openOfficePackage(input, powerPointKind)
  try {
    const presentation = await findDocumentPart(archive)
    const relationships = await readRelationships(archive, presentation)
    const parts = await listSlides(archive, presentation, relationships)
    const context: Presentation = {
      archive,
      report: input.report,
      authors: await readCommentAuthors(archive, relationships),
      layouts: createLayoutReader(archive),
    }
    const batch = createBlockBatch()
    for (const [index, part] of parts.entries()) {
      const page = index + 1
      for (const block of await readSlide(context, part, page)) if (batch.add({ ...block, page })) yield batch.take()
      input.report.progress(page, parts.length)
    }
    yield batch.take()
  } finally {
    archive.close()
  }
}

interface Presentation {
  archive: OfficePackage
  report: ExtractionReport
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

const embeddedFile =
  'Embedded objects, such as spreadsheets, were not read. Where they matter, write them into the presentation as text.'
const control =
  'The values of controls (ActiveX) were not read. Where they matter, write them into the presentation as text.'

async function readSlide({ archive, report, authors, layouts }: Presentation, part: string, number: number) {
  const relationships = await readRelationships(archive, part)
  const links = linksOf(relationships)
  const warn = (code: 'damaged_parts' | 'embedded_content_skipped', message: string) =>
    report.warn({ code, message, pages: [number] })
  if (!archive.has(part)) warn('damaged_parts', 'Slides that are missing in the file were left out.')
  const slide = await readShapes(archive, part, { links })
  if (slide.hasEmbeddedFile) warn('embedded_content_skipped', embeddedFile)
  if (slide.hasControl) warn('embedded_content_skipped', control)
  if (slide.undescribedPictures > 0) report.warn(undescribedPictures(undefined, [number]))
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
  const blocks = [...slide.blocks, ...diagrams, ...charts]
  if (slide.title === '' && blocks.length + notes.length + comments.length === 0) return framing
  const title = slide.title === '' ? `Slide ${number}` : slide.title
  const heading: ExtractedBlock = { kind: 'heading', level: 1, text: slide.isHidden ? `${title} (hidden)` : title }
  if (notes.length > 0) notes.unshift({ kind: 'heading', level: 2, text: 'Notes' })
  return [heading, ...blocks, ...framing, ...notes, ...comments]
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
