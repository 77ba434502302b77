import { crc32, deflateSync } from 'node:zlib'
import type { EncodedImage } from '../extractors/image/image-pages.ts'
import type { GreyImage } from './engine.ts'

/** Pictures as files, for programs that read no others. */

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

/** A PNG file of 8 bits of grey: https://www.w3.org/TR/png-3/. */
export function buildPng({ width, height, pixels }: Pick<GreyImage, 'width' | 'height' | 'pixels'>): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head[8] = 8
  // As many rows as there are dots for.
  const given = pixels.length / Math.max(1, width)
  const rows = Buffer.alloc(given * (width + 1))
  for (let row = 0; row < given; row += 1)
    rows.set(pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1)
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), content])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(content.length, 0)
  ends.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)])
}

/** The picture as a file with the media type that its first bytes show. */
export function toPictureFile(image: GreyImage | EncodedImage): { bytes: Buffer; mimeType: string } {
  if ('pixels' in image) return { bytes: buildPng(image), mimeType: 'image/png' }
  const { bytes } = image
  return { bytes, mimeType: mimeTypeOf(bytes) }
}

function mimeTypeOf(bytes: Buffer): string {
  if (bytes.subarray(0, signature.length).equals(signature)) return 'image/png'
  if (bytes.toString('latin1', 8, 12) === 'WEBP') return 'image/webp'
  return bytes[0] === 0xff ? 'image/jpeg' : 'image/tiff'
}
