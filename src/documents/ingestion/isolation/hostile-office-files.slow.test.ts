import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { DocumentFormat } from '../extraction.ts'
import { buildDocx, buildPptx, buildXlsx, buildZip, docxParagraph, sheetRows } from '../testing/build-documents.ts'
import { type ExtractorStage, openExtractorStage } from '../testing/extractor-stage.ts'

/** Hostile files of the types of version 2. */

let stage: ExtractorStage
beforeAll(async () => {
  stage = await openExtractorStage()
})
afterEach(() => stage.endTest())
afterAll(() => stage.remove())

/** `A`, `B`, …, `AA`: the column with this number. */
function columnName(number: number): string {
  const rest = Math.floor((number - 1) / 26)
  return (rest > 0 ? columnName(rest) : '') + String.fromCharCode(65 + ((number - 1) % 26))
}

const entities =
  '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;"> <!ENTITY c SYSTEM "file:///etc/passwd">]><x>&b;&c;</x>'

/** Attachments with a megabyte of words each, packed. */
function bombs(count: number): string {
  const words = buildDocx(docxParagraph('words '.repeat(100_000)).repeat(10)).toString('base64')
  const head = 'Content-Type: application/octet-stream; name=a.docx\nContent-Transfer-Encoding: base64\n\n'
  return `--b\n${head}${words}\n`.repeat(count)
}

const failures: [string, DocumentFormat, string, () => string | Buffer][] = [
  ['a page of nested tables', 'html', 'too_complex', () => '<table><tr><td>'.repeat(200_000)],
  ['a page of nested lists', 'html', 'too_complex', () => `<ul>${'<li><ul>'.repeat(500_000)}x`],
  [
    'a page whose cells span everything',
    'html',
    'too_large_when_unpacked',
    () => `<table>${`<tr>${'<td rowspan=9999 colspan=9999>x'.repeat(200)}`.repeat(500)}`,
  ],
  ['a page of scripts', 'html', 'no_text', () => '<script>var text</script>'.repeat(200_000)],
  [
    'a workbook that unpacks to a bomb',
    'xlsx',
    'too_large_when_unpacked',
    () => buildXlsx([{ name: 'S', rows: `<row><c><v>1</v></c>${' '.repeat(70_000_000)}</row>` }]),
  ],
  [
    'a long text in every cell',
    'xlsx',
    'too_large_when_unpacked',
    () =>
      buildXlsx([{ name: 'S', rows: `<row>${'<c t="s"><v>0</v></c>'.repeat(1_000)}</row>`.repeat(50) }], {
        shared: ['long '.repeat(6_000)],
      }),
  ],
  [
    'a row that is too long',
    'xlsx',
    'too_large_when_unpacked',
    () =>
      buildXlsx([{ name: 'S', rows: `<row>${'<c t="s"><v>0</v></c>'.repeat(2_000)}</row>` }], {
        shared: ['long '.repeat(6_000)],
      }),
  ],
  [
    'merged cells over everything',
    'xlsx',
    'too_large_when_unpacked',
    () =>
      buildXlsx([
        {
          name: 'S',
          rows:
            sheetRows([Array.from({ length: 2_000 }, () => 'words')]) +
            sheetRows(
              Array.from({ length: 20_000 }, () => ['x']),
              2,
            ),
          after: `<mergeCells>${Array.from({ length: 2_000 }, (_, column) => `<mergeCell ref="${columnName(column + 1)}1:${columnName(column + 1)}99999"/>`).join('')}</mergeCells>`,
        },
      ]),
  ],
  [
    'entities in a workbook',
    'xlsx',
    'unsupported_content',
    () => buildXlsx([{ name: 'S', rows: '' }], { parts: { 'xl/worksheets/0.xml': entities } }),
  ],
  [
    'deep nesting in a workbook',
    'xlsx',
    'too_complex',
    () => buildXlsx([{ name: 'S', rows: '<row>'.repeat(100_000) }]),
  ],
  [
    'an encrypted workbook',
    'xlsx',
    'encrypted_file',
    () => buildZip([{ name: 'xl/workbook.xml', content: 'x', flags: 1 }]),
  ],
  [
    'deep nesting in a presentation',
    'pptx',
    'too_complex',
    () => buildPptx([{ content: '<p:grpSp>'.repeat(100_000) }]),
  ],
  [
    'a slide that unpacks to a bomb',
    'pptx',
    'too_large_when_unpacked',
    () => buildPptx([{ content: '<p:sp/>'.repeat(12_000_000) }]),
  ],
  [
    'entities in a presentation',
    'pptx',
    'unsupported_content',
    () => buildPptx([{ content: '' }], { 'ppt/slides/1.xml': entities }),
  ],
  [
    'a message whose attachments are bombs',
    'eml',
    'too_complex',
    () => `Content-Type: multipart/mixed; boundary=b\n\n${bombs(40)}`,
  ],
  ['a Word document named .xlsx', 'xlsx', 'unsupported_content', () => buildDocx(docxParagraph('x'))],
]

test.each(failures)('%s ends with a code', async (_name, format, code, build) => {
  stage.startPool({ memoryLimitBytes: 400 * 1024 * 1024, timeLimitMs: 20_000 })
  const failure = await stage.read(`hostile.${format}`, build()).then(
    () => null,
    (error: unknown) => error as Error & { code: string },
  )
  expect(failure?.code).toBe(code)
  expect(failure!.message).toMatch(/^[A-Z].*\.$/)
  expect(failure!.message).not.toContain(stage.folder)
})
