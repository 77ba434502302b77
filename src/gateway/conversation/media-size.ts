import { type JsonText, textOf } from '../../platform/bodies/index.ts'
import type { MediaSource } from './content.ts'

export interface PixelSize {
  width: number
  height: number
}

/** Bytes at the beginning that are read for the size of an image: 30 have it, and an escaped slash of base64 has two. A JPEG has its metadata first. */
const headBytes = 64
const jpegHeadBytes = 192 * 1024

/** Width and height in the header of a PNG, JPEG, GIF or WebP; null if there is none in its beginning. The rest is not decoded. */
export function pixelSizeOf(source: MediaSource): PixelSize | null {
  if (source.kind === 'url') return null
  const head = headOf(source.data, headBytes)
  const size =
    sizeOfPng(head) ??
    sizeOfGif(head) ??
    sizeOfWebp(head) ??
    (isJpeg(head) ? sizeOfJpeg(headOf(source.data, jpegHeadBytes)) : null)
  return size && size.width > 0 && size.height > 0 ? size : null
}

/** Upper bound on the decoded bytes of a source; of an address unknown. */
export function mediaBytes(source: MediaSource): number | null {
  if (source.kind === 'url') return null
  const characters = typeof source.data === 'string' ? source.data.length : source.data.maximumTextBytes
  return Math.ceil((characters * 3) / 4)
}

/** The beginning of base64 data, decoded. */
export function headOf(data: string | JsonText, bytes: number): Buffer {
  const characters = Math.ceil(bytes / 3) * 4
  const text = typeof data === 'string' ? data.slice(0, characters) : headOfLong(data, characters)
  return Buffer.from(text, 'base64')
}

function headOfLong(data: JsonText, characters: number): string {
  if (data.bytes <= characters) return textOf(data)
  let text = ''
  for (const slice of data.slices) {
    text += slice.subarray(0, characters - text.length).toString('latin1')
    if (text.length >= characters) break
  }
  // An escaped slash is the only escape in base64.
  return text.replaceAll('\\', '')
}

function sizeOfPng(head: Buffer): PixelSize | null {
  if (head.length < 24 || head.readUInt32BE(0) !== 0x89504e47 || head.toString('latin1', 12, 16) !== 'IHDR') return null
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
}

function sizeOfGif(head: Buffer): PixelSize | null {
  if (head.length < 10 || !/^GIF8[79]a$/.test(head.toString('latin1', 0, 6))) return null
  return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
}

function sizeOfWebp(head: Buffer): PixelSize | null {
  if (head.length < 30 || head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WEBP')
    return null
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = head.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    default:
      return null
  }
}

const isJpeg = (head: Buffer) => head.length >= 4 && head.readUInt16BE(0) === 0xffd8

/** The first frame header (SOF0 to SOF15 without tables and extensions); each segment names its length. */
function sizeOfJpeg(head: Buffer): PixelSize | null {
  for (let at = 2; at + 9 <= head.length;) {
    if (head[at] !== 0xff) return null
    const marker = head[at + 1]!
    if (marker === 0xff) {
      at++
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) }
    at += 2 + Math.max(2, head.readUInt16BE(at + 2))
  }
  return null
}
