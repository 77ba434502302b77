import { createPdfReader } from '../extractors/pdf/document.ts'
import type { PageImage } from '../extractors/pdf/render.ts'
import { buildTextPdf, type PdfText } from './build-documents.ts'

/** Pages with these texts, drawn as pictures. */
export async function drawPages(pages: PdfText[][]): Promise<PageImage[]> {
  const reader = await createPdfReader()
  const document = reader.open(buildTextPdf(pages.map((texts) => ({ texts }))))
  const images = pages.map((_, index) => document.readPage(index, (page) => page.render()!))
  document.close()
  return images
}

type Grey = Pick<PageImage, 'width' | 'height' | 'pixels'>

/** A TIFF file with these pictures, without compression. */
export function buildTiff(images: (Grey & { orientation?: number })[]): Buffer {
  const parts: Buffer[] = [Buffer.from('II*\0\0\0\0\0', 'latin1')]
  let at = 8
  const add = (part: Buffer) => {
    parts.push(part)
    at += part.length
    return at - part.length
  }
  let nextPlace = { part: parts[0]!, offset: 4 }
  for (const { width, height, pixels, orientation = 1 } of images) {
    const strip = add(Buffer.concat([pixels, Buffer.alloc(pixels.length % 2)]))
    const entries = [
      [256, width],
      [257, height],
      [258, 8],
      [259, 1],
      [262, 1],
      [273, strip],
      [274, orientation],
      [277, 1],
      [278, height],
      [279, pixels.length],
    ] as const
    const directory = Buffer.alloc(2 + 12 * entries.length + 4)
    directory.writeUInt16LE(entries.length, 0)
    for (const [index, [tag, value]] of entries.entries()) {
      directory.writeUInt16LE(tag, 2 + 12 * index)
      directory.writeUInt16LE(4, 4 + 12 * index)
      directory.writeUInt32LE(1, 6 + 12 * index)
      directory.writeUInt32LE(value, 10 + 12 * index)
    }
    nextPlace.part.writeUInt32LE(add(directory), nextPlace.offset)
    nextPlace = { part: directory, offset: directory.length - 4 }
  }
  return Buffer.concat(parts)
}
