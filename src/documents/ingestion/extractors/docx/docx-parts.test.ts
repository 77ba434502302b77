import { describe, expect, test } from 'vitest'
import { buildDocx, docxParagraph, wordPart } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relationships = (...list: [id: string, type: string, target: string][]) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="${types}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`
const run = (content: string) => `<w:r>${content}</w:r>`
const text = (words: string) => run(`<w:t xml:space="preserve">${words}</w:t>`)
const field = (code: string, result: string) =>
  `${run('<w:fldChar w:fldCharType="begin"/>')}${run(`<w:instrText>${code}</w:instrText>`)}${run('<w:fldChar w:fldCharType="separate"/>')}${text(result)}${run('<w:fldChar w:fldCharType="end"/>')}`

test('a footnote and an endnote with the same id have different marks', async () => {
  const note = (kind: string, id: string, words: string) =>
    `<w:${kind} w:id="${id}">${docxParagraph(words)}</w:${kind}>`
  const body = `<w:p>${text('Fee')}${run('<w:footnoteReference w:id="1"/>')}${text(' term')}${run('<w:endnoteReference w:id="1"/>')}${text(' end')}${run('<w:endnoteReference w:id="2"/>')}</w:p>`
  const { texts } = await readBlocks(
    'docx',
    buildDocx(body, {
      'word/footnotes.xml': wordPart(
        'footnotes',
        note('footnote', '1', 'Without tax') + note('footnote', '2', 'Unused'),
      ),
      'word/endnotes.xml': wordPart('endnotes', note('endnote', '1', 'In days') + note('endnote', '2', 'Of March')),
    }),
  )
  expect(texts).toEqual([
    'Fee[^1] term[^e1] end[^2]',
    '[^1] Without tax',
    '[^f2] Unused',
    '[^e1] In days',
    '[^2] Of March',
  ])
})

describe('comments of a docx', () => {
  const comment = (id: string, author: string, ...lines: string[]) =>
    `<w:comment w:id="${id}" w:author="${author}">${lines.map((line) => docxParagraph(line)).join('')}</w:comment>`
  const commented = (words: string, id: string) =>
    `<w:p>${text(words)}${run(`<w:commentReference w:id="${id}"/>`)}</w:p>`

  test('follow the paragraphs that they concern, those without a place the text', async () => {
    const { blocks } = await readBlocks(
      'docx',
      buildDocx(commented('The fee is 5 %.', '0') + docxParagraph('The end.'), {
        'word/comments.xml': wordPart(
          'comments',
          comment('0', 'Ann Miller', 'Should be 7 %.', 'See the offer.') + comment('1', '', 'Unplaced.'),
        ),
      }),
    )
    expect(blocks).toEqual([
      { kind: 'paragraph', text: 'The fee is 5 %.' },
      { kind: 'footnote', text: 'Comment by Ann Miller: Should be 7 %.\nSee the offer.' },
      { kind: 'paragraph', text: 'The end.' },
      { kind: 'footnote', text: 'Comment: Unplaced.' },
    ])
  })

  test('and notes of deleted text, and deleted text of comments, are left out', async () => {
    const deletion = `<w:p>${text('Kept.')}<w:del>${run('<w:delText>Gone.</w:delText><w:footnoteReference w:id="2"/>')}${run('<w:commentReference w:id="0"/>')}</w:del>${run('<w:footnoteReference w:id="3"/>')}</w:p>`
    const note = (id: string, words: string) => `<w:footnote w:id="${id}">${docxParagraph(words)}</w:footnote>`
    const edited = `<w:comment w:id="5"><w:p>${text('Now')}<w:del>${run('<w:t>before</w:t>')}</w:del></w:p></w:comment>`
    const { texts } = await readBlocks(
      'docx',
      buildDocx(deletion, {
        'word/comments.xml': wordPart('comments', comment('0', 'Ann', 'Of deleted text') + edited),
        'word/footnotes.xml': wordPart('footnotes', note('2', 'Deleted note') + note('3', 'Living note')),
      }),
    )
    expect(texts).toEqual(['Kept.[^3]', 'Comment: Now', '[^3] Living note'])
  })

  test('are read to a bound, which is a warning', async () => {
    const many = Array.from({ length: 20_100 }, (_, id) => comment(String(id), '', 'x')).join('')
    const { texts, warnings } = await readBlocks(
      'docx',
      buildDocx(docxParagraph('Text.'), { 'word/comments.xml': wordPart('comments', many) }),
    )
    expect(texts).toHaveLength(20_001)
    expect(warnings).toMatchObject([{ code: 'truncated' }])
  })
})

test('headers of pages come before the text and footers behind it, each text once and without page numbers', async () => {
  const header = wordPart('hdr', docxParagraph('Acme Ltd, Harbour Street 1') + docxParagraph('Contract 4711'))
  const footer = `<w:p>${text('Confidential')}${run('<w:tab/>')}${text('Page ')}${field(' PAGE  \\* MERGEFORMAT ', '3')}${text(' of ')}${field('NUMPAGES', '10')}</w:p>`
  const numbersOnly = `<w:p>${text('– ')}<w:fldSimple w:instr="PAGE">${text('3')}</w:fldSimple>${text(' –')}</w:p>`
  const named = `<w:p>${text('Draft 2024 – ')}${field('PAGE', 'iv')}</w:p>`
  const wide = `<w:p>${text('第')}${field('PAGE', '3')}${text('页，共')}${field('NUMPAGES', '10')}${text('页')}</w:p>`
  const { blocks } = await readBlocks(
    'docx',
    buildDocx(docxParagraph('The text.') + `<w:p>${field('PAGE', '7')}</w:p>`, {
      'word/_rels/document.xml.rels': relationships(
        ['h1', 'header', 'header1.xml'],
        ['h2', 'header', 'header2.xml'],
        ['f1', 'footer', 'footer1.xml'],
      ),
      'word/header1.xml': header,
      'word/header2.xml': header,
      'word/footer1.xml': wordPart('ftr', footer + numbersOnly + named + wide),
    }),
  )
  expect(blocks).toEqual([
    { kind: 'paragraph', text: 'Acme Ltd, Harbour Street 1' },
    { kind: 'paragraph', text: 'Contract 4711' },
    { kind: 'paragraph', text: 'The text.' },
    { kind: 'paragraph', text: '7' },
    { kind: 'paragraph', text: 'Confidential' },
    { kind: 'paragraph', text: 'Draft 2024 – iv' },
  ])
})

test('large first letters (drop caps) are part of the word that they begin', async () => {
  const initial = (text: string) => docxParagraph(text, '<w:framePr w:dropCap="drop" w:lines="3"/>')
  const { texts } = await readBlocks(
    'docx',
    buildDocx(initial('T') + docxParagraph('he tenant pays.') + docxParagraph('Next.') + initial('E')),
  )
  expect(texts).toEqual(['The tenant pays.', 'Next.', 'E'])
})

test('WordArt and the descriptions of pictures are text, names of picture files are not', async () => {
  const drawing = (description: string) =>
    run(
      `<w:drawing><wp:inline xmlns:wp="w"><wp:docPr id="1" name="Picture 1" descr="${description}"/></wp:inline></w:drawing>`,
    )
  const shape = (attributes: string, content = '') =>
    run(`<w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" ${attributes}>${content}</v:shape></w:pict>`)
  const { texts } = await readBlocks(
    'docx',
    buildDocx(
      [
        text('See') + drawing('A plan of the harbour. Description automatically generated with medium confidence'),
        drawing('C:\\Pictures\\logo 2.PNG') + drawing('Picture 3'),
        shape('alt="An old map"'),
        shape('', '<v:textpath string="Summer sale"/>'),
      ]
        .map((content) => `<w:p>${content}</w:p>`)
        .join(''),
    ),
  )
  expect(texts).toEqual(['See A plan of the harbour.', 'An old map', 'Summer sale'])
})

test('files that are inserted as a whole are read at their place on version 2, those of other types are named', async () => {
  const parts = ['page.html', 'page.mht', 'inner.docx', 'note.txt', 'old.rtf']
  const chunk = (index: number) =>
    `<w:altChunk xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="c${index}"/>`
  const file = buildDocx(
    docxParagraph('First.') + parts.map((_, index) => chunk(index)).join('') + docxParagraph('Last.'),
    {
      'word/_rels/document.xml.rels': relationships(
        ...parts.map((name, index): [string, string, string] => [`c${index}`, 'aFChunk', name]),
      ),
      'word/page.html': '<h1>Rules</h1><p>From a web page.</p>',
      'word/page.mht':
        'MIME-Version: 1.0\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>From a =\r\nsaved page.</p>',
      'word/inner.docx': buildDocx(docxParagraph('From a document.')),
      'word/note.txt': 'From a text.',
      'word/old.rtf': '{\\rtf1 From an old file.}',
    },
  )
  const { texts, warnings } = await readBlocks('docx', file, { readsEmbedded: true })
  expect(texts).toEqual([
    'First.',
    'Rules',
    'From a web page.',
    'From a saved page.',
    'From a document.',
    'From a text.',
    'Last.',
  ])
  expect(warnings).toEqual([
    { code: 'embedded_content_skipped', message: expect.stringContaining('altChunk: old.rtf') },
  ])
  const first = await readBlocks('docx', file)
  expect(first.texts).toEqual(['First.', 'Last.'])
  expect(first.warnings).toEqual([{ code: 'embedded_content_skipped', message: expect.stringContaining('altChunk') }])
})

test('inserted documents that insert themselves end at the bounds on files in files', async () => {
  let file = buildDocx(docxParagraph('Core.'))
  const chunk = '<w:altChunk xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="c"/>'
  for (let depth = 0; depth < 7; depth += 1)
    file = buildDocx(docxParagraph(`Level ${depth}.`) + chunk.repeat(5), {
      'word/_rels/document.xml.rels': relationships(['c', 'aFChunk', 'inner.docx']),
      'word/inner.docx': file,
    })
  const { texts, warnings } = await readBlocks('docx', file, { readsEmbedded: true })
  expect(texts.length).toBeLessThanOrEqual(1_001)
  expect(texts).not.toContain('Core.')
  expect(warnings).toContainEqual({
    code: 'embedded_content_skipped',
    message: expect.stringContaining('inner.docx'),
  })
})
