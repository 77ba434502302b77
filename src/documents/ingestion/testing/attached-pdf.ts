import { constants, deflateSync } from 'node:zlib'
import { buildPdf, type PdfObject } from './build-documents.ts'

export interface AttachedContent {
  name: string
  content: string | Buffer
  type?: string
  /** The content as it is stored, packed by deflate. */
  packed?: Buffer
}

/** Zeros that are packed to a thousandth, without the memory of all of them. */
export function packZeros(mebibytes: number): Buffer {
  const zeros = Buffer.alloc(1024 * 1024)
  const one = deflateSync(zeros, { finishFlush: constants.Z_FULL_FLUSH })
  // Without the head of the format, a piece is independent of those before it.
  const piece = one.subarray(2)
  return Buffer.concat([one, ...Array<Buffer>(mebibytes - 1).fill(piece), Buffer.from('0300', 'hex')])
}

const font = '/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>'
const escape = (name: string) => name.replace(/[/ ]/g, (sign) => `#${sign.charCodeAt(0).toString(16)}`)

/** A pdf of one page with this text, with files that are attached to it and to the page. */
export function buildPdfWithFiles(text: string, ofDocument: AttachedContent[], ofPage: AttachedContent[] = []): Buffer {
  const all = [...ofDocument, ...ofPage]
  const first = 5
  const files = all.flatMap(({ name, content, type, packed }, index): PdfObject[] => [
    { dictionary: `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F ${first + 2 * index + 1} 0 R >> >>` },
    {
      dictionary: `<< /Type /EmbeddedFile ${type ? `/Subtype /${escape(type)}` : ''} >>`,
      stream: content,
      ...(packed && { packed }),
    },
  ])
  const specification = (index: number) => `${first + 2 * index} 0 R`
  const names = ofDocument.map((_, index) => `(${index}) ${specification(index)}`).join(' ')
  const annotations = ofPage.map(
    (_, index) =>
      `<< /Type /Annot /Subtype /FileAttachment /Rect [72 600 92 620] /FS ${specification(ofDocument.length + index)} >>`,
  )
  return buildPdf([
    { dictionary: `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [${names}] >> >> >>` },
    { dictionary: '<< /Type /Pages /Count 1 /Kids [3 0 R] >>' },
    {
      dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << ${font} >> /Annots [${annotations.join(' ')}] >>`,
    },
    { dictionary: '<< >>', stream: text === '' ? '' : `BT /F1 12 Tf 72 700 Td (${text}) Tj ET` },
    ...files,
  ])
}
