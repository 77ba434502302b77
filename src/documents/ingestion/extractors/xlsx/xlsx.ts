import type { ExtractedBlock } from '../../extraction.ts'
import { createBlockBatch, type Extractor, type ExtractorInput } from '../extractor.ts'
import { readChart, readChartShapes, typedChartBlocks } from '../office-charts.ts'
import {
  findDocumentPart,
  type OfficePackage,
  openOfficePackage,
  readRelationships,
  type Relationship,
} from '../office-package.ts'
import { type OfficeKind, readXml } from '../office-xml.ts'
import type { PartReader } from '../attached-files.ts'
import { createEmbeddedObjects } from '../embedded-objects.ts'
import { createEmbeddedPictures } from '../image/embedded-pictures.ts'
import { readShapes } from '../pptx/slide.ts'
import { readComments } from './comments.ts'
import { createMergeFiller, findMerges } from './merges.ts'
import { createSheetTables } from './sheet-tables.ts'
import { SheetReader } from './sheet.ts'
import { readWorkbook, type Sheet, type Workbook } from './workbook.ts'

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
export function createXlsxExtractor(readPart: PartReader): Extractor {
  return (input) => extractXlsx(input, readPart)
}

async function* extractXlsx(input: ExtractorInput, readPart: PartReader): AsyncGenerator<ExtractedBlock[]> {
  const archive = await openOfficePackage(input, excelKind)
  try {
    const workbook = await readWorkbook(archive, await findDocumentPart(archive))
    const pictures = createEmbeddedPictures(archive, input)
    const objects = createEmbeddedObjects(archive, input, readPart)
    let missingFormulas = 0
    for (const name of workbook.unread) reportOtherSheet(input, name)
    const pageTexts = new Set<string>()
    const batch = createBlockBatch()
    for (const sheet of workbook.sheets) {
      let isFirst = true
      if (!archive.has(sheet.part)) {
        reportMissingSheet(input, sheet)
        continue
      }
      await reportControls(archive, sheet, input)
      const context = {
        workbook,
        pageTexts,
        pictures,
        missesValue: () => void (missingFormulas += 1),
      }
      for await (const block of readSheet(archive, sheet, context)) {
        if (isFirst)
          batch.add({ kind: 'heading', level: 1, text: sheet.isHidden ? `${sheet.name} (hidden)` : sheet.name })
        isFirst = false
        if (batch.add(block)) yield batch.take()
      }
      for (const object of await relationshipsOf(archive, sheet.part, 'oleObject', 'package'))
        for await (const blocks of objects.read(object, () => input.report.warn(embeddedFile))) {
          yield batch.take()
          yield blocks
        }
    }
    if (missingFormulas > 0) reportFormulas(input, missingFormulas)
    pictures.report()
    yield batch.take()
  } finally {
    archive.close()
  }
}

interface SheetContext {
  workbook: Workbook
  /** Headers and footers of the sheets so far: most sheets have the same. */
  pageTexts: Set<string>
  pictures: ReturnType<typeof createEmbeddedPictures>
  missesValue: () => void
}

async function* readSheet(
  archive: OfficePackage,
  { part }: Sheet,
  { workbook, pageTexts, pictures, missesValue }: SheetContext,
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
  yield* await readDrawings(archive, part, pictures)
  for (const text of await readComments(archive, part, workbook.people)) yield { kind: 'footnote', text }
  for (const text of reader.pageTexts()) {
    if (!pageTexts.has(text)) yield { kind: 'footnote', text }
    pageTexts.add(text)
  }
  const hidden = reader.hiddenPlaces()
  if (hidden !== '') yield { kind: 'footnote', text: hidden }
}

/** The texts of shapes and diagrams, and what is typed into charts: their other texts are those of cells. */
async function readDrawings(
  archive: OfficePackage,
  part: string,
  pictures: SheetContext['pictures'],
): Promise<ExtractedBlock[]> {
  const blocks: ExtractedBlock[] = []
  for (const { target } of await relationshipsOf(archive, part, 'drawing')) {
    const drawing = await readShapes(archive, target)
    blocks.push(...drawing.blocks)
    const relationships = await readRelationships(archive, target)
    for (const picture of drawing.pictures) blocks.push(...(await pictures.read(relationships, picture)))
    for (const diagram of await relationshipsOf(archive, target, 'diagramData'))
      blocks.push(...(await readShapes(archive, diagram.target)).blocks)
    for (const chart of await relationshipsOf(archive, target, 'chart', 'chartEx')) {
      const read = await readChart(archive, chart.target)
      if (read) blocks.push(...typedChartBlocks(read))
      blocks.push(...(await readChartShapes(archive, chart.target)))
    }
  }
  return blocks
}

async function relationshipsOf(archive: OfficePackage, part: string, ...wanted: string[]): Promise<Relationship[]> {
  const relationships = await readRelationships(archive, part)
  return relationships.filter(({ type, isExternal }) => wanted.includes(type) && !isExternal)
}

const embeddedFile = {
  code: 'embedded_content_skipped',
  message: 'Embedded objects, such as documents, were not read. Where they matter, upload them as files.',
} as const

async function reportControls(archive: OfficePackage, { part }: Sheet, { report }: ExtractorInput) {
  if ((await relationshipsOf(archive, part, 'control')).length > 0)
    report.warn({
      code: 'embedded_content_skipped',
      message: 'The values of controls (ActiveX) were not read. Where they matter, write them into cells.',
    })
}

function reportMissingSheet({ report }: ExtractorInput, { name }: Sheet) {
  report.warn({
    code: 'damaged_parts',
    message: `The sheet ${name.slice(0, 100)} is missing in the file. Open the workbook in Excel, save it, and upload it again.`,
  })
}

function reportOtherSheet({ report }: ExtractorInput, name: string) {
  report.warn({
    code: 'embedded_content_skipped',
    message: `The sheet ${name.slice(0, 100)} is a dialog or holds macros of Excel 4, and was not read. If its text matters, write it into a usual sheet.`,
  })
}

function reportFormulas({ report }: ExtractorInput, count: number) {
  report.warn({
    code: 'embedded_content_skipped',
    message: `${count} ${count === 1 ? 'formula has' : 'formulas have'} no stored result, so the formula was read. Open the workbook in Excel, save it, and upload it again.`,
  })
}
