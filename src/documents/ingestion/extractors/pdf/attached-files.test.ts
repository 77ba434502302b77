import { describe, expect, test } from 'vitest'
import { defaultLimits } from '../../isolation/limits.ts'
import { type AttachedContent, buildPdfWithFiles, packZeros } from '../../testing/attached-pdf.ts'
import { buildDocx, docxParagraph } from '../../testing/build-documents.ts'
import { readBlocks } from '../../testing/read-blocks.ts'

const read = (content: Buffer) => readBlocks('pdf', content, { readsEmbedded: true })

test('files attached to a pdf and to its pages are read behind its text, and those of other types are named', async () => {
  const letter = buildDocx(docxParagraph('Dear all', '<w:outlineLvl w:val="0"/>') + docxParagraph('The offer stands.'))
  const { blocks, warnings } = await read(
    buildPdfWithFiles(
      'The main text.',
      [
        { name: 'letter.docx', content: letter },
        { name: 'factur.xml', content: '<a/>', type: 'text/xml' },
        { name: 'notes', content: 'Plain notes.', type: 'text/plain' },
        { name: 'broken.docx', content: 'no zip' },
      ],
      [
        {
          name: 'inner.pdf',
          content: buildPdfWithFiles('An inner page.', [{ name: 'deep.txt', content: 'Deep text.' }]),
        },
      ],
    ),
  )
  expect(blocks.map(({ kind, level, text, page }) => [kind, level, text, page])).toEqual([
    ['paragraph', undefined, 'The main text.', 1],
    ['heading', 2, 'letter.docx', undefined],
    ['heading', 3, 'Dear all', undefined],
    ['paragraph', undefined, 'The offer stands.', undefined],
    ['heading', 2, 'notes', undefined],
    ['paragraph', undefined, 'Plain notes.', undefined],
    ['heading', 2, 'broken.docx', undefined],
    ['heading', 2, 'inner.pdf', undefined],
    ['paragraph', undefined, 'An inner page.', undefined],
    ['heading', 4, 'deep.txt', undefined],
    ['paragraph', undefined, 'Deep text.', undefined],
  ])
  expect(warnings).toEqual([
    { code: 'damaged_parts', message: expect.stringContaining('broken.docx was not read to its end') },
    { code: 'embedded_content_skipped', message: expect.stringMatching(/types are not supported: factur\.xml\./) },
  ])
})

test('version 1 of the interface only names them', async () => {
  const { blocks, warnings } = await readBlocks(
    'pdf',
    buildPdfWithFiles('Text.', [{ name: 'a.txt', content: 'A' }], [{ name: 'b.txt', content: 'B' }]),
  )
  expect(blocks.map(({ text }) => text)).toEqual(['Text.'])
  expect(warnings).toEqual([
    { code: 'embedded_content_skipped', message: expect.stringContaining('not read: a.txt. ') },
    { code: 'embedded_content_skipped', message: expect.stringContaining('attached to these pages'), pages: [1] },
  ])
})

test('a portfolio has text if only its files do', async () => {
  const { texts } = await read(buildPdfWithFiles('', [{ name: 'a.txt', content: 'The only text.' }]))
  expect(texts).toEqual(['a.txt', 'The only text.'])
  await expect(readBlocks('pdf', buildPdfWithFiles('', [{ name: 'a.txt', content: 'x' }]))).rejects.toMatchObject({
    code: 'no_text',
  })
})

describe('bounds', () => {
  test('a file that unpacks to gigabytes is named, and the text and the other files are read', async () => {
    const bomb = (name: string) => ({ name, content: '', packed: packZeros(900) })
    const file = buildPdfWithFiles(
      'The main text.',
      [bomb('bomb.txt'), { name: 'a.txt', content: 'A note.' }, bomb('again.txt')],
      [bomb('of-page.txt'), { name: 'b.txt', content: 'Another note.' }],
    )
    const { texts, warnings } = await read(file)
    expect(texts).toEqual(['The main text.', 'a.txt', 'A note.'])
    expect(warnings).toEqual([
      {
        code: 'embedded_content_skipped',
        message: expect.stringContaining('not read: bomb.txt, again.txt, of-page.txt, b.txt. '),
      },
    ])
    const inner = buildPdfWithFiles('Inner.', [bomb('bomb.txt')])
    const nested = await read(
      buildPdfWithFiles('Top.', [
        { name: 'inner.pdf', content: inner },
        { name: 'last.txt', content: 'Last.' },
      ]),
    )
    expect(nested.texts).toEqual(['Top.', 'inner.pdf', 'Inner.', 'last.txt', 'Last.'])
  })

  test('files deeper than five within each other are named', async () => {
    let file: AttachedContent = { name: 'core.txt', content: 'Core.' }
    for (let depth = 6; depth > 0; depth -= 1)
      file = { name: `${depth}.pdf`, content: buildPdfWithFiles(`Level ${depth}.`, [file]) }
    const { texts, warnings } = await read(buildPdfWithFiles('Top.', [file]))
    expect(texts).toContain('Level 5.')
    expect(texts).not.toContain('Level 6.')
    expect(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining('6.pdf') })])
  })

  test('more than a thousand files, and more bytes than a file may unpack to, are named', async () => {
    const files = Array.from({ length: 1_001 }, (_, index) => ({ name: `${index}.pdf`, content: 'no pdf' }))
    const packed = buildPdfWithFiles('Inner.', files.slice(0, 600))
    const { warnings } = await read(
      buildPdfWithFiles('Top.', [
        { name: 'one.pdf', content: packed },
        { name: 'two.pdf', content: packed },
      ]),
    )
    expect(warnings.filter(({ message }) => message.includes('not read to its end'))).toHaveLength(998)
    const small = { ...defaultLimits('pdf', 10_000), maximumUnpackedBytes: 1_000 }
    const { texts, warnings: tooLarge } = await readBlocks(
      'pdf',
      buildPdfWithFiles('Top.', [
        { name: 'large.txt', content: 'x'.repeat(1_001) },
        ...['a', 'b'].map((letter) => ({ name: `${letter}.txt`, content: letter.repeat(600) })),
      ]),
      { readsEmbedded: true, limits: small },
    )
    expect(texts).toEqual(['Top.', 'a.txt', 'a'.repeat(600)])
    expect(tooLarge).toEqual([
      { code: 'embedded_content_skipped', message: expect.stringContaining('not read: large.txt, b.txt. ') },
    ])
  })
})
