import { describe, expect, it } from 'vitest'
import { type JsonText, LongTexts } from '../../platform/bodies/index.ts'
import { requestLimits } from './limits.ts'
import { readAudioData, readFileData, readImageUrl } from './media.ts'

const path = ['messages', 0, 'content', 1, 'image_url', 'url']
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(400, 7)]).toString('base64')
const pdf = Buffer.from('%PDF-1.7 and more than that').toString('base64')
const wav = Buffer.from('RIFF....WAVEfmt and more').toString('base64')

/** A text as it is in a long body, cut into pieces of this size. */
function longText(text: string, bytes: number): JsonText {
  const texts = new LongTexts()
  const body = Buffer.from(JSON.stringify([text]).replaceAll('/', '\\/'))
  for (let at = 0; at < body.length; at += bytes) texts.push(body.subarray(at, at + bytes))
  return (texts.finish() as JsonText[])[0]!
}

describe('images', () => {
  it('takes data URLs whose type is that of their bytes', () => {
    expect(readImageUrl(`data:image/png;base64,${png}`, path)).toEqual({
      kind: 'base64',
      mediaType: 'image/png',
      data: png,
    })
    expect(readImageUrl(`DATA:IMAGE/PNG;charset=x;base64,${png}`, path)).toMatchObject({ mediaType: 'image/png' })
  })

  it.each([1, 3, 7, 64, 10_000])('takes data URLs of long bodies, which arrive in pieces of %i bytes', (bytes) => {
    const source = readImageUrl(longText(`data:image/png;base64,${png}`, bytes), path)
    expect(source).toMatchObject({ kind: 'base64', mediaType: 'image/png' })
    const { data } = source as { data: JsonText }
    expect(data.toString()).toBe(png)
    expect(data.maximumTextBytes).toBe(png.length)
  })

  it('takes addresses of the web', () => {
    expect(readImageUrl('https://example.org/a.png', path)).toEqual({
      kind: 'url',
      url: 'https://example.org/a.png',
      field: 'messages[0].content[1].image_url.url',
    })
  })

  it.each([
    ['a lie about the type', `data:image/jpeg;base64,${png}`, /`image\/jpeg`, but its content is `image\/png`/],
    ['a document', `data:image/png;base64,${pdf}`, /content is `application\/pdf`/],
    ['text', `data:image/png;base64,${Buffer.from('hello').toString('base64')}`, /content is something else/],
    ['another type', `data:image/bmp;base64,${png}`, /images must be/],
    ['a data URL without base64', 'data:image/png,abc', /data:TYPE;base64,DATA/],
    ['a data URL without an end of its head', `data:${'x'.repeat(5_000)}`, /data:TYPE;base64,DATA/],
    ['no base64', `data:image/png;base64,${png.slice(0, 40)}***`, /valid base64/],
    ['no data', 'data:image/png;base64,', /no data/],
    ['too many data', `data:image/png;base64,${'A'.repeat(30 * 1024 * 1024)}`, /at most 20971520 bytes/],
    ['a file', 'file:///etc/passwd', /https or http/],
    ['words', 'not an address', /https or http/],
    ['a password', 'https://user:secret@example.org/', /no password/],
    ['a long address', `https://example.org/${'a'.repeat(requestLimits.urlCharacters)}`, /at most 8192 characters/],
  ])('refuses %s and names the field', (_name, url, message) => {
    expect(() => readImageUrl(url, path)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: 'messages[0].content[1].image_url.url',
        message: expect.stringMatching(message) as string,
      }) as Error,
    )
  })

  it('never repeats the data or a secret of an address in its message', () => {
    expect(() => readImageUrl('https://user:hunter2@example.org/', path)).toThrow(/^(?!.*hunter2)/)
  })
})

describe('audio and files', () => {
  it('takes audio whose format is that of its bytes', () => {
    expect(readAudioData('wav', wav, path)).toMatchObject({ mediaType: 'audio/wav' })
    expect(() => readAudioData('mp3', wav, path)).toThrow(/`audio\/mpeg`, but its content is `audio\/wav`/)
    expect(() => readAudioData('flac', wav, path)).toThrow(/"wav" or "mp3"/)
  })

  it('takes files as data URLs, and as base64 alone with the type of their bytes', () => {
    expect(readFileData(`data:application/pdf;base64,${pdf}`, path)).toMatchObject({ mediaType: 'application/pdf' })
    expect(readFileData(pdf, path)).toMatchObject({ mediaType: 'application/pdf' })
    expect(readFileData(`data:text/csv;base64,${Buffer.from('a,b').toString('base64')}`, path)).toMatchObject({
      mediaType: 'text/csv',
    })
    expect(() => readFileData(`data:application/pdf;base64,${png}`, path)).toThrow(/content is `image\/png`/)
  })
})

it.each(['__proto__', 'constructor', 'toString'])(
  'refuses the type %s, the name of a member of every object',
  (type) => {
    const refused = { code: 'invalid_request', param: 'messages[0].content[1].image_url.url' }
    expect(() => readImageUrl(`data:${type};base64,${png}`, path)).toThrow(expect.objectContaining(refused))
    expect(() => readAudioData(type, wav, path)).toThrow(expect.objectContaining(refused))
  },
)
