/** A picture file that the recognition engine decodes, or one picture of it. */
export interface EncodedImage {
  /** A whole file, of which the engine reads the first picture. */
  bytes: Buffer
  /** In dots, before it is turned. */
  width: number
  height: number
  /** How it is turned to be shown: 1 to 8, as in Exif. */
  orientation: number
}

/** Most pictures of a TIFF file that are looked at. */
const maximumPictures = 1_000

/** The pictures of a PNG, JPEG, WebP or TIFF file; only TIFF has several. None: it is damaged, or of another format. */
export function readImagePages(bytes: Buffer): EncodedImage[] {
  try {
    const pages = tiffPages(bytes) ?? singlePage(bytes)
    return pages.filter(({ width, height }) => width > 0 && height > 0)
  } catch (error) {
    // A file that ends within its head.
    if (error instanceof RangeError) return []
    throw error
  }
}

function singlePage(bytes: Buffer): EncodedImage[] {
  const size = pngSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes)
  return size ? [{ bytes, orientation: 1, ...size }] : []
}

interface ImageSize {
  width: number
  height: number
  orientation?: number
}

/** The first chunk has the size: https://www.w3.org/TR/png-3/#11IHDR. */
function pngSize(bytes: Buffer): ImageSize | null {
  if (bytes.toString('latin1', 1, 4) !== 'PNG') return null
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  // A chunk has its length, its name, its content and a checksum.
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'eXIf')
      return { ...size, orientation: exifOrientation(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at))) }
  }
  return size
}

/** Three kinds of the first chunk: https://developers.google.com/speed/webp/docs/riff_container, RFC 6386 section 9.1. */
function webpSize(bytes: Buffer): ImageSize | null {
  if (bytes.toString('latin1', 8, 12) !== 'WEBP') return null
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8X')
    return {
      width: bytes.readUIntLE(24, 3) + 1,
      height: bytes.readUIntLE(27, 3) + 1,
      orientation: webpOrientation(bytes),
    }
  if (kind === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (kind !== 'VP8L') return null
  const packed = bytes.readUInt32LE(21)
  return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
}

/** From the chunk with the Exif data, which some programs begin as in a JPEG file. */
function webpOrientation(bytes: Buffer): number {
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32LE(at + 4)
    if (bytes.toString('latin1', at, at + 4) === 'EXIF') {
      const content = bytes.subarray(at + 8, at + 8 + length)
      return exifOrientation(content.toString('latin1', 0, 4) === 'Exif' ? content.subarray(6) : content)
    }
    // Chunks have an even length.
    at += 8 + length + (length % 2)
  }
  return 1
}

/** Walks the segments up to the frame header: ITU-T T.81, annex B. */
function jpegSize(bytes: Buffer): ImageSize | null {
  if (bytes.readUInt16BE(0) !== 0xffd8) return null
  let orientation = 1
  for (let at = 2; ;) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes.readUInt8(at + 1)
    // Fill bytes, and markers without content.
    if (marker === 0xff) at += 1
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else {
      const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
      if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7), orientation }
      const end = at + 2 + bytes.readUInt16BE(at + 2)
      if (marker === 0xe1 && bytes.toString('latin1', at + 4, at + 8) === 'Exif')
        orientation = exifOrientation(bytes.subarray(at + 10, end))
      at = end
    }
  }
}

/** Exif data is a TIFF file; a damaged one counts as absent. */
function exifOrientation(exif: Buffer): number {
  try {
    const tiff = openTiff(exif)
    return (tiff && readDirectory(tiff, tiff.first).orientation) ?? 1
  } catch {
    return 1
  }
}

interface Tiff {
  bytes: Buffer
  isLittle: boolean
  /** The first directory. */
  first: number
}

function openTiff(bytes: Buffer): Tiff | null {
  const mark = bytes.toString('latin1', 0, 4)
  if (mark !== 'II*\0' && mark !== 'MM\0*') return null
  const isLittle = mark.startsWith('I')
  return { bytes, isLittle, first: isLittle ? bytes.readUInt32LE(4) : bytes.readUInt32BE(4) }
}

/** Tags of TIFF 6.0, section 8. */
const tags = { width: 256, height: 257, orientation: 274 } as const

function readDirectory({ bytes, isLittle }: Tiff, at: number) {
  const short = (offset: number) => (isLittle ? bytes.readUInt16LE(offset) : bytes.readUInt16BE(offset))
  const long = (offset: number) => (isLittle ? bytes.readUInt32LE(offset) : bytes.readUInt32BE(offset))
  const count = short(at)
  const valueOf = (tag: number): number | undefined => {
    for (let entry = at + 2; entry < at + 2 + 12 * count; entry += 12) {
      if (short(entry) === tag) return short(entry + 2) === 3 ? short(entry + 8) : long(entry + 8)
    }
    return undefined
  }
  const orientation = valueOf(tags.orientation) ?? 1
  return {
    width: valueOf(tags.width) ?? 0,
    height: valueOf(tags.height) ?? 0,
    orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
    next: long(at + 2 + 12 * count),
    nextAt: at + 2 + 12 * count,
  }
}

/** Each picture as a file whose head leads to its directory. */
function tiffPages(bytes: Buffer): EncodedImage[] | null {
  const tiff = openTiff(bytes)
  if (!tiff) return null
  const pages: EncodedImage[] = []
  const seen = new Set<number>()
  for (let at = tiff.first; at !== 0 && !seen.has(at) && pages.length < maximumPictures;) {
    seen.add(at)
    const { next, nextAt, width, height, orientation } = readDirectory(tiff, at)
    const directory = at
    const isOnItsSide = orientation > 4
    pages.push({
      width: isOnItsSide ? height : width,
      height: isOnItsSide ? width : height,
      // The decoder turns the pictures of TIFF files, but not those of JPEG files.
      orientation: 1,
      // A copy for each picture when it is read, not before.
      get bytes() {
        const own = Buffer.from(bytes)
        if (tiff.isLittle) own.writeUInt32LE(directory, 4)
        else own.writeUInt32BE(directory, 4)
        // The last picture: programs that read all of a file read only this one.
        own.writeUInt32LE(0, nextAt)
        return own
      },
    })
    at = next
  }
  return pages
}
