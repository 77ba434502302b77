import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildDocx, buildPdf, docxParagraph } from '../../src/documents/ingestion/testing/build-documents.ts'
import { testServerUrl } from '../harness/database.ts'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import {
  expectStatus,
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
  uploadForm,
} from '../harness/portico.ts'

/** No text of an uploaded document blocks other requests: `/livez` answers within 100 ms all the time. */

let portico: SeparatePortico
let organisation: TestOrganisation

beforeAll(async () => {
  portico = await startSeparatePortico()
  organisation = await portico.createOrganisation()
})
afterAll(() => portico?.stop())

/** Longest time that a document is observed; by then it has long been in its slowest stage. */
const watchMs = 12_000

/** A little less than the default of `documents.maximumUploadBytes`, for the frame of each format. */
const largestBytes = 100 * 1024 * 1024 - 100_000

const documents: [string, string, () => string | Uint8Array][] = [
  ['a table of 50,000 columns', 'wide.csv', () => wideCsv(50_000, 6)],
  ['a wide header over many short rows', 'ragged.csv', () => `${wideCsv(50_000, 0)}\n${'a\n'.repeat(50_000)}`],
  [
    '300,000 rows',
    'rows.csv',
    () => `id,name\n${Array.from({ length: 300_000 }, (_, n) => `${n},name ${n}`).join('\n')}`,
  ],
  ['one line of 20 MB', 'line.txt', () => 'word after word without an end '.repeat(700_000)],
  ['one word of 5 MB', 'word.txt', () => 'aGVsbG8gd29ybGQ'.repeat(350_000)],
  ['blanks', 'blanks.md', () => `a${' '.repeat(5_000_000)}b`],
  ['emoji', 'emoji.txt', () => '😀'.repeat(700_000)],
  [
    'nested Markdown',
    'nested.md',
    () => Array.from({ length: 20_000 }, (_, n) => `${'  '.repeat(n % 90)}- item ${n}`).join('\n'),
  ],
  [
    '200,000 runs of a letter',
    'runs.docx',
    () => buildDocx(`<w:p>${'<w:r><w:t>a </w:t></w:r>'.repeat(200_000)}</w:p>`),
  ],
  ['a text as large as an upload may be', 'largest.txt', () => largest('A plain sentence of a long text.\n')],
  [
    'a Markdown file as large as an upload may be',
    'largest.md',
    () => largest('# Heading\n\n- [item](https://a.example)\n'),
  ],
  ['a table as large as an upload may be', 'largest.csv', () => `id,name\n${largest('1,"a name, quoted"\n')}`],
  ['a docx as large as an upload may be', 'largest.docx', () => largestDocx()],
  ['a pdf as large as an upload may be', 'largest.pdf', () => largestPdf()],
]

/**
 * Only the rows that a document becomes reach the database, and only they are sent differently. On PostgreSQL the documents that become most
 * rows are enough.
 */
const mostRows = ['rows.csv', 'largest.txt', 'largest.csv']
const tried = testServerUrl() === undefined ? documents : documents.filter(([_what, name]) => mostRows.includes(name))

describe('the event loop stays free while a document is processed', () => {
  it.each(tried)('%s', { timeout: 120_000 }, async (_what, name, make) => {
    const space = await portico.createSpace(organisation)
    const content = make()
    await expectResponsive(portico, async () => {
      const { id } = expectStatus(
        await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, uploadForm(content, name)),
        201,
      )
      let wasRead = false
      const deadline = Date.now() + watchMs
      while (Date.now() < deadline) {
        const { status, error } = expectStatus(await organisation.client('GET', `/v1/documents/${id}`), 200)
        if (status === 'failed') expect(error.code).not.toBe('internal_error')
        const progress = expectStatus(await portico.operator('GET', `/api/spaces/${space.id}/documents`), 200)
        wasRead ||= progress.items[0].stage !== 'queued'
        if (status !== 'processing') break
        await wait(100)
      }
      expect(wasRead).toBe(true)
      expectStatus(await organisation.client('DELETE', `/v1/documents/${id}`), 204)
    })
  })
})

function wideCsv(columns: number, rows: number): string {
  const header = Array.from({ length: columns }, (_, n) => `column ${n}`).join(',')
  const row = Array.from({ length: columns }, (_, n) => `value ${n}`).join(',')
  return [header, ...Array.from({ length: rows }, () => row)].join('\n')
}

/** Repeats the line until the text is as large as an upload may be. */
function largest(line: string): string {
  return line.repeat(Math.floor(largestBytes / line.length))
}

/** A picture that no compression makes smaller, and a sentence. */
function largestDocx(): Buffer {
  return buildDocx(docxParagraph('A sentence next to a picture.'), {
    'word/media/picture.png': randomBytes(largestBytes),
  })
}

function largestPdf(): Buffer {
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: '<< /Type /Pages /Kids [4 0 R] /Count 1 >>' },
    { dictionary: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>' },
    {
      dictionary:
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /I1 6 0 R >> >> >>',
    },
    { dictionary: '<< >>', stream: 'BT /F1 10 Tf 72 700 Td (A sentence next to a picture.) Tj ET /I1 Do' },
    {
      dictionary: `<< /Type /XObject /Subtype /Image /Width ${largestBytes / 10} /Height 10 /BitsPerComponent 8 /ColorSpace /DeviceGray >>`,
      stream: randomBytes(largestBytes),
    },
  ])
}
