import type { ExtractedBlock } from '../../extraction.ts'
import { createBlockBatch, type ExtractorInput } from '../extractor.ts'
import {
  findDocumentPart,
  linksOf,
  type OfficePackage,
  openOfficePackage,
  readRelationships,
} from '../office-package.ts'
import { readChartBlocks } from '../office-charts.ts'
import { type OfficeKind, readWholeXml, readXml } from '../office-xml.ts'
import { readSlideComments } from './comments.ts'
import { SlideReader, type SlideText } from './slide.ts'

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

/** A PowerPoint presentation: each slide with its title, its texts and tables in reading order, and its notes. Macros are never read. */
export async function* extractPptx(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openOfficePackage(input, powerPointKind)
  try {
    const parts = await listSlides(archive, await findDocumentPart(archive))
    const batch = createBlockBatch()
    for (const [index, part] of parts.entries()) {
      const page = index + 1
      for (const block of await readSlide(archive, part, page, input))
        if (batch.add({ ...block, page })) yield batch.take()
      input.report.progress(page, parts.length)
    }
    yield batch.take()
  } finally {
    archive.close()
  }
}

/** The parts of the slides in the order of the presentation. */
async function listSlides(archive: OfficePackage, part: string): Promise<string[]> {
  const relationships = await readRelationships(archive, part)
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

async function readSlide(archive: OfficePackage, part: string, number: number, { report }: ExtractorInput) {
  const relationships = await readRelationships(archive, part)
  const links = linksOf(relationships)
  const read = async (name: string, isNotes = false): Promise<SlideText> => {
    const reader = new SlideReader({ links, isNotes })
    for await (const _ of readXml(archive.read(name), reader, archive.kind));
    return reader.finish()
  }
  const warn = (code: 'damaged_parts' | 'embedded_content_skipped', message: string) =>
    report.warn({ code, message, pages: [number] })
  if (!archive.has(part)) warn('damaged_parts', 'Slides that are missing in the file were left out.')
  const slide = await read(part)
  if (slide.hasEmbeddedFile) warn('embedded_content_skipped', embeddedFile)
  const diagrams: ExtractedBlock[] = []
  const charts: ExtractedBlock[] = []
  const notes: ExtractedBlock[] = []
  const comments: ExtractedBlock[] = []
  for (const relationship of relationships) {
    const { type, target } = relationship
    if (type === 'diagramData') diagrams.push(...(await read(target)).blocks)
    else if (type === 'comments') comments.push(...(await readSlideComments(archive, target)))
    else if (type === 'notesSlide') notes.push(...(await read(target, true)).blocks)
    else if (type === 'chart' || type === 'chartEx')
      charts.push(...(await readChartBlocks(archive, relationship, report, [number])))
  }
  const blocks = [...slide.blocks, ...diagrams, ...charts]
  if (slide.title === '' && blocks.length + notes.length + comments.length === 0) return []
  const title = slide.title === '' ? `Slide ${number}` : slide.title
  const heading: ExtractedBlock = { kind: 'heading', level: 1, text: slide.isHidden ? `${title} (hidden)` : title }
  if (notes.length > 0) notes.unshift({ kind: 'heading', level: 2, text: 'Notes' })
  return [heading, ...blocks, ...notes, ...comments]
}
