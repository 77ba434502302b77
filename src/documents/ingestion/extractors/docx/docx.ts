import path from 'node:path'
import { ExtractionError, type ExtractedBlock } from '../../extraction.ts'
import { DocxBody } from './body.ts'
import { createLossReport } from './losses.ts'
import { readNumbering } from './numbering.ts'
import { openDocxPackage, type DocxPackage } from './package.ts'
import { readStyles } from './styles.ts'
import { hiddenText } from '../../suspicious/text-flags.ts'
import { createBlockBatch, type ExtractorInput } from '../extractor.ts'
import { readWholeXml, readXml, type XmlHandler } from '../office-xml.ts'

/** A Word document: body with headings, lists and tables, then footnotes and endnotes. */
export async function* extractDocx(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openDocxPackage(input.filePath, input.limits)
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
      const links = await readLinks(archive, relationshipsOf(name))
      const body = new DocxBody({ styleOf, numbering, links, notes, foundHidden: () => input.report.warn(hiddenText) })
      const handler: XmlHandler = {
        open(elementName, attribute) {
          losses.open(elementName)
          body.open(elementName, attribute)
        },
        close: (elementName) => body.close(elementName),
        text: (text) => body.text(text),
      }
      for await (const _ of readXml(archive.read(name), handler)) {
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
async function findParts(archive: DocxPackage): Promise<Parts> {
  const root = await readRelationships(archive, '_rels/.rels', '')
  const document = root.get('officeDocument') ?? 'word/document.xml'
  const folder = path.posix.dirname(document)
  if (!archive.has(document) || /^\/?(xl|ppt)\//.test(document))
    throw new ExtractionError(
      'unsupported_content',
      'The file is a zip archive but no Word document. Upload a .docx that Word or LibreOffice has saved.',
    )
  const rels = await readRelationships(archive, relationshipsOf(document), folder)
  return {
    document,
    styles: rels.get('styles') ?? `${folder}/styles.xml`,
    footnotes: rels.get('footnotes') ?? `${folder}/footnotes.xml`,
    endnotes: rels.get('endnotes') ?? `${folder}/endnotes.xml`,
    numbering: rels.get('numbering') ?? `${folder}/numbering.xml`,
  }
}

/** Targets inside the package by the last word of their type. External targets are never followed. */
async function readRelationships(archive: DocxPackage, name: string, folder: string): Promise<Map<string, string>> {
  const targets = new Map<string, string>()
  await readWholeXml(archive.read(name), {
    open(element, attribute) {
      if (element !== 'Relationship' || attribute('TargetMode') === 'External') return
      const type = attribute('Type')?.split('/').at(-1)
      const target = attribute('Target')
      if (type && target && !targets.has(type))
        targets.set(type, path.posix.join(target.startsWith('/') ? '' : folder, target).replace(/^\/+/, ''))
    },
  })
  return targets
}

function relationshipsOf(part: string): string {
  return `${path.posix.dirname(part)}/_rels/${path.posix.basename(part)}.rels`
}

/** The addresses outside of the package that a part links to, by id. They become text and are never followed. */
async function readLinks(archive: DocxPackage, name: string): Promise<Map<string, string>> {
  const links = new Map<string, string>()
  await readWholeXml(archive.read(name), {
    open(element, attribute) {
      if (element !== 'Relationship' || attribute('TargetMode') !== 'External') return
      if (attribute('Type')?.endsWith('/hyperlink')) links.set(attribute('Id') ?? '', attribute('Target') ?? '')
    },
  })
  return links
}
