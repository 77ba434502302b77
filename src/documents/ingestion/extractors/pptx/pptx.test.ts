import { expect, test } from 'vitest'
import { buildPptx } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

const shape = (content: string, place = '') =>
  `<p:sp><p:nvSpPr><p:nvPr>${place && `<p:ph type="${place}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${content}</p:txBody></p:sp>`
const paragraph = (text: string, properties = '') => `<a:p>${properties}<a:r><a:rPr/><a:t>${text}</a:t></a:r></a:p>`

test('has each slide with its title first, its texts in order, and its notes', async () => {
  const { blocks } = await readBlocks(
    'pptx',
    buildPptx([
      {
        content:
          shape(paragraph('First text') + paragraph('A point', '<a:pPr lvl="1"/>')) +
          shape(paragraph('Roses'), 'title') +
          shape(paragraph('1'), 'sldNum'),
        notes: shape(paragraph('Speak slowly.'), 'body') + shape(paragraph('1'), 'sldNum'),
      },
      { content: shape(paragraph('Only text')), attributes: 'show="0"' },
      { content: '' },
    ]),
  )
  expect(blocks).toEqual([
    { kind: 'heading', level: 1, text: 'Roses', page: 1 },
    { kind: 'paragraph', text: 'First text', page: 1 },
    { kind: 'list_item', text: '- A point', page: 1 },
    { kind: 'heading', level: 2, text: 'Notes', page: 1 },
    { kind: 'paragraph', text: 'Speak slowly.', page: 1 },
    { kind: 'heading', level: 1, text: 'Slide 2 (hidden)', page: 2 },
    { kind: 'paragraph', text: 'Only text', page: 2 },
  ])
})

test('keeps tables with merged cells, addresses of links, and texts of groups once', async () => {
  const cell = (text: string, merge = '') => `<a:tc ${merge}><a:txBody>${paragraph(text)}</a:txBody></a:tc>`
  const row = (...cells: string[]) => `<a:tr>${cells.join('')}</a:tr>`
  const table = `<p:graphicFrame><a:tbl><a:tblPr firstRow="1"/>${row(cell('Group'), cell('Day'), cell('Euro'))}${row(cell('Adults', 'rowSpan="2"'), cell('Monday'), cell('12'))}${row(cell('', 'vMerge="1"'), cell('Sunday'), cell('9'))}</a:tbl></p:graphicFrame>`
  const link = '<a:p><a:r><a:rPr><a:hlinkClick r:id="web"/></a:rPr><a:t>Terms</a:t></a:r></a:p>'
  const copies = `<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice>${shape(paragraph('once'))}</mc:Choice><mc:Fallback>${shape(paragraph('once'))}</mc:Fallback></mc:AlternateContent>`
  const { texts } = await readBlocks(
    'pptx',
    buildPptx([
      { content: table + shape(link) + `<p:grpSp>${copies}</p:grpSp>`, links: { web: 'https://a.example/terms' } },
    ]),
  )
  expect(texts).toEqual([
    'Slide 1',
    'Group | Day | Euro',
    'Adults | Monday | 12',
    'Adults | Sunday | 9',
    'Terms (https://a.example/terms)',
    'once',
  ])
})

test('names the slides with embedded files, and those that are missing', async () => {
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const { texts, warnings } = await readBlocks(
    'pptx',
    buildPptx(
      [
        { content: `${shape(paragraph('Sums'))}<p:graphicFrame><p:oleObj progId="Excel.Sheet.12"/></p:graphicFrame>` },
        { content: shape(paragraph('Lost')) },
        { content: shape(paragraph('Last')) },
      ],
      {
        'ppt/_rels/presentation.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s0" Type="${types}/slide" Target="slides/3.xml"/><Relationship Id="s1" Type="${types}/slide" Target="slides/9.xml"/><Relationship Id="s2" Type="${types}/slide" Target="slides/1.xml"/></Relationships>`,
      },
    ),
  )
  expect(texts).toEqual(['Slide 1', 'Sums', 'Slide 3', 'Last'])
  expect(warnings).toEqual([
    { code: 'embedded_content_skipped', message: expect.stringContaining('Embedded objects'), pages: [1] },
    { code: 'damaged_parts', message: expect.stringContaining('missing'), pages: [2] },
  ])
})

test('has the comments of a slide in both formats with their authors, and the descriptions of its pictures', async () => {
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const picture =
    '<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="A plan of the harbour"/></p:nvPicPr></p:pic>'
  const { blocks } = await readBlocks(
    'pptx',
    buildPptx([{ content: shape(paragraph('Sums')) + picture }], {
      'ppt/slides/_rels/1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${types}/comments" Target="../comments/1.xml"/><Relationship Id="b" Type="http://schemas.microsoft.com/office/2018/10/relationships/comments" Target="../comments/2.xml"/></Relationships>`,
      'ppt/_rels/presentation.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s0" Type="${types}/slide" Target="slides/1.xml"/><Relationship Id="c" Type="${types}/commentAuthors" Target="commentAuthors.xml"/><Relationship Id="d" Type="http://schemas.microsoft.com/office/2018/10/relationships/authors" Target="authors.xml"/></Relationships>`,
      'ppt/commentAuthors.xml': '<p:cmAuthorLst xmlns:p="p"><p:cmAuthor id="0" name="Ann Miller"/></p:cmAuthorLst>',
      'ppt/authors.xml':
        '<c:authorLst xmlns:c="c"><c:author id="{A}" name="Bo"/><c:author id="{B}" name="Cy"/></c:authorLst>',
      'ppt/comments/1.xml':
        '<p:cmLst xmlns:p="p"><p:cm authorId="0"><p:pos x="1" y="2"/><p:text>Check the sums</p:text></p:cm></p:cmLst>',
      'ppt/comments/2.xml': `<c:cmLst xmlns:c="c" xmlns:a="a"><c:cm authorId="{A}"><c:replyLst><c:reply authorId="{B}"><c:txBody>${paragraph('Done')}</c:txBody></c:reply></c:replyLst><c:txBody>${paragraph('Add a title')}</c:txBody></c:cm></c:cmLst>`,
    }),
  )
  expect(blocks.slice(1)).toEqual([
    { kind: 'paragraph', text: 'Sums', page: 1 },
    { kind: 'paragraph', text: 'A plan of the harbour', page: 1 },
    { kind: 'footnote', text: 'Comment by Ann Miller: Check the sums', page: 1 },
    { kind: 'footnote', text: 'Comment by Cy: Done', page: 1 },
    { kind: 'footnote', text: 'Comment by Bo: Add a title', page: 1 },
  ])
})

test('has the texts of its layouts and masters once, without their places for texts', async () => {
  const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const named = (type: string, target: string) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="x" Type="${types}/${type}" Target="${target}"/></Relationships>`
  const frame = (element: string, content: string, attributes = '') =>
    `<p:${element} xmlns:p="p" xmlns:a="a" ${attributes}><p:cSld><p:spTree>${content}</p:spTree></p:cSld></p:${element}>`
  const logo = '<p:pic><p:nvPicPr><p:cNvPr id="9" name="Logo"/></p:nvPicPr></p:pic>'
  const { blocks, warnings } = await readBlocks(
    'pptx',
    buildPptx(
      [
        { content: shape(paragraph('Bare')), attributes: 'showMasterSp="0"' },
        { content: shape(paragraph('One')) },
        { content: shape(paragraph('Two')) },
      ],
      {
        ...Object.fromEntries(
          [1, 2, 3].map((slide) => [
            `ppt/slides/_rels/${slide}.xml.rels`,
            named('slideLayout', '../slideLayouts/1.xml'),
          ]),
        ),
        'ppt/slideLayouts/1.xml': frame(
          'sldLayout',
          shape(paragraph('Click to add'), 'body') + shape(paragraph('Draft')),
        ),
        'ppt/slideLayouts/_rels/1.xml.rels': named('slideMaster', '../slideMasters/1.xml'),
        'ppt/slideMasters/1.xml': frame(
          'sldMaster',
          logo + shape(paragraph('Title'), 'title') + shape(paragraph('Acme, confidential')),
        ),
      },
    ),
  )
  expect(blocks.map(({ text, page }) => [text, page])).toEqual([
    ['Slide 1', 1],
    ['Bare', 1],
    ['Slide 2', 2],
    ['One', 2],
    ['Draft', 2],
    ['Acme, confidential', 2],
    ['Slide 3', 3],
    ['Two', 3],
  ])
  expect(warnings).toEqual([])
})
