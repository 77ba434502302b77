import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ExtractedBlock } from '../../extraction.ts'
import { defaultLimits } from '../../isolation/limits.ts'
import { buildDocx, docxParagraph, wordPart } from '../../testing/build-documents.ts'
import { createFileExtractor } from '../extract-file.ts'

const extractor = createFileExtractor()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-docx-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(
  body: string,
  parts: Record<string, string> = {},
  behind: Buffer = Buffer.alloc(0),
): Promise<ExtractedBlock[]> {
  const filePath = path.join(folder, 'file.docx')
  const bytes = Buffer.concat([buildDocx(body, parts), behind])
  await writeFile(filePath, bytes)
  const limits = defaultLimits('docx', bytes.length)
  const input = { filePath, sizeBytes: bytes.length, limits, report: { progress() {}, warn() {} } }
  const blocks: ExtractedBlock[] = []
  for await (const batch of extractor.extract('docx', input)) blocks.push(...batch)
  return blocks
}

const texts = (blocks: ExtractedBlock[]) => blocks.map(({ text }) => text)
const level = (index: number, format: string, text: string, more = '') =>
  `<w:lvl w:ilvl="${index}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`
const item = (text: string, numId: number, index = 0) =>
  docxParagraph(text, `<w:numPr><w:ilvl w:val="${index}"/><w:numId w:val="${numId}"/></w:numPr>`)
const list = (numId: number, abstractId: number, more = '') =>
  `<w:num w:numId="${numId}"><w:abstractNumId w:val="${abstractId}"/>${more}</w:num>`
const abstractList = (id: number, ...levels: string[]) =>
  `<w:abstractNum w:abstractNumId="${id}">${levels.join('')}</w:abstractNum>`

test('writes the numbers that Word displays before list items of several levels', async () => {
  const numbering = wordPart(
    'numbering',
    abstractList(0, level(0, 'decimal', '%1.'), level(1, 'lowerLetter', '(%2)'), level(2, 'upperRoman', '%1.%2.%3')) +
      abstractList(1, level(0, 'bullet', '\uf0b7'), level(1, 'decimalZero', 'Step %2')) +
      list(1, 0) +
      list(2, 1) +
      list(3, 0, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'),
  )
  const body = [
    item('one', 1),
    item('inner', 1, 1),
    item('deep', 1, 2),
    item('deeper', 1, 2),
    item('inner two', 1, 1),
    item('two', 1),
    item('inner again', 1, 1),
    item('point', 2),
    item('sub', 2, 1),
    item('restarted', 3),
    item('goes on', 3),
  ]
  expect(texts(await read(body.join(''), { 'word/numbering.xml': numbering }))).toEqual([
    '1. one',
    '(a) inner',
    '1.a.I deep',
    '1.a.II deeper',
    '(b) inner two',
    '2. two',
    '(a) inner again',
    '• point',
    'Step 01 sub',
    '7. restarted',
    '8. goes on',
  ])
})

test('writes the numbers of headings whose style is a level of a list', async () => {
  const styles = wordPart(
    'styles',
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>' +
      '<w:style w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/></w:style>',
  )
  const numbering = wordPart(
    'numbering',
    abstractList(
      0,
      level(0, 'upperRoman', 'Part %1:', '<w:pStyle w:val="H1"/>'),
      level(1, 'decimal', '%1.%2', '<w:pStyle w:val="H2"/><w:isLgl/>'),
    ) + list(1, 0),
  )
  const body =
    docxParagraph('First', '<w:pStyle w:val="H1"/>') +
    docxParagraph('Second', '<w:pStyle w:val="H1"/>') +
    docxParagraph('Inner', '<w:pStyle w:val="H2"/>') +
    docxParagraph('Unnumbered', '<w:pStyle w:val="H2"/><w:numPr><w:numId w:val="0"/></w:numPr>')
  expect(await read(body, { 'word/numbering.xml': numbering, 'word/styles.xml': styles })).toEqual([
    { kind: 'heading', level: 1, text: 'Part I: First' },
    { kind: 'heading', level: 1, text: 'Part II: Second' },
    { kind: 'heading', level: 2, text: '2.1 Inner' },
    { kind: 'heading', level: 2, text: 'Unnumbered' },
  ])
})

test('writes web and mail addresses after the text of their links', async () => {
  const relationship = (id: string, target: string) =>
    `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="${target}" TargetMode="External"/>`
  const relationships = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${[
    relationship('r1', 'https://example.org/a?b=1'),
    relationship('r2', 'mailto:ann@example.org'),
    relationship('r3', 'javascript:alert(1)'),
    relationship('r4', 'https://www.example.org/'),
    relationship('r5', 'file:///etc/passwd'),
  ].join('')}</Relationships>`
  const link = (id: string, text: string) =>
    `<w:hyperlink r:id="${id}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><w:r><w:t>${text}</w:t></w:r></w:hyperlink>`
  const field = (code: string, text: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${code}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>${text}</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
  const body = [
    link('r1', 'the guide'),
    link('r2', 'Ann'),
    link('r3', 'script'),
    link('r4', 'example.org'),
    link('r5', 'file'),
    field('HYPERLINK "https://example.org/field"', 'a field'),
    field('PAGE', '7'),
    '<w:fldSimple w:instr=" HYPERLINK &quot;https://example.org/simple&quot; "><w:r><w:t>simple</w:t></w:r></w:fldSimple>',
  ].map((content) => `<w:p>${content}<w:r><w:t xml:space="preserve"> end</w:t></w:r></w:p>`)
  expect(texts(await read(body.join(''), { 'word/_rels/document.xml.rels': relationships }))).toEqual([
    'the guide (https://example.org/a?b=1) end',
    'Ann (ann@example.org) end',
    'script end',
    'example.org end',
    'file end',
    'a field (https://example.org/field) end',
    '7 end',
    'simple (https://example.org/simple) end',
  ])
})

test('keeps cells in their columns where rows have gaps and merged cells', async () => {
  const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${docxParagraph(text)}</w:tc>`
  const row = (properties: string, ...cells: string[]) => `<w:tr><w:trPr>${properties}</w:trPr>${cells.join('')}</w:tr>`
  const table = `<w:tbl><w:tblGrid><w:gridCol/><w:gridCol/><w:gridCol/></w:tblGrid>${[
    row('<w:tblHeader/>', cell('Region'), cell('Month'), cell('Sum')),
    row('', cell('North', '<w:vMerge w:val="restart"/>'), cell('May'), cell('5')),
    row('', cell('', '<w:vMerge/>'), cell('June'), cell('6')),
    row('', cell('South'), cell('May'), cell('7')),
    row('<w:gridBefore w:val="1"/>', cell('July'), cell('8')),
    row('<w:gridAfter w:val="2"/>', cell('Note')),
    row('', cell('Total', '<w:gridSpan w:val="2"/>'), cell('26')),
  ].join('')}</w:tbl>`
  expect(texts(await read(table))).toEqual([
    'Region | Month | Sum',
    'North | May | 5',
    'North | June | 6',
    'South | May | 7',
    ' | July | 8',
    'Note |  | ',
    'Total |  | 26',
  ])
})

test('reads many numbered paragraphs in time that grows with their number', async () => {
  const numbering = wordPart('numbering', abstractList(0, level(0, 'decimal', '%1.')) + list(1, 0))
  const blocks = await read(item('word', 1).repeat(20_000), { 'word/numbering.xml': numbering })
  expect(blocks.at(-1)!.text).toBe('20000. word')
})

test.each([
  ['zeros', Buffer.alloc(3_000)],
  ['the end of a message', Buffer.from('\r\n--boundary--\r\n')],
  ['more than a comment of a zip can have', Buffer.alloc(100_000, 'x')],
])('reads a document with bytes behind its zip: %s', async (_, behind) => {
  expect(texts(await read(docxParagraph('The text of it.'), {}, behind))).toEqual(['The text of it.'])
})

test.each([
  [
    'the first form that is known',
    '<mc:Choice Requires="wps">A</mc:Choice><mc:Choice Requires="wps">B</mc:Choice>',
    'A',
  ],
  ['the next one', '<mc:Choice Requires="own">A</mc:Choice><mc:Choice Requires="wps">B</mc:Choice>', 'B'],
  ['the fallback', '<mc:Choice Requires="wps own">A</mc:Choice>', 'F'],
  ['the fallback, for a prefix without a namespace', '<mc:Choice Requires="none">A</mc:Choice>', 'F'],
  [
    'a fallback within a choice',
    `<mc:Choice Requires="wps">${alternatives('<mc:Choice Requires="own">A</mc:Choice>')}</mc:Choice>`,
    'F',
  ],
])('reads of alternatives %s', async (_, choices, expected) => {
  expect(
    texts(await read(`<w:p><w:r><w:t>1 </w:t></w:r>${alternatives(choices)}<w:r><w:t> 2</w:t></w:r></w:p>`)),
  ).toEqual([`1 ${expected} 2`])
})

function alternatives(choices: string) {
  const names =
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:own="https://other.example/2026"'
  const forms = `${choices}<mc:Fallback>F</mc:Fallback>`.replaceAll(/>([ABF])</g, '><w:r><w:t>$1</w:t></w:r><')
  return `<mc:AlternateContent ${names}>${forms}</mc:AlternateContent>`
}
