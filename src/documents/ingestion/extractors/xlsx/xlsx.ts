import type { ExtractedBlock } from '../../extraction.ts'
import { createBlockBatch, type ExtractorInput } from '../extractor.ts'
import { readChart } from '../office-charts.ts'
import {
  findDocumentPart,
  type OfficePackage,
  openOfficePackage,
  readRelationships,
  type Relationship,
} from '../office-package.ts'
import { type OfficeKind, readXml } from '../office-xml.ts'
import { SlideReader } from '../pptx/slide.ts'
import { createMergeFiller, findMerges } from './merges.ts'
import { createSheetTables } from './sheet-tables.ts'
import { SheetReader } from './sheet.ts'
import { readComments, readWorkbook, type Sheet, type Workbook } from './workbook.ts'

const excelKind: OfficeKind = {
  format: 'xlsx',
  what: 'workbook',
  program: 'Excel',
  formerExtension: '.xls',
  usualPart: 'xl/workbook.xml',
  foreignParts: /^\/?(?:word|ppt)\//,
  longest: 'cell',
  encryptedCode: 'encrypted_file',
}

/** An Excel workbook: each sheet under its name, with its tables as they are shown, and the notes of its cells. Macros are never read. */
export async function* extractXlsx(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openOfficePackage(input, excelKind)
  try {
    const workbook = await readWorkbook(archive, await findDocumentPart(archive))
    const missing = { formulas: 0 }
    const pageTexts = new Set<string>()
    const batch = createBlockBatch()
    for (const sheet of workbook.sheets) {
      let isFirst = true
      if (!archive.has(sheet.part)) {
        reportMissingSheet(input, sheet)
        continue
      }
      await reportEmbedded(archive, sheet, input)
      const context = { workbook, pageTexts, missesValue: () => void (missing.formulas += 1) }
      for await (const block of readSheet(archive, sheet, context)) {
        if (isFirst)
          batch.add({ kind: 'heading', level: 1, text: sheet.isHidden ? `${sheet.name} (hidden)` : sheet.name })
        isFirst = false
        if (batch.add(block)) yield batch.take()
      }
    }
    if (missing.formulas > 0) reportFormulas(input, missing.formulas)
    yield batch.take()
  } finally {
    archive.close()
  }
}

interface SheetContext {
  workbook: Workbook
  /** Headers and footers of the sheets so far: most sheets have the same. */
  pageTexts: Set<string>
  missesValue: () => void
}

async function* readSheet(
  archive: OfficePackage,
  { part }: Sheet,
  { workbook, pageTexts, missesValue }: SheetContext,
): AsyncGenerator<ExtractedBlock> {
  const fill = createMergeFiller(await findMerges(archive.read(part)))
  const reader = new SheetReader(workbook, missesValue)
  const tables = createSheetTables()
  for await (const _ of readXml(archive.read(part), reader, archive.kind)) {
    for (const row of reader.take()) {
      fill(row)
      yield* tables.addRow(row)
    }
  }
  yield* tables.end()
  yield* await readDrawings(archive, part)
  for (const text of await readComments(archive, part)) yield { kind: 'footnote', text }
  for (const text of reader.pageTexts()) {
    if (!pageTexts.has(text)) yield { kind: 'footnote', text }
    pageTexts.add(text)
  }
  const hidden = reader.hiddenPlaces()
  if (hidden !== '') yield { kind: 'footnote', text: hidden }
}

/** The texts of shapes and diagrams, and the titles of charts: their values are those of cells. */
async function readDrawings(archive: OfficePackage, part: string): Promise<ExtractedBlock[]> {
  const blocks: ExtractedBlock[] = []
  for (const { target } of await relationshipsOf(archive, part, 'drawing')) {
    const reader = new SlideReader({ links: new Map(), isNotes: false })
    for await (const _ of readXml(archive.read(target), reader, archive.kind));
    blocks.push(...reader.finish().blocks)
    for (const diagram of await relationshipsOf(archive, target, 'diagramData')) {
      const texts = new SlideReader({ links: new Map(), isNotes: false })
      for await (const _ of readXml(archive.read(diagram.target), texts, archive.kind));
      blocks.push(...texts.finish().blocks)
    }
    for (const chart of await relationshipsOf(archive, target, 'chart', 'chartEx')) {
      const { titles = [] } = (await readChart(archive, chart.target)) ?? {}
      if (titles.length > 0) blocks.push({ kind: 'paragraph', text: titles.join(', ') })
    }
  }
  return blocks
}

async function relationshipsOf(archive: OfficePackage, part: string, ...wanted: string[]): Promise<Relationship[]> {
  const relationships = await readRelationships(archive, part)
  return relationships.filter(({ type, isExternal }) => wanted.includes(type) && !isExternal)
}

async function reportEmbedded(archive: OfficePackage, { part }: Sheet, { report }: ExtractorInput) {
  if ((await relationshipsOf(archive, part, 'oleObject', 'package')).length > 0)
    report.warn({
      code: 'embedded_content_skipped',
      message: 'Embedded objects, such as documents, were not read. Where they matter, upload them as files.',
    })
}

function reportMissingSheet({ report }: ExtractorInput, { name }: Sheet) {
  report.warn({
    code: 'damaged_parts',
    message: `The sheet ${name.slice(0, 100)} is missing in the file. Open the workbook in Excel, save it, and upload it again.`,
  })
}

function reportFormulas({ report }: ExtractorInput, count: number) {
  report.warn({
    code: 'embedded_content_skipped',
    message: `${count} ${count === 1 ? 'formula has' : 'formulas have'} no stored result, so the formula was read. Open the workbook in Excel, save it, and upload it again.`,
  })
}
