import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { ExtractedBlock } from '../extraction.ts'
import { createFileExtractor } from '../extractors/extract-file.ts'
import { defaultLimits } from '../isolation/limits.ts'
import { buildPdf, type PdfText } from './build-documents.ts'

const extractor = createFileExtractor()
let folder: string

/** Prepares a folder and the extractor for the tests of one file. */
export function openDrawnTables(): void {
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'portico-pdf-tables-'))
    await extractor.warmUp()
  })
  afterAll(() => rm(folder, { recursive: true }))
}

/** A page of a PDF that a test draws. */
export interface DrawnPage {
  texts: PdfText[]
  /** From point to point: x, y, x, y. */
  lines?: [number, number, number, number][]
  rotate?: number
}

/** The letters a to z in the font F3 stand for the Hebrew letters from alef on. */
const hebrewMap =
  '/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange ' +
  '1 beginbfrange <61> <7a> <05d0> endbfrange 1 beginbfrange <20> <3a> <0020> endbfrange endcmap end end'

function drawnPdf(pages: DrawnPage[]): Buffer {
  const kids = pages.map((_, index) => `${7 + index * 2} 0 R`).join(' ')
  const font = (name: string, more = '') => ({
    dictionary: `<< /Type /Font /Subtype /Type1 /BaseFont /${name} ${more || '/Encoding /WinAnsiEncoding'} >>`,
  })
  const draw = ({ text, x, y, size = 10, bold = false, turns = 0, hebrew = false }: PdfText & { hebrew?: boolean }) => {
    const matrix = ['1 0 0 1', '0 1 -1 0', '-1 0 0 -1', '0 -1 1 0'][turns]
    return `BT /${hebrew ? 'F3' : bold ? 'F2' : 'F1'} ${size} Tf ${matrix} ${x} ${y} Tm (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`
  }
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>` },
    font('Helvetica'),
    font('Helvetica-Bold'),
    font('Helvetica', '/Encoding /WinAnsiEncoding /ToUnicode 6 0 R'),
    { dictionary: '<< >>', stream: hebrewMap },
    ...pages.flatMap(({ texts, lines = [], rotate = 0 }, index) => [
      {
        dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate ${rotate} /Contents ${8 + index * 2} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> >>`,
      },
      {
        dictionary: '<< >>',
        stream: Buffer.from(
          [...lines.map(([a, b, c, d]) => `${a} ${b} m ${c} ${d} l S`), ...texts.map(draw)].join('\n'),
          'latin1',
        ),
      },
    ]),
  ])
}

/** Draws the pages as a PDF and extracts it. Call `openDrawnTables` first. */
export async function read(pages: DrawnPage[]): Promise<ExtractedBlock[]> {
  const filePath = path.join(folder, 'file.pdf')
  const content = drawnPdf(pages)
  await writeFile(filePath, content)
  const limits = defaultLimits('pdf', content.length)
  const report = { progress() {}, warn() {} }
  const blocks: ExtractedBlock[] = []
  for await (const batch of extractor.extract('pdf', { filePath, sizeBytes: content.length, limits, report }))
    blocks.push(...batch)
  return blocks
}

interface Layout {
  /** Where the columns begin. */
  xs: number[]
  /** Baseline of the first row. */
  y?: number
  step?: number
  boldHeader?: boolean
}

/** Rows of cells as texts; line feeds separate the lines of a cell, 11 units apart. */
export function tableTexts(rows: string[][], { xs, y = 700, step = 16, boldHeader = false }: Layout): PdfText[] {
  return rows.flatMap((row, index) =>
    row.flatMap((cell, column) =>
      cell
        .split('\n')
        .filter((line) => line !== '')
        .map((line, at) => ({
          text: line,
          x: xs[column]!,
          y: y - index * step - at * 11,
          bold: boldHeader && index === 0,
        })),
    ),
  )
}

/** The lines of a grid with the given places. */
export function gridLines(xs: number[], ys: number[]): DrawnPage['lines'] {
  return [
    ...ys.map((y): [number, number, number, number] => [xs[0]!, y, xs.at(-1)!, y]),
    ...xs.map((x): [number, number, number, number] => [x, ys[0]!, x, ys.at(-1)!]),
  ]
}

export const people = [
  ['Name', 'City', 'Amount', 'Since'],
  ['Ann Miller', 'Rome', '12.50', '2019-04-01'],
  ['Bob', 'Oslo', '7.00', '2020-11-30'],
  ['Carla Stone', 'Lisbon', '120.99', '2021-02-03'],
  ['Dan', 'Bern', '3.10', '2022-07-19'],
]
export const xs = [50, 150, 250, 350]
const sentence =
  'This is a line of running text that goes over the whole width of the page and says nothing much at all,'
export const prose = (y: number, count = 3): PdfText[] =>
  Array.from({ length: count }, (_, index) => ({ text: sentence, x: 50, y: y - index * 12 }))

export const rowsOf = (blocks: ExtractedBlock[]) => blocks.filter(({ kind }) => kind === 'table_row')
export const words = (blocks: ExtractedBlock[]) =>
  blocks.flatMap(({ text }) => text.split(/[\s|]+/).filter((word) => word !== '')).sort()
export const wordsDrawn = (pages: DrawnPage[]) =>
  pages.flatMap(({ texts }) => texts.flatMap(({ text }) => text.split(/\s+/))).sort()

export const expectedPeople = [
  { kind: 'table_row', text: people[0]!.join(' | '), header: people[0], page: 1 },
  ...people.slice(1).map((row, index) => ({
    kind: 'table_row',
    text: row.join(' | '),
    header: people[0],
    row: index + 1,
    page: 1,
  })),
]
