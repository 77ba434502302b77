import { expect, test } from 'vitest'
import { testSeed } from '../../../../test/harness/seed.ts'
import { defaultLimits } from '../isolation/limits.ts'
import { buildDocx, buildPptx, buildTextPdf, buildXlsx, docxParagraph, sheetRows } from '../testing/build-documents.ts'
import { buildOleContainer, packagerStream } from '../testing/build-ole-container.ts'
import { readBlocks } from '../testing/read-blocks.ts'
import { readOleStreams } from './ole-container.ts'

const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relationships = (targets: string[], type = 'package') =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets
    .map((target, index) => `<Relationship Id="o${index}" Type="${types}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`

/** A docx that shows these files as objects between two paragraphs. */
function docxWith(files: Record<string, Buffer>): Buffer {
  const object = (index: number) =>
    `<w:p><w:r><w:object><o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:r="${types}" r:id="o${index}"/></w:object></w:r></w:p>`
  const names = Object.keys(files)
  return buildDocx(docxParagraph('First.') + names.map((_, index) => object(index)).join('') + docxParagraph('Last.'), {
    'word/_rels/document.xml.rels': relationships(names.map((name) => `embeddings/${name}`)),
    ...Object.fromEntries(names.map((name) => [`word/embeddings/${name}`, files[name]!])),
  })
}

const sheet = buildXlsx([
  {
    name: 'Fees',
    rows: sheetRows([
      ['Ticket', 'Euro'],
      ['Adult', 12],
    ]),
  },
])
const skipped = { code: 'embedded_content_skipped', message: expect.stringContaining('Embedded objects') }

test('files that a docx shows as objects are read behind its text on version 2', async () => {
  const page = buildTextPdf([{ texts: [{ text: 'On a page', x: 50, y: 700 }] }])
  const file = docxWith({
    'Sheet.xlsx': sheet,
    'oleObject1.bin': buildOleContainer({ Package: buildDocx(docxParagraph('Of an inner document.')) }),
    'oleObject2.bin': buildOleContainer({ '\u0001Ole10Native': packagerStream('notes.txt', Buffer.from('A note.')) }),
    'oleObject3.bin': buildOleContainer({ CONTENTS: Buffer.concat([page, Buffer.alloc(5_000)]) }),
  })
  const { texts, warnings } = await readBlocks('docx', file, { readsEmbedded: true })
  expect(texts).toEqual([
    'First.',
    'Last.',
    'Sheet.xlsx',
    'Fees',
    'Ticket | Euro',
    'Adult | 12',
    'oleObject1.docx',
    'Of an inner document.',
    'notes.txt',
    'A note.',
    'oleObject3.pdf',
    'On a page',
  ])
  expect(warnings).toEqual([])
  const first = await readBlocks('docx', file)
  expect(first.texts).toEqual(['First.', 'Last.'])
  expect(first.warnings).toEqual([skipped])
})

test('objects of other programs, and those that are too large together, are a warning', async () => {
  const old = docxWith({ 'oleObject1.bin': buildOleContainer({ Workbook: Buffer.alloc(5_000) }) })
  expect(await readBlocks('docx', old, { readsEmbedded: true })).toMatchObject({
    texts: ['First.', 'Last.'],
    warnings: [skipped],
  })
  const limits = { ...defaultLimits('docx', 10_000), maximumUnpackedBytes: 5_000 }
  const large = await readBlocks('docx', docxWith({ 'Large.xlsx': Buffer.alloc(6_000) }), {
    readsEmbedded: true,
    limits,
  })
  expect(large).toMatchObject({ texts: ['First.', 'Last.'], warnings: [skipped] })
})

test('objects of slides follow their slide, those of sheets their sheet', async () => {
  const slide = (id: string) =>
    `<p:sp><p:txBody><a:p><a:r><a:t>Slide text</a:t></a:r></a:p></p:txBody></p:sp><p:graphicFrame><p:oleObj r:id="${id}"/></p:graphicFrame>`
  const slides = await readBlocks(
    'pptx',
    buildPptx([{ content: slide('o0') }, { content: slide('missing') }], {
      'ppt/slides/_rels/2.xml.rels': relationships(['../embeddings/Sheet.xlsx']),
      'ppt/embeddings/Sheet.xlsx': sheet,
    }),
    { readsEmbedded: true },
  )
  expect(slides.blocks.map(({ text, page }) => [text, page])).toEqual([
    ['Slide 1', 1],
    ['Slide text', 1],
    ['Sheet.xlsx', 1],
    ['Fees', 1],
    ['Ticket | Euro', 1],
    ['Adult | 12', 1],
    ['Slide 2', 2],
    ['Slide text', 2],
  ])
  expect(slides.warnings).toEqual([{ ...skipped, pages: [2] }])
  const workbook = buildXlsx([{ name: 'Sums', rows: sheetRows([['Year', 'Sum']]) }], {
    parts: {
      'xl/worksheets/_rels/0.xml.rels': relationships(['../embeddings/Letter.docx']),
      'xl/embeddings/Letter.docx': buildDocx(docxParagraph('A letter.')),
    },
  })
  const { texts, warnings } = await readBlocks('xlsx', workbook, { readsEmbedded: true })
  expect(texts.slice(-2)).toEqual(['Letter.docx', 'A letter.'])
  expect(warnings).toEqual([])
})

test('a damaged container never fails the file, and its chains end', () => {
  const sound = buildOleContainer({ Package: Buffer.alloc(6_000, 1), Small: Buffer.alloc(300, 2) })
  const streams = readOleStreams(sound)
  expect(streams.get('Package')!()).toEqual(Buffer.alloc(6_000, 1))
  expect(streams.get('Small')!()).toEqual(Buffer.alloc(300, 2))
  let state = testSeed
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let round = 0; round < 2_000; round += 1) {
    const damaged = Buffer.from(sound).subarray(0, 512 + random(sound.length - 512))
    for (let change = 0; change < 4; change += 1) damaged[24 + random(damaged.length - 24)] = random(256)
    for (const read of readOleStreams(damaged).values()) expect(read().length).toBeLessThanOrEqual(sound.length)
  }
  // Each sector is the next one of itself.
  const looped = Buffer.from(sound)
  for (let at = 0; at < 128; at += 1) looped.writeUInt32LE(at, 512 + 4 * at)
  for (const read of readOleStreams(looped).values()) expect(read().length).toBeLessThanOrEqual(512)
})
