import { expect, test } from 'vitest'
import { buildTiff } from '../../testing/build-images.ts'
import { buildPng } from '../../ocr/picture-file.ts'
import { readImagePages } from './image-pages.ts'

const grey = (width: number, height: number) => ({ width, height, pixels: new Uint8Array(width * height) })
const sizes = (bytes: Buffer) =>
  readImagePages(bytes).map(({ width, height, orientation }) => [width, height, orientation])

/** A JPEG up to its frame header, with Exif data of this orientation. */
function jpeg(orientation: number, order: 'II' | 'MM'): Buffer {
  const exif = buildTiff([{ ...grey(1, 1), orientation }])
  if (order === 'MM') {
    const entry = Buffer.from('0112000300000001', 'hex')
    const value = Buffer.from([0, orientation, 0, 0])
    const head = Buffer.from('4d4d002a000000080001', 'hex')
    return jpegWith(Buffer.concat([head, entry, value, Buffer.alloc(4)]))
  }
  return jpegWith(exif)
}

function jpegWith(exif: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(exif.length + 8)
  return Buffer.concat([
    Buffer.from('ffd8ffff', 'hex').subarray(0, 3),
    Buffer.from('ffe1', 'hex'),
    length,
    Buffer.from('Exif\0\0', 'latin1'),
    exif,
    Buffer.from('ffc4000401ff', 'hex'),
    Buffer.from('ffc000110800641fff03', 'hex'),
  ])
}

const webp = (hex: string) => Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from(hex, 'hex')])

const exifMark = Buffer.from('Exif\0\0', 'latin1')
const exif = (orientation: number) => buildTiff([{ ...grey(1, 1), orientation }])

/** A PNG file with this content of its chunk eXIf. */
function pngWith(content: Buffer): Buffer {
  const png = buildPng(grey(30, 20))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return Buffer.concat([png.subarray(0, 33), length, Buffer.from('eXIf'), content, Buffer.alloc(4), png.subarray(33)])
}

/** An extended WebP file with a chunk of odd length before this Exif data. */
function webpWith(content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(content.length)
  const head = webp('56503858 0a000000 08000000 8f0100 2b0100 49434350 01000000 ff00'.replaceAll(' ', ''))
  return Buffer.concat([head, Buffer.from('EXIF'), length, content])
}

test.each([
  ['a PNG file', buildPng(grey(30, 20)), [30, 20, 1]],
  ['a JPEG file', jpeg(1, 'II'), [0x1fff, 100, 1]],
  ['a JPEG file that is turned', jpeg(6, 'II'), [0x1fff, 100, 6]],
  ['a JPEG file with the other order of bytes', jpeg(8, 'MM'), [0x1fff, 100, 8]],
  ['a JPEG file with an orientation that does not exist', jpeg(77, 'II'), [0x1fff, 100, 1]],
  ['a lossy WebP file', webp('56503820 00000000 000000 9d012a 90012c01'.replaceAll(' ', '')), [400, 300, 1]],
  ['a lossless WebP file', webp('5650384c 00000000 2f 8fc14a00'.replaceAll(' ', '')), [400, 300, 1]],
  ['an extended WebP file', webp('56503858 0a000000 00000000 8f0100 2b0100'.replaceAll(' ', '')), [400, 300, 1]],
  ['a PNG file that is turned', pngWith(exif(6)), [30, 20, 6]],
  ['a PNG file with damaged Exif data', pngWith(Buffer.from('MM')), [30, 20, 1]],
  ['a WebP file that is turned', webpWith(exif(8)), [400, 300, 8]],
  ['a WebP file whose Exif data begins as in JPEG', webpWith(Buffer.concat([exifMark, exif(3)])), [400, 300, 3]],
])('finds the size of %s', (_, bytes, expected) => {
  expect(sizes(bytes)).toEqual([expected])
})

test('finds the pictures of a TIFF file, each as the first one of a file', () => {
  const file = buildTiff([grey(30, 20), { ...grey(9, 7), orientation: 6 }])
  const pages = readImagePages(file)
  expect(sizes(file)).toEqual([
    [30, 20, 1],
    [7, 9, 1],
  ])
  expect(sizes(pages[1]!.bytes)).toEqual([[7, 9, 1]])
})

test('ends at a directory of a TIFF file that leads back', () => {
  const file = buildTiff([grey(3, 2), grey(4, 2)])
  const first = file.readUInt32LE(4)
  const second = file.readUInt32LE(first + 2 + 12 * 10)
  file.writeUInt32LE(first, second + 2 + 12 * 10)
  expect(sizes(file)).toHaveLength(2)
})

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a text', Buffer.from('This is no picture at all, but a text.')],
  ['half of a head', buildPng(grey(30, 20)).subarray(0, 18)],
  ['a JPEG mark', Buffer.from('ffd8ffe0', 'hex')],
  ['a JPEG file without a frame', Buffer.from(`ffd8${'ffd0'.repeat(100)}`, 'hex')],
  ['a TIFF file whose directory is behind its end', Buffer.from('II*\0\xff\xff\xff\x7f', 'latin1')],
  ['a picture without dots', buildPng(grey(0, 20))],
])('finds no picture in %s', (_, bytes) => {
  expect(readImagePages(bytes)).toEqual([])
})
