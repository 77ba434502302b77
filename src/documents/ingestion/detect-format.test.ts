import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedDataFolder } from '../../../test/harness/shared-data.ts'
import { detectFormat, detectionHeadBytes } from './detect-format.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const zip = (...names: string[]) =>
  Buffer.concat(
    names.map((name) => {
      const header = Buffer.alloc(30)
      header.writeUInt32LE(0x04034b50, 0)
      header.writeUInt16LE(name.length, 26)
      return Buffer.concat([header, bytes(name)])
    }),
  )

describe('accepted files', () => {
  test.each([
    ['report.pdf', bytes('%PDF-1.7\n'), 'pdf', 'application/pdf'],
    ['REPORT.PDF', bytes('junk before\n%PDF-1.4'), 'pdf', 'application/pdf'],
    ['letter.docx', zip('[Content_Types].xml', 'word/document.xml'), 'docx', /wordprocessingml/],
    ['letter.docx', zip('_rels/.rels'), 'docx', /wordprocessingml/],
    ['notes.txt', bytes('Plain words.'), 'txt', 'text/plain'],
    ['old.txt', Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65]), 'txt', 'text/plain'],
    ['wide.txt', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Wörter', 'utf16le')]), 'txt', 'text/plain'],
    ['wide.csv', Buffer.from('a,b\nc,d\n', 'utf16le'), 'csv', 'text/csv'],
    ['tables.csv', bytes('ID3,name\n1,x\n'), 'csv', 'text/csv'],
    ['README.md', bytes('# Title'), 'md', 'text/markdown'],
  ])('%s', (fileName, head, format, mimeType) => {
    expect(detectFormat({ fileName, head })).toEqual({
      supported: true,
      format,
      mimeType: mimeType instanceof RegExp ? expect.stringMatching(mimeType) : mimeType,
    })
  })

  test('broken, encrypted and empty files with the right name are accepted, so that the document shows their failure', () => {
    for (const [fileName, head] of [
      ['damaged.pdf', bytes('this is no pdf')],
      ['damaged.docx', bytes('this is no docx')],
      ['encrypted.docx', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
      ['empty.pdf', bytes('')],
      ['empty.txt', bytes('')],
    ] as const)
      expect(detectFormat({ fileName, head }).supported, fileName).toBe(true)
  })

  test('a name without extension is detected by content, and by the declared type where the content is text', () => {
    expect(detectFormat({ fileName: 'report', head: bytes('%PDF-1.7') })).toMatchObject({ format: 'pdf' })
    const head = bytes('a,b')
    expect(detectFormat({ fileName: 'data', head, declaredType: 'text/csv; charset=utf-8' })).toMatchObject({
      format: 'csv',
    })
    expect(detectFormat({ fileName: 'data', head }).supported).toBe(false)
    expect(detectFormat({ fileName: 'data', head: png, declaredType: 'text/plain' }).supported).toBe(false)
  })
})

describe('rejected files', () => {
  test.each([
    ['image.pdf', png, /PNG image/],
    ['image.txt', png, /PNG image/],
    ['photos.docx', zip('IMG_0001.jpg'), /without a Word document/],
    ['sheet.docx', zip('[Content_Types].xml', 'xl/workbook.xml'), /Excel/],
    ['open.docx', zip('mimetype'), /OpenDocument/],
    ['report.docx', bytes('%PDF-1.7'), /a pdf/],
    ['report.txt', bytes('%PDF-1.7\n'), /a pdf/],
    ['letter.md', zip('word/document.xml'), /zip archive/],
    ['blob.txt', Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 37) % 256)), /binary data/],
    [
      'song.csv',
      Buffer.concat([bytes('ID3'), Buffer.from(Array.from({ length: 500 }, (_, index) => index % 9))]),
      /audio/,
    ],
    ['program.exe', bytes('MZ'), /\.exe file is not supported/],
    ['page.html', bytes('<html>'), /\.html file is not supported/],
  ])('%s', (fileName, head, reason) => {
    expect(detectFormat({ fileName, head })).toEqual({ supported: false, reason: expect.stringMatching(reason) })
  })

  test('pictures belong to version 2, and their content may be of another type of picture', () => {
    expect(detectFormat({ fileName: 'scan.PNG', head: png })).toMatchObject({ supported: false })
    expect(detectFormat({ fileName: 'scan.jpeg', head: png }, 2)).toEqual({
      supported: true,
      format: 'image',
      mimeType: 'image/jpeg',
    })
    expect(detectFormat({ fileName: 'scan.png', head: bytes('%PDF-1.7') }, 2)).toMatchObject({ supported: false })
  })

  test('the declared type changes nothing about a name with an extension', () => {
    expect(detectFormat({ fileName: 'image.png', head: png, declaredType: 'application/pdf' }).supported).toBe(false)
    expect(detectFormat({ fileName: 'notes.txt', head: bytes('words'), declaredType: 'image/png' }).supported).toBe(
      true,
    )
  })
})

const folder = sharedDataFolder('docs')
describe.skipIf(!folder)(`the shared documents${folder ? '' : ' (folder is missing)'}`, () => {
  test('each is detected as its format', async () => {
    const { files } = JSON.parse(await readFile(path.join(folder!, 'index.json'), 'utf8')) as {
      files: { file: string; format: string }[]
    }
    for (const { file, format } of files) {
      const head = (await readFile(path.join(folder!, file))).subarray(0, detectionHeadBytes)
      expect(detectFormat({ fileName: path.basename(file), head }), file).toMatchObject({ supported: true, format })
    }
  })
})
