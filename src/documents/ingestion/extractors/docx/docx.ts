import path from 'node:path'
import type { DocumentFormat, ExtractedBlock, ExtractionWarning } from '../../extraction.ts'
import { type PartReader, readAttached } from '../attached-files.ts'
import { DocxBody, type DocxPiece, type EmbeddedPart, type InsertedFile } from './body.ts'
import { readComments } from './comments.ts'
import { createDeletedReferences } from './deleted-references.ts'
import { createLossReport } from './losses.ts'
import { createNoteMarks } from './note-marks.ts'
import { readNumbering } from './numbering.ts'
import type { PartRole } from './paragraph.ts'
import { readStyles } from './styles.ts'
import { hiddenText } from '../../suspicious/text-flags.ts'
import { createBlockBatch, type Extractor, type ExtractorInput } from '../extractor.ts'
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
import { createEmbeddedObjects } from '../embedded-objects.ts'
import { createEmbeddedPictures } from '../image/embedded-pictures.ts'
import { readShapes } from '../pptx/slide.ts'
import { wordKind } from './word-kind.ts'

/**
 * A Word document: the headers of its pages, the body with headings, lists, tables and comments, footnotes and endnotes, and the footers
 * of its pages.
 */
export function createDocxExtractor(readPart: PartReader): Extractor {
  return (input) => extractDocx(input, readPart)
}

async function* extractDocx(input: ExtractorInput, readPart: PartReader): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openOfficePackage(input, wordKind)
  try {
    const parts = await findParts(archive)
    const styleOf = await readStyles(archive.read(parts.styles))
    const numbering = await readNumbering(archive.read(parts.numbering))
    const comments = await readComments(archive, parts.comments, input.report)
    const batch = createBlockBatch()
    const losses = createLossReport(input)
    const deleted = createDeletedReferences()
    const noteMarks = createNoteMarks()
    const isFirst = createRepetitionFilter()
    const pictures = createEmbeddedPictures(archive, input)
    const objects = createEmbeddedObjects(archive, input, readPart)
    const shownObjects: (Relationship | undefined)[] = []
    for (const { name, role } of parts.texts) {
      if (!archive.has(name)) continue
      const relationships = await readRelationships(archive, name)
      const links = linksOf(relationships)
      const foundHidden = () => input.report.warn(hiddenText)
      const body = new DocxBody({ styleOf, numbering, links, role, deleted, noteMarks, foundHidden })
      const handler: XmlHandler = {
        open(elementName, attribute) {
          losses.open(elementName)
          body.open(elementName, attribute)
        },
        close: (elementName) => body.close(elementName),
        text: (text) => body.text(text),
      }
      const read = async (piece: Exclude<DocxPiece, InsertedFile>) => {
        if ('commentId' in piece) return takeComment(comments, piece.commentId)
        // Those of headers and footers are logos.
        if ('picture' in piece) return role === 'running' ? [] : pictures.read(relationships, piece.picture)
        if ('objectId' in piece) {
          shownObjects.push(relationships.find(({ id }) => id === piece.objectId))
          return []
        }
        const blocks = 'relationshipId' in piece ? await readEmbedded(archive, relationships, piece, input) : [piece]
        return role === 'running' ? blocks.filter(isFirst) : blocks
      }
      const takePieces = async function* (pieces = body.take()): AsyncGenerator<ExtractedBlock[]> {
        for (const piece of pieces) {
          if ('insertedId' in piece) {
            yield batch.take()
            yield* readInserted(archive, relationships, piece.insertedId, input, readPart)
          } else for (const block of await read(piece)) if (batch.add(block)) yield batch.take()
        }
      }
      for await (const _ of readXml(archive.read(name), handler, wordKind)) {
        yield* takePieces()
      }
      yield* takePieces()
      yield* takePieces(body.takeRest())
      // Those whose place is not stated.
      if (role === 'body')
        for (const [id, block] of comments) if (!deleted.hasComment(id) && batch.add(block)) yield batch.take()
    }
    pictures.report()
    yield batch.take()
    // Behind the text: their names are headings.
    for (const object of shownObjects) yield* objects.read(object, losses.objectLeftOut)
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

/** The text of a file that is inserted as a whole (altChunk): Word shows it as a part of the document. */
async function* readInserted(
  archive: OfficePackage,
  relationships: readonly Relationship[],
  insertedId: string,
  input: ExtractorInput,
  readPart: PartReader,
): AsyncGenerator<ExtractedBlock[]> {
  if (!input.readsEmbedded) return
  const found = relationships.find(({ id }) => id === insertedId)
  const name = found ? path.posix.basename(found.target) : 'a file that is missing'
  const format = insertedFormats[path.extname(name).toLowerCase()]
  const content = (room: number) => (found && !found.isExternal ? archive.readBytes(found.target, room) : null)
  yield* readAttached({ name, type: '', format, content }, input, readPart, {
    isInline: true,
    skip: () => input.report.warn(unreadInserted(name)),
  })
}

function unreadInserted(name: string): ExtractionWarning {
  return {
    code: 'embedded_content_skipped',
    message: `Text that was inserted from another file (altChunk: ${name.slice(0, 100)}) was not read. Open the document in Word, save it, and upload it again: that makes the text part of it.`,
  }
}

/** Web pages by the endings that programs give them in a docx; those with their pictures have the form of a message. */
const insertedFormats: Readonly<Record<string, DocumentFormat>> = {
  '.mht': 'eml',
  '.mhtml': 'eml',
  '.xhtml': 'html',
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
