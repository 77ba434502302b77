import { describe, expect, test } from 'vitest'
import { JsonText } from '../../platform/bodies/index.ts'
import { pixelSizeOf } from '../conversation/index.ts'
import type { MediaPart } from './port.ts'
import { estimateMedia } from './index.ts'

const png = (width: number, height: number) => {
  const head = Buffer.alloc(24)
  head.writeUInt32BE(0x89504e47)
  head.write('IHDR', 12)
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  return head
}
const jpeg = (width: number, height: number) => {
  const frame = Buffer.from([0xff, 0xc0, 0, 17, 8, 0, 0, 0, 0, 3])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  const metadata = Buffer.alloc(40_000)
  metadata.writeUInt16BE(0xffe1)
  metadata.writeUInt16BE(metadata.length - 2, 2)
  return Buffer.concat([Buffer.from([0xff, 0xd8]), metadata, frame, Buffer.alloc(20)])
}
const gif = (width: number, height: number) => {
  const head = Buffer.from('GIF89a....')
  head.writeUInt16LE(width, 6)
  head.writeUInt16LE(height, 8)
  return head
}
const webp = (width: number, height: number) => {
  const head = Buffer.alloc(30)
  head.write('RIFF')
  head.write('WEBPVP8X', 8)
  head.writeUIntLE(width - 1, 24, 3)
  head.writeUIntLE(height - 1, 27, 3)
  return head
}
const image = (bytes: Buffer): MediaPart & { type: 'image' } => ({
  type: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data: bytes.toString('base64') },
})

describe('the size of an image', () => {
  test.each([
    ['PNG', png],
    ['JPEG', jpeg],
    ['GIF', gif],
    ['WebP', webp],
  ])('is read from the header of a %s, as text or as bytes of JSON', (_, make) => {
    const { source } = image(make(640, 480))
    expect(pixelSizeOf(source)).toEqual({ width: 640, height: 480 })
    const data = JsonText.of(make(640, 480).toString('base64'))
    expect(pixelSizeOf({ kind: 'base64', mediaType: 'image/png', data })).toEqual({ width: 640, height: 480 })
  })

  test.each(['', '!!!', 'iVBORw0KGgo=', Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0xff, 0xff]).toString('base64')])(
    'is unknown for %j',
    (data) => expect(pixelSizeOf({ kind: 'base64', mediaType: 'image/png', data })).toBeNull(),
  )

  test('is looked for in the beginning only', () => {
    const endless = Buffer.alloc(2_000_000, 0xff)
    endless[1] = 0xd8
    expect(pixelSizeOf(image(endless).source)).toBeNull()
  })
})

describe('the tokens of media', () => {
  const boundOf = (model: string, ...parts: MediaPart[]) =>
    estimateMedia([{ role: 'user', content: parts }], { baseModel: model }, 100_000).bound

  test.each([
    // 768 × 1536 after scaling: 2 × 3 tiles of 512.
    ['gpt-4o', image(png(2_048, 4_096)), 85 + 170 * 6],
    ['gpt-4o-mini', image(png(512, 512)), 2_833 + 5_667],
    ['gpt-4.1-mini', image(png(1_024, 1_024)), Math.ceil(2.46 * 1_024)],
    ['claude-sonnet-4-5', image(png(1_092, 1_092)), Math.ceil((1_092 * 1_092) / 750) + 8],
    ['openai/gpt-4o', { type: 'image', source: { kind: 'url', url: 'https://example.org/a.png' } }, 85 + 170 * 8],
    ['unknown', { type: 'image', source: { kind: 'url', url: 'https://example.org/a.png' } }, 16_384],
    ['unknown', { type: 'file', source: { kind: 'url', url: 'https://example.org/a.pdf' } }, 100_000],
  ] satisfies [string, MediaPart, number][])('of %s are bounded by the rule of the provider', (model, part, tokens) => {
    expect(boundOf(model, part)).toBe(tokens)
  })

  test('of audio follow its length', () => {
    const wav = Buffer.alloc(44 + 320_000)
    wav.write('RIFF')
    wav.write('WAVEfmt ', 8)
    wav.writeUInt32LE(32_000, 28)
    const source = { kind: 'base64' as const, mediaType: 'audio/wav', data: wav.toString('base64') }
    expect(boundOf('gemini-2.5-flash', { type: 'audio', source })).toBeLessThan(12 * 32)
    expect(boundOf('gemini-2.5-flash', { type: 'audio', source })).toBeGreaterThanOrEqual(10 * 32)
  })

  test('never exceed the context', () => {
    const unknown: MediaPart = { type: 'image', source: { kind: 'url', url: 'https://example.org/a.png' } }
    expect(boundOf('unknown', ...Array.from({ length: 100 }, () => unknown))).toBe(100_000)
  })
})
