import { expect, test } from 'vitest'
import { defaultLimits } from '../../isolation/limits.ts'
import { buildPptx, buildXlsx, sheetRows } from '../../testing/build-documents.ts'
import { buildDocxWithPictures, drawnPicture, pictureParts } from '../../testing/build-pictures.ts'
import { buildPng } from '../../ocr/picture-file.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

/** Without text recognition: what is not read is a warning. */

const png = (width: number, height: number) =>
  buildPng({ width, height, pixels: new Uint8Array(width * height).fill(255) })
const lost = (what: string) => ({ code: 'embedded_content_skipped', message: expect.stringContaining(what) })
const large = { 'large.png': png(400, 300) }

test('only pictures that are large enough to have text are counted on version 2', async () => {
  const file = buildDocxWithPictures({
    ...large,
    'logo.png': png(120, 80),
    'line.png': png(2_000, 12),
    'drawing.emf': Buffer.alloc(30_000),
    'sign.emf': Buffer.alloc(3_000),
  })
  const second = await readBlocks('docx', file, { readsEmbedded: true })
  expect(second).toMatchObject({ texts: ['First.', 'Last.'], warnings: [lost('2 pictures without')] })
  expect((await readBlocks('docx', file)).warnings).toEqual([lost('5 pictures without')])
})

test.each(['gif', 'bmp', 'emf', 'wmf'] as const)(
  'pictures of the type %s are counted by their size, not by their bytes',
  async (type) => {
    const file = buildDocxWithPictures({
      [`drawing.${type}`]: unreadable[type](400, 300),
      [`plan.${type}`]: unreadable[type](300, 500),
      [`sign.${type}`]: Buffer.concat([unreadable[type](60, 40), Buffer.alloc(30_000)]),
    })
    const { warnings } = await readBlocks('docx', file, { readsEmbedded: true })
    expect(warnings).toEqual([lost('2 pictures without')])
  },
)

/** Heads of pictures of a size in dots; of metafiles with 96 dots for an inch. */
const unreadable = {
  gif(width: number, height: number) {
    const head = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(7)])
    head.writeUInt16LE(width, 6)
    head.writeUInt16LE(height, 8)
    return head
  },
  bmp(width: number, height: number) {
    const head = Buffer.concat([Buffer.from('BM'), Buffer.alloc(52)])
    head.writeUInt32LE(40, 14)
    head.writeInt32LE(width, 18)
    head.writeInt32LE(-height, 22)
    return head
  },
  emf(width: number, height: number) {
    const head = Buffer.alloc(108)
    head.writeInt32LE(Math.round((width / 96) * 2540), 32)
    head.writeInt32LE(Math.round((height / 96) * 2540), 36)
    head.write(' EMF', 40, 'latin1')
    return head
  },
  wmf(width: number, height: number) {
    const head = Buffer.alloc(40)
    head.writeUInt32LE(0x9ac6cdd7, 0)
    head.writeInt16LE(width * 15, 10)
    head.writeInt16LE(height * 15, 12)
    head.writeUInt16LE(1440, 14)
    return head
  },
}

test('described and decorative pictures are not counted, and a repeated one counts once', async () => {
  const file = buildDocxWithPictures(large, (id) => [
    drawnPicture(id),
    drawnPicture(id),
    drawnPicture(id, 'A map of the harbour'),
    drawnPicture(id, '', true),
  ])
  const { texts, warnings } = await readBlocks('docx', file, { readsEmbedded: true })
  expect(texts).toEqual(['First.', 'A map of the harbour', 'Last.'])
  expect(warnings).toEqual([lost('1 picture without')])
})

test('pictures of slides are counted with their slides, those of sheets in all', async () => {
  const slides = await readBlocks(
    'pptx',
    buildPptx([{ content: '' }, { content: drawnPicture('p0', 'A map') + drawnPicture('p1') }], {
      ...pictureParts('ppt/slides/_rels/1.xml.rels', 'ppt/media', { 'a.png': png(400, 300), ...large }),
    }),
    { readsEmbedded: true },
  )
  expect(slides.warnings).toEqual([{ ...lost('1 picture without'), pages: [2] }])
  const drawing = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing'
  const sheet = await readBlocks(
    'xlsx',
    buildXlsx([{ name: 'S', rows: sheetRows([['a', 'b']]) }], {
      parts: {
        'xl/worksheets/_rels/0.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${drawing}" Target="../drawings/1.xml"/></Relationships>`,
        'xl/drawings/1.xml': `<d:wsDr xmlns:d="d">${drawnPicture('p0')}</d:wsDr>`,
        ...pictureParts('xl/drawings/_rels/1.xml.rels', 'xl/media', large),
      },
    }),
    { readsEmbedded: true },
  )
  expect(sheet.warnings).toEqual([lost('1 picture without')])
})

test('pictures that unpack to more than their bound are counted, and the text is read', async () => {
  const limits = { ...defaultLimits('docx', 10_000), maximumUnpackedBytes: 50_000 }
  const file = buildDocxWithPictures({ 'bomb.png': Buffer.alloc(100_000), 'lying.png': Buffer.alloc(40_000) })
  const { texts, warnings } = await readBlocks('docx', file, { readsEmbedded: true, limits })
  expect(texts).toEqual(['First.', 'Last.'])
  expect(warnings).toEqual([lost('2 pictures without')])
})
