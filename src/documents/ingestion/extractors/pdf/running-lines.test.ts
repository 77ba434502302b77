import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ExtractedBlock } from '../../extraction.ts'
import { defaultLimits } from '../../isolation/limits.ts'
import { buildTextPdf, type PdfText } from '../../testing/build-documents.ts'
import { createFileExtractor } from '../extract-file.ts'

const extractor = createFileExtractor()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-running-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(pages: PdfText[][]): Promise<ExtractedBlock[]> {
  const pdf = buildTextPdf(pages.map((texts) => ({ texts })))
  const filePath = path.join(folder, 'file.pdf')
  await writeFile(filePath, pdf)
  const limits = defaultLimits('pdf', pdf.length)
  const input = { filePath, sizeBytes: pdf.length, limits, report: { progress() {}, warn() {} } }
  const blocks: ExtractedBlock[] = []
  for await (const batch of extractor.extract('pdf', input)) blocks.push(...batch)
  return blocks
}

/** Lines of prose that differ from page to page. */
function prose(page: number, count = 20): PdfText[] {
  return Array.from({ length: count }, (_, line) => ({
    text: `page ${page} has a line ${line} of words that ${line % 3 === 0 ? 'end here.' : 'run on to the next'}`,
    x: 80,
    y: 680 - line * 14,
  }))
}

const pages = (count: number, make: (page: number) => PdfText[]) =>
  Array.from({ length: count }, (_, at) => make(at + 1))
const textsOf = (blocks: ExtractedBlock[]) => blocks.map(({ text }) => text).join('\n')
const occurrences = (blocks: ExtractedBlock[], words: string) => textsOf(blocks).split(words).length - 1
const romans = ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x', 'xi', 'xii']

test('keeps heads of odd and even pages once, as text and not as headings', async () => {
  const blocks = await read(
    pages(12, (page) => [
      {
        text: page % 2 ? `A history of bridges ${page}` : `${page} Chapter of arches`,
        x: page % 2 ? 300 : 80,
        y: 740,
        bold: true,
      },
      ...prose(page),
    ]),
  )
  expect(occurrences(blocks, 'A history of bridges')).toBe(1)
  expect(occurrences(blocks, 'Chapter of arches')).toBe(1)
  expect(blocks.filter(({ kind }) => kind === 'heading')).toEqual([])
  for (let page = 1; page <= 12; page += 1) expect(occurrences(blocks, `page ${page} has a line`)).toBe(20)
})

test('drops page numbers, Roman ones too, and keeps each chapter name next to them once', async () => {
  const blocks = await read(
    pages(12, (page) => [
      { text: `Part ${'abc'[Math.floor((page - 1) / 4)]} of the story`, x: 80, y: 740, bold: true },
      { text: `${romans[page - 1]}`, x: 500, y: 740 },
      ...prose(page),
      { text: `- ${page} -`, x: 300, y: 40 },
    ]),
  )
  for (const part of ['a', 'b', 'c']) expect(occurrences(blocks, `Part ${part} of the story`)).toBe(1)
  expect(blocks.filter(({ kind }) => kind === 'heading')).toEqual([])
  expect(textsOf(blocks)).not.toMatch(/^(- \d+ -|[ivx]+)$/m)
})

test('drops print slugs with changing numbers', async () => {
  const blocks = await read(
    pages(6, (page) => [
      ...prose(page),
      { text: `VerDate 18:14 Jun 05, 2015 Jkt 049060 Frm 0000${page} Fmt 6652 BILLS.LOC`, x: 80, y: 20, size: 6 },
      { text: `printed copy ${page} of job 771`, x: 20, y: 300, turns: 1, size: 6 },
    ]),
  )
  expect(occurrences(blocks, 'VerDate')).toBe(1)
  expect(occurrences(blocks, 'printed copy')).toBe(1)
})

test('keeps the title of a document of two pages', async () => {
  const blocks = await read(
    pages(2, (page) => [{ text: 'Minutes of the board', x: 80, y: 740, size: 18 }, ...prose(page)]),
  )
  expect(blocks.filter(({ kind }) => kind === 'heading').map(({ text }) => text)).toEqual([
    'Minutes of the board',
    'Minutes of the board',
  ])
})

test('keeps headings and lines that recur in the middle of pages or at other places', async () => {
  const blocks = await read(
    pages(6, (page) => [
      ...prose(page, 8),
      { text: 'Findings', x: 80, y: 500, size: 16 },
      { text: 'the same sentence is on every page of the report.', x: 80, y: 470 },
      ...prose(page, 8).map((line) => ({ ...line, y: line.y - 260 - page * 9 })),
    ]),
  )
  expect(blocks.filter(({ kind, text }) => kind === 'heading' && text === 'Findings')).toHaveLength(6)
  expect(occurrences(blocks, 'the same sentence')).toBe(6)
})

test('keeps numbered titles that are on one page each', async () => {
  const blocks = await read(
    pages(7, (page) => [{ text: `${page} ${'ABCDEFG'[page - 1]} topic`, x: 80, y: 740, size: 20 }, ...prose(page)]),
  )
  expect(occurrences(blocks, 'topic')).toBe(7)
})

test('drops the numbers that count the lines of a page of prose', async () => {
  const numbered = (page: number) =>
    prose(page, 24).flatMap((line, index) => [{ text: `${index + 1}`, x: 40, y: line.y }, line])
  const blocks = await read(pages(2, numbered))
  expect(textsOf(blocks)).toContain('page 1 has a line 1 of words that run on to the next page 1 has a line 2')
  expect(textsOf(blocks)).not.toMatch(/^\d+$|\t/m)
})

test('keeps the numbers of a table’s rows', async () => {
  const rows = Array.from({ length: 14 }, (_, row) => [
    { text: `${row + 1}`, x: 60, y: 700 - row * 14 },
    { text: `Item ${'abcdefghijklmn'[row]}`, x: 140, y: 700 - row * 14 },
    { text: `${row * 7 + 100}.50`, x: 300, y: 700 - row * 14 },
  ])
  const text = textsOf(await read([rows.flat()]))
  for (let row = 1; row <= 14; row += 1) expect(text).toMatch(new RegExp(`(^|[^\\d.])${row}[\\t |]+Item`, 'm'))
})

test('keeps lines whose numbers differ in another way than their pages', async () => {
  const articles = [1, 2, 4, 7, 8, 12]
  const blocks = await read(
    pages(6, (page) => [{ text: `Article ${articles[page - 1]}`, x: 80, y: 720, size: 14 }, ...prose(page)]),
  )
  const kept = blocks.filter(({ kind, text }) => kind === 'heading' && text.startsWith('Article'))
  expect(kept.map(({ text }) => text)).toEqual(articles.map((number) => `Article ${number}`))
})

test('keeps repeated text that is all there is below a heading', async () => {
  const blocks = await read(
    pages(5, (page) => [
      ...prose(page),
      { text: `House ${'abcde'[page - 1]}`, x: 80, y: 380, size: 14 },
      { text: 'The tenant signs here.', x: 80, y: 358 },
    ]),
  )
  expect(occurrences(blocks, 'The tenant signs here.')).toBe(5)
})

test('keeps the repeated end of a sentence', async () => {
  const blocks = await read(
    pages(5, (page) => [
      ...prose(page),
      { text: `The tenant of house ${'abcde'[page - 1]} pays the rent`, x: 80, y: 380, size: 11 },
      { text: 'on the first day of each month.', x: 80, y: 366 },
    ]),
  )
  expect(occurrences(blocks, 'on the first day of each month.')).toBe(5)
})
