import { readImagePages } from './image-pages.ts'

/** Bytes of a picture that is a sign or a logo, where its size is not known. */
const minimumBytes = 20 * 1024
/** Metafiles have their size in lengths; a screen has so many dots for an inch. */
const screenDotsPerInch = 96

interface Size {
  width: number
  height: number
}

/**
 * False for pictures of fewer dots, whose shorter side has fewer, and for those of unknown size with few bytes: signs and logos. `bytes` may be
 * the first part of a file with `length` bytes.
 */
export function isLargePicture(
  bytes: Buffer,
  { dots, side = 1, length = bytes.length }: { dots: number; side?: number; length?: number },
): boolean {
  const [size] = [...readImagePages(bytes), ...unreadableSize(bytes)]
  if (!size) return length >= minimumBytes
  return size.width * size.height >= dots && Math.min(size.width, size.height) >= side
}

/** The size in dots of a picture of a type that text recognition does not read; none where it is of another type, or damaged. */
function unreadableSize(bytes: Buffer): Size[] {
  try {
    const size = gifSize(bytes) ?? bmpSize(bytes) ?? emfSize(bytes) ?? wmfSize(bytes)
    return size && size.width > 0 && size.height > 0 ? [size] : []
  } catch (error) {
    // A file that ends within its head.
    if (error instanceof RangeError) return []
    throw error
  }
}

/** https://www.w3.org/Graphics/GIF/spec-gif89a.txt, section 18. */
function gifSize(bytes: Buffer): Size | null {
  if (!bytes.toString('latin1', 0, 6).startsWith('GIF8')) return null
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

/** The headers of [MS-WMF] 2.2.2; a negative height means rows from the top. The oldest header has 12 bytes and short numbers. */
function bmpSize(bytes: Buffer): Size | null {
  if (bytes.toString('latin1', 0, 2) !== 'BM') return null
  if (bytes.readUInt32LE(14) === 12) return { width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) }
  return { width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) }
}

/** The frame of [MS-EMF] 2.2.9, in hundredths of a millimetre. */
function emfSize(bytes: Buffer): Size | null {
  if (bytes.toString('latin1', 40, 44) !== ' EMF') return null
  const dots = (from: number, to: number) =>
    ((bytes.readInt32LE(to) - bytes.readInt32LE(from)) / 2540) * screenDotsPerInch
  return { width: dots(24, 32), height: dots(28, 36) }
}

/** The placeable header of [MS-WMF] 2.3.2.3, which Office writes: a box, and how many of its units an inch has. */
function wmfSize(bytes: Buffer): Size | null {
  if (bytes.length < 4 || bytes.readUInt32LE(0) !== 0x9ac6cdd7) return null
  const dots = (from: number, to: number) =>
    (Math.abs(bytes.readInt16LE(to) - bytes.readInt16LE(from)) / bytes.readUInt16LE(14)) * screenDotsPerInch
  return { width: dots(6, 10), height: dots(8, 12) }
}
