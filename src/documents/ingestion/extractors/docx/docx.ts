import path from 'node:path'
import type { ExtractedBlock } from '../../extraction.ts'
import { DocxBody } from './body.ts'
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
} from '../office-package.ts'
import { readXml, type XmlHandler } from '../office-xml.ts'
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
      const links = linksOf(await readRelationships(archive, name))
      const body = new DocxBody({ styleOf, numbering, links, notes, foundHidden: () => input.report.warn(hiddenText) })
      const handler: XmlHandler = {
        open(elementName, attribute) {
          losses.open(elementName)
          body.open(elementName, attribute)
        },
        close: (elementName) => body.close(elementName),
        text: (text) => body.text(text),
      }
      for await (const _ of readXml(archive.read(name), handler, wordKind)) {
        for (const block of body.take()) if (batch.add(block)) yield batch.take()
      }
      for (const block of body.take()) batch.add(block)
    }
    yield batch.take()
  } finally {
    archive.close()
  }
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
