import { JsonText } from '../../platform/bodies/index.ts'
import { lookUp } from '../../platform/kernel/index.ts'
import type { MediaSource, PromptText } from '../providers/index.ts'
import { type FieldPath, fieldName, invalid, isOutsideInternet, requestLimits } from './limits.ts'

/** Kinds of media that a request may have, with the types that some provider takes. */
const acceptedTypes = {
  image: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  audio: ['audio/wav', 'audio/mpeg'],
} as const

/** Names of the same type. */
const synonyms: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'application/x-pdf': 'application/pdf',
}

/** Longest beginning of a data URL, up to its comma. */
const maximumHeadCharacters = 200
/** Base64 characters that are decoded to find out the type. */
const sniffedCharacters = 64

/** An image by address or as a data URL. Throws `invalid_request` with the field. */
export function readImageUrl(url: PromptText, path: FieldPath): MediaSource {
  if (isDataUrl(url)) {
    const { mediaType, data } = splitDataUrl(url, path)
    return readImageData(mediaType, data, path)
  }
  return readWebAddress(url, path)
}

/** An image as base64 with its type. */
export function readImageData(mediaType: string, data: PromptText, path: FieldPath): MediaSource {
  const type = normalise(mediaType)
  if (!(acceptedTypes.image as readonly string[]).includes(type)) {
    throw invalid(path, `has the type \`${type.slice(0, 60)}\`; images must be ${acceptedTypes.image.join(', ')}`)
  }
  return readBase64(type, data, path)
}

/** Audio as base64 in a format of the compatible API: `wav` or `mp3`. */
export function readAudioData(format: string, data: PromptText, path: FieldPath): MediaSource {
  const type = format === 'wav' ? 'audio/wav' : format === 'mp3' ? 'audio/mpeg' : undefined
  if (type === undefined) throw invalid(path, 'must be of the format "wav" or "mp3"')
  return readBase64(type, data, path)
}

/** A file as a data URL or as base64 alone; the type of the latter is that of its content. */
export function readFileData(data: PromptText, path: FieldPath): MediaSource {
  if (isDataUrl(data)) {
    const split = splitDataUrl(data, path)
    return readBase64(normalise(split.mediaType), split.data, path)
  }
  return readBase64(sniff(data) ?? 'text/plain', data, path)
}

/** An address of the web. Portico fetches it, through its guarded connector, only for providers that take bytes. */
export function readWebAddress(url: PromptText, path: FieldPath): MediaSource {
  const text = typeof url === 'string' ? url : url.toString()
  if (text.length > requestLimits.urlCharacters)
    throw invalid(path, `must have at most ${requestLimits.urlCharacters} characters`)
  const parsed = URL.parse(text)
  if (!parsed || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:'))
    throw invalid(path, 'must be an address with https or http, or a data URL with base64')
  if (parsed.username !== '' || parsed.password !== '') throw invalid(path, 'must have no user name and no password')
  if (isOutsideInternet(parsed))
    throw invalid(path, 'must be an address of the public internet; send the bytes instead')
  return { kind: 'url', url: text, field: fieldName(path) }
}

/** Base64 data of a type. A type with a known signature must have it, so that every provider reads what the client has declared. */
export function readBase64(mediaType: string, data: PromptText, path: FieldPath): MediaSource {
  const characters = typeof data === 'string' ? data.length : data.bytes
  if (characters === 0) throw invalid(path, 'has no data')
  if (characters > Math.ceil(requestLimits.mediaBytes / 3) * 4)
    throw invalid(path, `must have at most ${requestLimits.mediaBytes} bytes`)
  if (!isBase64(data)) throw invalid(path, 'must be valid base64')
  const actual = sniff(data)
  if (signed.has(mediaType) && actual !== mediaType) {
    const content = actual === undefined ? 'something else' : `\`${actual}\``
    throw invalid(path, `has the type \`${mediaType}\`, but its content is ${content}`)
  }
  return { kind: 'base64', mediaType, data }
}

function normalise(mediaType: string): string {
  const type = mediaType.toLowerCase()
  return lookUp(synonyms, type) ?? type
}

function isDataUrl(url: PromptText): boolean {
  return headOf(url, 5).toLowerCase() === 'data:'
}

/** The first characters of a text, without decoding the rest. An escape sequence at the end may be cut. */
function headOf(text: PromptText, characters: number): string {
  if (typeof text === 'string') return text.slice(0, characters)
  let head = ''
  for (const slice of text.slices) {
    head += slice.toString('latin1', 0, characters - head.length)
    if (head.length === characters) break
  }
  return head
}

function splitDataUrl(url: PromptText, path: FieldPath): { mediaType: string; data: PromptText } {
  const head = headOf(url, maximumHeadCharacters)
  const comma = head.indexOf(',')
  // `\/` is `/` in JSON.
  const fields = head.slice('data:'.length, comma).replaceAll('\\/', '/').split(';')
  if (comma < 0 || fields.at(-1)!.toLowerCase() !== 'base64')
    throw invalid(path, 'must be a data URL of the form `data:TYPE;base64,DATA`')
  return { mediaType: fields[0]!, data: withoutHead(url, head.slice(0, comma + 1)) }
}

function withoutHead(text: PromptText, head: string): PromptText {
  if (typeof text === 'string') return text.slice(head.length)
  let cut = head.length
  const slices: Buffer[] = []
  for (const slice of text.slices) {
    if (cut < slice.length) slices.push(slice.subarray(cut))
    cut = Math.max(0, cut - slice.length)
  }
  const { leads, shortEscapes, ...others } = text.counts
  const escapes = head.split('\\').length - 1
  return new JsonText(slices, { leads: leads - head.length, shortEscapes: shortEscapes - escapes, ...others })
}

const notBase64 = /[^A-Za-z0-9+/=]/
/** Linear in the data, without a copy. */
function isBase64(data: PromptText): boolean {
  return typeof data === 'string' ? !notBase64.test(data) && data.length % 4 !== 1 : data.isBase64()
}

/** Types whose first bytes are known. */
const signed: ReadonlySet<string> = new Set([...acceptedTypes.image, ...acceptedTypes.audio, 'application/pdf'])

/** The type by the first bytes, as the WHATWG MIME Sniffing standard has them. */
function sniff(data: PromptText): string | undefined {
  const head = headOf(data, sniffedCharacters).replaceAll('\\', '')
  const bytes = Buffer.from(head, 'base64')
  const has = (text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text
  if (has('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (has('\xff\xd8\xff')) return 'image/jpeg'
  if (has('GIF87a') || has('GIF89a')) return 'image/gif'
  if (has('RIFF') && has('WEBP', 8)) return 'image/webp'
  if (has('RIFF') && has('WAVE', 8)) return 'audio/wav'
  if (has('%PDF-')) return 'application/pdf'
  if (has('ID3') || (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0)) return 'audio/mpeg'
  return undefined
}
