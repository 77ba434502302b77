import path from 'node:path'
import type { ExtractedBlock } from '../../extraction.ts'
import { DocxBody, type EmbeddedPart } from './body.ts'
import { createLossReport } from './losses.ts'
import { readNumbering } from './numbering.ts'
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
import { SlideReader } from '../pptx/slide.ts'
import { wordKind } from './word-kind.ts'

/** A Word document: body with headings, lists and tables, then footnotes and endnotes. */
export async function* extractDocx(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openOfficePackage(input, wordKind)
  try {
    const parts = await findParts(archive)
    const styleOf = await readStyles(archive.read(parts.styles))
    const numbering = await readNumbering(archive.read(parts.numbering))
    const batch = createBlockBatch()
    const losses = createLossReport(input.report)
    for (const { name, notes } of [
      { name: parts.document },
      { name: parts.footnotes, notes: 'footnote' as const },
      { name: parts.endnotes, notes: 'footnote' as const },
    ]) {
      if (!archive.has(name)) continue
      const relationships = await readRelationships(archive, name)
      const links = linksOf(relationships)
      const body = new DocxBody({ styleOf, numbering, links, notes, foundHidden: () => input.report.warn(hiddenText) })
      const handler: XmlHandler = {
        open(elementName, attribute) {
          losses.open(elementName)
          body.open(elementName, attribute)
        },
        close: (elementName) => body.close(elementName),
        text: (text) => body.text(text),
      }
      const read = (piece: ExtractedBlock | EmbeddedPart) =>
        'relationshipId' in piece ? readEmbedded(archive, relationships, piece, input) : [piece]
      for await (const _ of readXml(archive.read(name), handler, wordKind)) {
        for (const piece of body.take()) for (const block of await read(piece)) if (batch.add(block)) yield batch.take()
      }
      for (const piece of body.take()) for (const block of await read(piece)) batch.add(block)
    }
    yield batch.take()
  } finally {
    archive.close()
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
  const reader = new SlideReader({ links: new Map(), isNotes: false })
  for await (const _ of readXml(archive.read(found.target), reader, archive.kind));
  return reader.finish().blocks
}

interface Parts {
  document: string
  styles: string
  footnotes: string
  endnotes: string
  numbering: string
}

/** The parts by their relationships; the usual names where a producer left those out. */
async function findParts(archive: OfficePackage): Promise<Parts> {
  const document = await findDocumentPart(archive)
  const relationships = await readRelationships(archive, document)
  const folder = path.posix.dirname(document)
  const partOf = (wanted: string) =>
    relationships.find(({ type, isExternal }) => type === wanted && !isExternal)?.target ?? `${folder}/${wanted}.xml`
  return {
    document,
    styles: partOf('styles'),
    footnotes: partOf('footnotes'),
    endnotes: partOf('endnotes'),
    numbering: partOf('numbering'),
  }
}

/** The addresses outside of the package that a part links to, by id. They become text and are never followed. */
