import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { DocumentFormat } from '../extraction.ts'
import { buildPdfWithFiles, packZeros } from '../testing/attached-pdf.ts'
import { buildDocx, buildPdf, buildTextPdf, buildZip, docxParagraph } from '../testing/build-documents.ts'
import { type ExtractorStage, lines, openExtractorStage } from '../testing/extractor-stage.ts'

let stage: ExtractorStage
beforeAll(async () => {
  stage = await openExtractorStage()
})
afterEach(() => stage.endTest())
afterAll(() => stage.remove())

describe('hostile files end with a code and affect nothing else', () => {
  const page =
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>'
  const catalogue = { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' }
  const onePage = { dictionary: '<< /Type /Pages /Count 1 /Kids [3 0 R] >>' }
  const form = (content: string) => ({
    dictionary: '<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> >>',
    stream: content,
  })
  const entities =
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;"> <!ENTITY c SYSTEM "file:///etc/passwd">]><x>&b;&c;</x>'
  const looping = () => {
    const text = buildTextPdf([{ texts: [{ text: 'Read me', x: 50, y: 700 }] }]).toString('latin1')
    return Buffer.from(text.replace('/Root 1 0 R', `/Root 1 0 R /Prev ${text.lastIndexOf('xref\n0')}`), 'latin1')
  }
  const failures: [string, DocumentFormat, string, () => string | Buffer][] = [
    ['a zip bomb', 'docx', 'too_large_when_unpacked', () => buildDocx(docxParagraph(' '.repeat(70_000_000)))],
    [
      'a zip that lies about its size',
      'docx',
      'corrupt_file',
      () => buildZip([{ name: 'word/document.xml', content: ' '.repeat(10_000_000), claimedSize: 100 }]),
    ],
    [
      'one endless paragraph',
      'docx',
      'too_large_when_unpacked',
      () => buildDocx(docxParagraph('a'.repeat(20_000_000))),
    ],
    [
      'entity bombs and external entities',
      'docx',
      'unsupported_content',
      () => buildDocx('', { 'word/document.xml': entities }),
    ],
    ['deep nesting', 'docx', 'too_complex', () => buildDocx('<w:sdt>'.repeat(100_000))],
    [
      'an encrypted zip entry',
      'docx',
      'encrypted_docx',
      () => buildZip([{ name: 'word/document.xml', content: 'x', flags: 1 }]),
    ],
    ['a zip that is no docx', 'docx', 'unsupported_content', () => buildZip([{ name: 'hello.txt', content: 'x' }])],
    [
      'an old .doc under a new name',
      'docx',
      'unsupported_content',
      () => Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(2000)]),
    ],
    [
      '200,000 pages',
      'pdf',
      'too_many_pages',
      () =>
        buildPdf([
          catalogue,
          { dictionary: `<< /Type /Pages /Count 200000 /Kids [${'3 0 R '.repeat(200)}] >>` },
          { dictionary: `<< /Type /Pages /Parent 2 0 R /Count 1000 /Kids [${'4 0 R '.repeat(1000)}] >>` },
          { dictionary: '<< /Type /Page /Parent 3 0 R /MediaBox [0 0 9 9] >>' },
        ]),
    ],
    [
      'a page tree that contains itself',
      'pdf',
      'corrupt_file',
      () => buildPdf([catalogue, { dictionary: '<< /Type /Pages /Count 5 /Kids [2 0 R 2 0 R] >>' }]),
    ],
    [
      'a form that draws itself',
      'pdf',
      'out_of_memory',
      () =>
        buildPdf([
          catalogue,
          onePage,
          { dictionary: page },
          { dictionary: '<< >>', stream: '/X Do' },
          form('/X Do /X Do /X Do'),
        ]),
    ],
    [
      'a megabyte of nested arrays',
      'pdf',
      'no_text',
      () =>
        buildPdf([
          { dictionary: `<< /Type /Catalog /Pages 2 0 R /X ${'['.repeat(500_000)}${']'.repeat(500_000)} >>` },
          onePage,
          { dictionary: page },
        ]),
    ],
    ['masses of white space', 'txt', 'no_text', () => ' '.repeat(10_000_000)],
    ['masses of NULs', 'txt', 'no_text', () => Buffer.alloc(3_000_000)],
    [
      'a quotation that never ends',
      'csv',
      'corrupt_file',
      () => `${'a,b\n1,2\n'.repeat(10_000)}"${'x\n'.repeat(1_000_000)}`,
    ],
    ['an empty file', 'md', 'empty_file', () => ''],
  ]

  test('each hostile file', async () => {
    stage.startPool({ memoryLimitBytes: 400 * 1024 * 1024, timeLimitMs: 20_000 }, 2)
    const innocent = stage.read('innocent.txt', lines(20_000))
    for (const [name, format, code, build] of failures) {
      const failure = await stage.read(`hostile.${format}`, build()).then(
        () => null,
        (error: unknown) => error as Error & { code: string },
      )
      expect({ name, code: failure?.code }).toEqual({ name, code })
      expect(failure!.message).toMatch(/^[A-Z].*\.$/)
      expect(failure!.message).not.toContain(stage.folder)
    }
    expect((await innocent).chunks).toHaveLength(20_000)
  }, 60_000)

  test('reads a pdf with attached files of gigabytes, and names them', async () => {
    const pool = stage.startPool()
    const bombs = ['one.txt', 'two.txt'].map((name) => ({ name, content: '', packed: packZeros(1_000) }))
    const file = buildPdfWithFiles('The text.', [...bombs, { name: 'note.txt', content: 'A note.' }])
    const { chunks, summary } = pool.extract({ ...(await stage.put('bombs.pdf', file)), readsEmbedded: true })
    const texts = (await Array.fromAsync(chunks)).flat().map(({ text }) => text)
    expect(texts.join('\n')).toContain('A note.')
    expect((await summary).warnings).toEqual([
      { code: 'embedded_content_skipped', message: expect.stringContaining('not read: one.txt, two.txt. ') },
    ])
  }, 60_000)

  test('reads a file that only looks hostile', async () => {
    stage.startPool({ memoryLimitBytes: 400 * 1024 * 1024, timeLimitMs: 20_000 })
    expect((await stage.read('xref-loop.pdf', looping())).text).toBe('Read me')
    expect((await stage.read('formula.csv', 'name,value\nx,=SUM(A1)\ny,@cmd\n')).text).toBe(
      'name | value\nx | =SUM(A1)\ny | @cmd',
    )
    expect((await stage.read('one-line.md', 'word '.repeat(200_000))).text.length).toBeGreaterThan(990_000)
    expect((await stage.read('brackets.md', `${'['.repeat(100_000)}a`)).chunks.length).toBeGreaterThan(0)
    const picture = `# Picture\n\n![chart](data:image/png;base64,${'QUJD'.repeat(200_000)})\n\nText below.`
    expect((await stage.read('picture.md', picture)).text.replaceAll('\n', '')).toBe(
      'Picture![chart](data:image/png;base64,)Text below.',
    )
  }, 30_000)
})
