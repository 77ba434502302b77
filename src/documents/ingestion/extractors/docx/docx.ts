import path from 'node:path'
import type { ExtractedBlock } from '../../extraction.ts'
import { DocxBody, type DocxPiece, type EmbeddedPart } from './body.ts'
import { readComments } from './comments.ts'
import { createDeletedReferences } from './deleted-references.ts'
import { createLossReport } from './losses.ts'
import { readNumbering } from './numbering.ts'
import type { PartRole } from './paragraph.ts'
import { readStyles } from './styles.ts'
import { hiddenText } from '../../suspicious/text-flags.ts'
import { createBlockBatch, type ExtractorInput } from '../extractor.ts'
import {
  findDocumentPart,
  linksOf,
  type OfficePackage,
  openOfficePackage,
  readRelationships,
  type Relationship,
} from '../office-package.ts'
import { readChartBlocks } from '../office-charts.ts'
import { readXml, type XmlHandler } from '../office-xml.ts'
import { undescribedPictures } from '../picture-description.ts'
import { readShapes } from '../pptx/slide.ts'
import { wordKind } from './word-kind.ts'

/**
 * A Word document: the headers of its pages, the body with headings, lists, tables and comments, footnotes and endnotes, and the footers
 * of its pages.
 */
export async function* extractDocx(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openOfficePackage(input, wordKind)
  try {
    const parts = await findParts(archive)
    const styleOf = await readStyles(archive.read(parts.styles))
    const numbering = await readNumbering(archive.read(parts.numbering))
    const comments = await readComments(archive, parts.comments, input.report)
    const batch = createBlockBatch()
    const losses = createLossReport(input.report)
    const deleted = createDeletedReferences()
    const isFirst = createRepetitionFilter()
    let pictures = 0
    for (const { name, role } of parts.texts) {
      if (!archive.has(name)) continue
      const relationships = await readRelationships(archive, name)
      const links = linksOf(relationships)
      const foundHidden = () => input.report.warn(hiddenText)
      const body = new DocxBody({ styleOf, numbering, links, role, deleted, foundHidden })
      const handler: XmlHandler = {
        open(elementName, attribute) {
          losses.open(elementName)
          body.open(elementName, attribute)
        },
        close: (elementName) => body.close(elementName),
        text: (text) => body.text(text),
      }
      const read = async (piece: DocxPiece) => {
        if ('commentId' in piece) return takeComment(comments, piece.commentId)
        const blocks = 'relationshipId' in piece ? await readEmbedded(archive, relationships, piece, input) : [piece]
        return role === 'running' ? blocks.filter(isFirst) : blocks
      }
      for await (const _ of readXml(archive.read(name), handler, wordKind)) {
        for (const piece of body.take()) for (const block of await read(piece)) if (batch.add(block)) yield batch.take()
      }
      for (const piece of body.take()) for (const block of await read(piece)) batch.add(block)
      // Those of headers and footers are logos.
      if (role !== 'running') pictures += body.undescribedPictures()
      // Those whose place is not stated.
      if (role === 'body')
        for (const [id, block] of comments) if (!deleted.hasComment(id) && batch.add(block)) yield batch.take()
    }
    if (pictures > 0) input.report.warn(undescribedPictures(pictures))
    yield batch.take()
  } finally {
    archive.close()
  }
}

function takeComment(comments: Map<string, ExtractedBlock>, id: string): ExtractedBlock[] {
  const comment = comments.get(id)
  comments.delete(id)
  return comment ? [comment] : []
}

/** Headers and footers of sections, first and even pages repeat each other: each text is read once. */
function createRepetitionFilter() {
  const seen = new Set<string>()
  return ({ text }: ExtractedBlock) => {
    if (seen.has(text)) return false
    seen.add(text)
    return true
  }
}

/** The titles and values of a chart, or the texts of a diagram (SmartArt). */
async function readEmbedded(
  archive: OfficePackage,
  relationships: readonly Relationship[],
  { relationshipId }: EmbeddedPart,
  { report }: ExtractorInput,
): Promise<ExtractedBlock[]> {
  const found = relationships.find(({ id }) => id === relationshipId)
  if (found?.type !== 'diagramData') return readChartBlocks(archive, found, report)
  return (await readShapes(archive, found.target)).blocks
}

interface Parts {
  styles: string
  numbering: string
  comments: string
  /** The parts with text in the order in which they are read. */
  texts: { name: string; role: PartRole }[]
}

/** The parts by their relationships; the usual names where a producer left those out. */
async function findParts(archive: OfficePackage): Promise<Parts> {
  const document = await findDocumentPart(archive)
  const relationships = await readRelationships(archive, document)
  const folder = path.posix.dirname(document)
  const targetsOf = (wanted: string) =>
    relationships.filter(({ type, isExternal }) => type === wanted && !isExternal).map(({ target }) => target)
  const partOf = (wanted: string) => targetsOf(wanted)[0] ?? `${folder}/${wanted}.xml`
  const running = (wanted: string) =>
    [...new Set(targetsOf(wanted))].map((name) => ({ name, role: 'running' as const }))
  return {
    styles: partOf('styles'),
    numbering: partOf('numbering'),
    comments: partOf('comments'),
    texts: [
      ...running('header'),
      { name: document, role: 'body' },
      { name: partOf('footnotes'), role: 'footnote' },
      { name: partOf('endnotes'), role: 'footnote' },
      ...running('footer'),
    ],
  }
}
