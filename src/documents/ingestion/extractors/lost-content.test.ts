import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DocumentFormat, ExtractionWarning } from '../extraction.ts'
import { defaultLimits } from '../isolation/limits.ts'
import { buildDocx, buildPdf, buildPptx, buildXlsx, docxParagraph, sheetRows } from '../testing/build-documents.ts'
import { readBlocks } from '../testing/read-blocks.ts'
import { createFileExtractor } from './extract-file.ts'

/** What a file shows and extraction does not read is a warning, never silence. */

let folder: string
const extractor = createFileExtractor()

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-losses-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(format: DocumentFormat, content: Buffer) {
  const filePath = path.join(folder, `file.${format}`)
  await writeFile(filePath, content)
  const warnings: ExtractionWarning[] = []
  const report = { progress() {}, warn: (warning: ExtractionWarning) => void warnings.push(warning) }
  const input = { filePath, sizeBytes: content.length, limits: defaultLimits(format, content.length), report }
  const texts: string[] = []
  for await (const batch of extractor.extract(format, input)) texts.push(...batch.map(({ text }) => text))
  return { text: texts.join('\n'), warnings }
}

const font = '/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>'
const drawText = (text: string, x = 72, y = 700) => `BT /F1 12 Tf ${x} ${y} Td (${text}) Tj ET\n`
const drawPicture = 'q 612 0 0 792 0 0 cm /Im1 Do Q\n'

/** A pdf whose pages have these content streams; the picture /Im1 is there for each. `fields` are widgets of the first page. */
function pages(contents: string[], fields: string[] = []): Buffer {
  const first = 4 + fields.length
  const pageNumbers = contents.map((_, index) => first + 2 * index)
  const widgets = fields.map((_, index) => `${4 + index} 0 R`).join(' ')
  return buildPdf([
    {
      dictionary: `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${widgets}] /DA (/F1 12 Tf 0 g) /DR << ${font} >> >> >>`,
    },
    {
      dictionary: `<< /Type /Pages /Count ${contents.length} /Kids [${pageNumbers.map((n) => `${n} 0 R`).join(' ')}] >>`,
    },
    {
      dictionary: '<< /Type /XObject /Subtype /Image /Width 2 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceGray >>',
      stream: Buffer.from([0, 255, 255, 0]),
    },
    ...fields.map((field) => ({ dictionary: `<< /Type /Annot /Subtype /Widget /F 4 ${field} >>` })),
    ...contents.flatMap((content, index) => [
      {
        dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << ${font} /XObject << /Im1 3 0 R >> >> /Contents ${first + 2 * index + 1} 0 R ${index === 0 && fields.length > 0 ? `/Annots [${widgets}]` : ''} >>`,
      },
      { dictionary: '<< >>', stream: Buffer.from(content) },
    ]),
  ])
}

describe('pages without text', () => {
  test('among pages with text are named, also under a stamp; empty pages and pages with pictures next to text are not', async () => {
    const long = 'A page with a picture and a text that is longer than any stamp of a scanner.'
    const { text, warnings } = await read(
      'pdf',
      pages([
        drawText('The first page.'),
        drawPicture,
        '',
        drawPicture + drawText('Received 2026-11-21'),
        drawPicture + drawText(long),
      ]),
    )
    expect(text).toContain('The first page.')
    expect(warnings).toEqual([{ code: 'pages_without_text', message: expect.stringContaining('OCR'), pages: [2, 4] }])
  })

  test('and pages with large pictures next to their text are named; backgrounds and ornaments are not', async () => {
    const next = (height: number) => `q 500 0 0 ${height} 50 50 cm /Im1 Do Q\n` + drawText('A text above the picture.')
    const over = Array.from({ length: 5 }, (_, row) => drawText('A line over the picture', 72, 300 - row * 14)).join('')
    const { warnings } = await read('pdf', pages([next(300), next(60), next(300) + over]))
    expect(warnings).toEqual([
      { code: 'embedded_content_skipped', message: expect.stringContaining('pictures'), pages: [1] },
    ])
  })

  test('make a scan no_text with advice, and a file that is cut short corrupt_file', async () => {
    const scan = pages([drawPicture, drawPicture])
    await expect(read('pdf', scan)).rejects.toMatchObject({ code: 'no_text', message: expect.stringContaining('OCR') })
    await expect(read('pdf', pages(['', '']))).rejects.toMatchObject({
      code: 'no_text',
      message: expect.stringContaining('empty'),
    })
    const empty = pages(['', ''])
    const cut = empty.subarray(0, empty.lastIndexOf('startxref'))
    await expect(read('pdf', cut)).rejects.toMatchObject({ code: 'corrupt_file' })
  })
})

describe('form fields of pdfs', () => {
  test('without an appearance are next to their labels, check boxes and radio buttons with their marks', async () => {
    const { text, warnings } = await read(
      'pdf',
      pages(
        [
          drawText('Name:', 72, 700) +
            drawText('Country:', 72, 670) +
            drawText('Agree', 92, 640) +
            drawText('Decline', 92, 610) +
            drawText('Password:', 72, 580),
        ],
        [
          '/FT /Tx /T (name) /V (Maria Lindqvist) /Rect [120 696 300 714]',
          '/FT /Ch /Ff 131072 /T (country) /V (Sweden) /Opt [(Norway) (Sweden)] /Rect [130 666 300 684]',
          '/FT /Btn /T (agree) /V /Yes /AS /Yes /AP << /N << /Yes 3 0 R /Off 3 0 R >> >> /Rect [72 638 86 652]',
          '/FT /Btn /T (decline) /V /Off /AS /Off /AP << /N << /Yes 3 0 R /Off 3 0 R >> >> /Rect [72 608 86 622]',
          '/FT /Tx /Ff 8192 /T (secret) /V (hunter2) /Rect [140 576 300 594]',
        ],
      ),
    )
    expect(text.split('\n')).toEqual([
      'Name: Maria Lindqvist',
      'Country: Sweden',
      '[x] Agree',
      '[ ] Decline',
      'Password:',
    ])
    expect(warnings).toEqual([])
  })
})

describe('pictures of office files', () => {
  const named = (description = '', title = '') =>
    `<a:cNvPr id="2" name="Picture 1" descr="${description}" title="${title}"/>`
  const picture = (...about: string[]) => `<a:pic><a:nvPicPr>${about.join('')}</a:nvPicPr></a:pic>`
  const decorative = '<a:cNvPr id="3"><a:extLst><d:decorative xmlns:d="d" val="1"/></a:extLst></a:cNvPr>'
  const pictures = picture(named()) + picture(named('screen.png')) + picture(decorative) + picture(named('', 'A map'))
  const lost = (count: string) => ({ code: 'embedded_content_skipped', message: expect.stringContaining(count) })

  test('that nothing describes are counted, apart from those that only decorate', async () => {
    const drawing = (description: string, content: string) =>
      `<w:p><w:r><w:drawing xmlns:a="a"><a:docPr id="1" descr="${description}"/>${content}</w:drawing></w:r></w:p>`
    const shape = (alt: string) => `<v:shape xmlns:v="v" alt="${alt}"><v:imagedata/></v:shape>`
    const { text, warnings } = await read(
      'docx',
      buildDocx(
        docxParagraph('Text.') +
          drawing('', pictures) +
          drawing('A plan', picture(named())) +
          drawing('A screenshot&#10;&#10;AI-generated content may be incorrect.', picture(named())) +
          `<w:p><w:r><w:pict>${shape('')}${shape('A seal')}</w:pict></w:r></w:p>`,
      ),
    )
    expect(text).toBe('Text.\nA map\nA plan\nA screenshot AI-generated content may be incorrect.\nA seal')
    expect(warnings).toEqual([lost('4 pictures without')])
  })

  test('of slides are named by their slides, those of sheets counted', async () => {
    const content = pictures.replaceAll('<a:', '<p:').replaceAll('</a:', '</p:')
    const slides = await read('pptx', buildPptx([{ content: '' }, { content }]))
    expect(slides.warnings).toEqual([{ ...lost('2 pictures without'), pages: [2] }])
    const drawing = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing'
    const sheet = await read(
      'xlsx',
      buildXlsx([{ name: 'S', rows: sheetRows([['a', 'b']]) }], {
        parts: {
          'xl/worksheets/_rels/0.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${drawing}" Target="../drawings/1.xml"/></Relationships>`,
          'xl/drawings/1.xml': `<d:wsDr xmlns:d="d" xmlns:a="a">${pictures}</d:wsDr>`,
        },
      }),
    )
    expect(sheet.warnings).toEqual([lost('2 pictures without')])
  })
})

describe('docx', () => {
  test('content of other parts that is not read is a warning', async () => {
    const body =
      docxParagraph('The contract.') +
      '<w:altChunk xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="r5"/>' +
      '<w:subDoc/>' +
      '<w:p><w:r><w:object><v:shape xmlns:v="v"><v:imagedata/></v:shape><o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" ProgID="Excel.Sheet.12"/></w:object></w:r></w:p>'
    const { text, warnings } = await read('docx', buildDocx(body))
    expect(text).toBe('The contract.')
    expect(warnings).toEqual([
      { code: 'embedded_content_skipped', message: expect.stringContaining('altChunk') },
      { code: 'embedded_content_skipped', message: expect.stringContaining('linked document') },
      { code: 'embedded_content_skipped', message: expect.stringContaining('spreadsheets') },
    ])
  })

  test('check boxes and lists of older forms, and boxes of symbol fonts, are text', async () => {
    const field = (data: string) =>
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
    const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
    const { text } = await read(
      'docx',
      buildDocx(
        `<w:p>${field('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>')}${run(' Agree')}</w:p>` +
          `<w:p>${field('<w:checkBox><w:default w:val="0"/></w:checkBox>')}${run(' Decline')}</w:p>` +
          `<w:p>${run('Country: ')}${field('<w:ddList><w:result w:val="1"/><w:listEntry w:val="Norway"/><w:listEntry w:val="Sweden"/></w:ddList>')}</w:p>` +
          `<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>${run(' Paid')}</w:p>` +
          `<w:p><w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Symbol" w:char="F0A3"/></w:r>${run('5')}</w:p>`,
      ),
    )
    expect(text.split('\n')).toEqual(['[x] Agree', '[ ] Decline', 'Country: Sweden', '[x] Paid', 'α≤5'])
  })

  test('fields that show their code, fields within others, and text of drawings of other programs, are text', async () => {
    const mark = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`
    const code = (text: string) => `<w:r><w:instrText>${text}</w:instrText></w:r>`
    const field = (text: string) => `${mark('begin')}${code(text)}${mark('end')}`
    const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`
    const canvas = '<a:p><a:r><a:t>In a box</a:t></a:r></a:p><a:p><a:r><a:t>Below</a:t></a:r></a:p>'
    const { text } = await read(
      'docx',
      buildDocx(
        `<w:p>${field(' MACROBUTTON NoMacro [Click and type a name] ')}${field('XE "hidden entry"')}</w:p>` +
          `<w:p>${field('EQ \\* jc2 \\* &quot;Font:MS Mincho&quot; \\* hps12 \\o\\ad(\\s\\up 11(かんじ),漢字)')}</w:p>` +
          `<w:p><w:r><w:drawing xmlns:a="a">${canvas}</w:drawing></w:r></w:p>` +
          `<w:p>${mark('begin')}${code('IF ')}${mark('begin')}${code('MERGEFIELD x')}${mark('separate')}${run('1')}${mark('end')}${mark('separate')}${run('Paid')}${mark('end')}</w:p>`,
      ),
    )
    expect(text.split('\n')).toEqual(['[Click and type a name]', 'かんじ 漢字', 'In a box Below', '1 Paid'])
  })
})

test('pictures in a Markdown file are counted on version 2', async () => {
  const picture = (width: number, height: number, rest = 100) => {
    const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(4 + rest)])
    gif.writeUInt16LE(width, 6)
    gif.writeUInt16LE(height, 8)
    return `data:image/gif;base64,${gif.toString('base64')}`
  }
  const lines = [
    `![](${picture(400, 300)})`,
    // Longer than a part of the file.
    `![scan 2.png](${picture(400, 300, 300_000)})`,
    `![][1]\n\n[1]: <${picture(400, 300)}>`,
    // Described, or small.
    `![Sales by year](${picture(400, 300)})`,
    `<img alt="Sales by month" src="${picture(400, 300)}">`,
    `![](${picture(120, 80)})`,
    '![](https://a.example/map.png)',
  ]
  const text = `# Report\n\n${lines.join('\n\n')}\n`
  const { warnings, blocks } = await readBlocks('md', text, { readsEmbedded: true })
  expect(warnings).toEqual([
    { code: 'embedded_content_skipped', message: expect.stringContaining('3 pictures without') },
  ])
  const first = await readBlocks('md', text)
  expect(first.warnings).toEqual([])
  expect(first.blocks).toEqual(blocks)
})
