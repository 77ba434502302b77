import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { residentBytesOf } from '../../src/documents/ingestion/isolation/memory-shares.ts'
import {
  buildDocx,
  buildPdf,
  buildTextPdf,
  buildXlsx,
  docxParagraph,
} from '../../src/documents/ingestion/testing/build-documents.ts'
import { buildPng } from '../../src/documents/ingestion/ocr/picture-file.ts'
import { descendantsOf } from '../../test/chaos/harness/processes.ts'
import { createApiClient, expectStatus, organisationMakers, uploadForm } from '../../test/harness/portico.ts'
import { startServiceProcess } from '../service-process.ts'

const goalBytes = 1.2e9
const sampleMs = 50
const pollMs = 250

/** Uploads hostile and large files to be read at the same time, and prints how each ends and the peak of the resident memory of all processes. */
export async function printHostilePeak(): Promise<void> {
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'portico-memory-'))
  try {
    const service = await startServiceProcess({ dataFolder })
    let peakBytes = 0
    let peakParts: number[] = []
    const sample = setInterval(() => {
      const parts = [service.pid, ...descendantsOf(service.pid)].map(residentBytesOf)
      const bytes = parts.reduce((sum, part) => sum + part, 0)
      if (bytes > peakBytes) [peakBytes, peakParts] = [bytes, parts]
    }, sampleMs)
    try {
      const makers = organisationMakers(service.url, createApiClient(service.url, service.operatorToken))
      const organisation = await makers.createOrganisation()
      const space = await makers.createSpace(organisation)
      const { client } = organisation
      const ids = new Map<string, string>()
      for (const [name, content] of hostileFiles()) {
        const answer = await client('POST', `/v2/documents?spaceId=${space.id}`, uploadForm(content, name))
        ids.set(name, expectStatus(answer, 201).id as string)
      }
      for (const [name, id] of ids) {
        const read = async () => expectStatus(await client('GET', `/v2/documents/${id}`), 200)
        let document = await read()
        for (; document.status === 'processing'; document = await read()) await delay(pollMs)
        console.log(`${name.padEnd(24)}${document.status} ${document.error?.code ?? ''}`)
      }
    } finally {
      clearInterval(sample)
      await service.stop()
    }
    const megabytes = peakParts.map((bytes) => Math.round(bytes / 1e6)).join(' + ')
    console.log(`peak ${Math.round(peakBytes / 1e6)} MB (${megabytes}), goal ${goalBytes / 1e6} MB`)
  } finally {
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

function hostileFiles(): [string, string | Buffer][] {
  const page =
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>'
  const form = '<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> >>'
  const bomb = buildDocx(docxParagraph('words '.repeat(100_000)).repeat(10)).toString('base64')
  const part = `--b\nContent-Type: application/octet-stream; name=a.docx\nContent-Transfer-Encoding: base64\n\n${bomb}\n`
  const line = 'The committee met again and agreed on the plan for the harbour.'
  const texts = Array.from({ length: 60 }, (_, row) => ({ text: `${row} ${line}`, x: 50, y: 760 - row * 12 }))
  const cells = Array.from({ length: 100 }, (_, column) => `<c><v>${column * 7.25}</v></c>`).join('')
  const entities = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>'
  return [
    ['zip-bomb.docx', buildDocx(docxParagraph(' '.repeat(70_000_000)))],
    ['endless.docx', buildDocx(docxParagraph('a'.repeat(20_000_000)))],
    ['entities.docx', buildDocx('', { 'word/document.xml': entities })],
    ['bomb.xlsx', buildXlsx([{ name: 'S', rows: `<row><c><v>1</v></c>${' '.repeat(70_000_000)}</row>` }])],
    ['million-cells.xlsx', buildXlsx([{ name: 'S', rows: `<row>${cells}</row>`.repeat(10_000) }])],
    [
      'long-cells.xlsx',
      buildXlsx([{ name: 'S', rows: `<row>${'<c t="s"><v>0</v></c>'.repeat(2_000)}</row>` }], {
        shared: ['long '.repeat(6_000)],
      }),
    ],
    ['wide.csv', `${'a,'.repeat(1_000_000)}\n${'1,'.repeat(1_000_000)}\n`],
    ['spans.html', `<table>${`<tr>${'<td rowspan=9999 colspan=9999>x'.repeat(200)}`.repeat(500)}`],
    ['nested.html', '<table><tr><td>'.repeat(200_000)],
    ['bombs.eml', `Content-Type: multipart/mixed; boundary=b\n\n${part.repeat(40)}`],
    ['huge.png', buildPng({ width: 60_000, height: 60_000, pixels: new Uint8Array(0) })],
    ['blank.png', buildPng({ width: 6_000, height: 6_000, pixels: new Uint8Array(36_000_000).fill(255) })],
    [
      'recursive.pdf',
      buildPdf([
        { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
        { dictionary: '<< /Type /Pages /Count 1 /Kids [3 0 R] >>' },
        { dictionary: page },
        { dictionary: '<< >>', stream: '/X Do' },
        { dictionary: form, stream: '/X Do /X Do /X Do' },
      ]),
    ],
    ...[1, 2, 3].map((copy): [string, Buffer] => [
      `large-${copy}.pdf`,
      buildTextPdf(
        Array.from({ length: 1_000 }, (_, number) => ({
          texts: [{ text: `${copy} ${number}`, x: 50, y: 775 }, ...texts],
        })),
      ),
    ]),
    ['large.txt', `${`${line} `.repeat(6)}\n\n`.repeat(20_000)],
  ]
}
