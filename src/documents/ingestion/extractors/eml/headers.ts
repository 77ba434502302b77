import { cleanLine } from '../clean-text.ts'
import { createLegacyDecoder } from '../encoding/legacy-encodings.ts'

/** Longest headers of one part that are read. */
const maximumHeaderBytes = 256 * 1024

export interface Headers {
  /** The first value by lower-case name, unfolded and not decoded; empty where there is none. */
  get(name: string): string
  /** Where the body begins. */
  bodyAt: number
}

/** Reads the headers of a message or part. */
export function readHeaders(bytes: Buffer): Headers {
  const end = /\r?\n\r?\n|^\r?\n/.exec(bytes.toString('latin1', 0, maximumHeaderBytes))
  const to = end?.index ?? Math.min(bytes.length, maximumHeaderBytes)
  const values = new Map<string, string>()
  let name = ''
  for (const line of decodeBytes(bytes.subarray(0, to), 'utf-8').split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (/^[ \t]/.test(line)) {
      if (name !== '') values.set(name, `${values.get(name)} ${line.trim()}`)
    } else if (colon > 0) {
      name = line.slice(0, colon).trim().toLowerCase()
      if (values.has(name)) name = ''
      else values.set(name, line.slice(colon + 1).trim())
    } else name = ''
  }
  return { get: (wanted) => values.get(wanted) ?? '', bodyAt: end ? end.index + end[0].length : bytes.length }
}

/** Text in an encoding; as Latin-1 where the encoding is not known, or the bytes are not valid in it. */
export function decodeBytes(bytes: Uint8Array, encoding: string): string {
  const decoder = createLegacyDecoder(encoding)
  const text = decoder ? decoder.decode(bytes, { stream: true }) + decoder.decode() : '\ufffd'
  return text.includes('\ufffd') ? Buffer.from(bytes).toString('latin1') : text
}

/** An encoded word (RFC 2047), `=?utf-8?B?…?=`: its charset, its kind and its text. */
const encodedWord = /=\?([^?\s*]{1,40})(?:\*[^?\s]*)?\?([BQ])\?([^?\s]*)\?=/gi
const encodedWords = new RegExp(`(?:${encodedWord.source})+`, 'gi')

/** The text of a header with its encoded words. */
export function decodeHeader(value: string): string {
  const joined = value.replace(/(=\?[^?\s]{1,60}\?[BQ]\?[^?\s]*\?=)\s+(?==\?)/gi, '$1')
  return cleanLine(joined.replace(encodedWords, decodeWords))
}

/** Programs split characters between neighbouring words, so those of one charset are decoded together. */
function decodeWords(words: string): string {
  const runs: { charset: string; bytes: Buffer[] }[] = []
  for (const [, charset = '', kind = '', coded = ''] of words.matchAll(encodedWord)) {
    const bytes =
      kind.toUpperCase() === 'B'
        ? Buffer.from(coded, 'base64')
        : decodeQuotedPrintable(Buffer.from(coded.replaceAll('_', ' '), 'latin1'))
    const last = runs.at(-1)
    if (last?.charset.toLowerCase() === charset.toLowerCase()) last.bytes.push(bytes)
    else runs.push({ charset, bytes: [bytes] })
  }
  return runs.map(({ charset, bytes }) => decodeBytes(Buffer.concat(bytes), charset)).join('')
}

export interface HeaderValue {
  /** In lower case, without parameters. */
  value: string
  parameters: Map<string, string>
}

/**
 * A value with parameters, such as `text/plain; charset=utf-8`. A parameter may come in pieces and encoded (RFC 2231); that form counts
 * where a plain one is there for older programs.
 */
export function readParameters(header: string): HeaderValue {
  const plain = new Map<string, string>()
  const extended = new Map<string, string>()
  const encoded = new Set<string>()
  for (const [, written = '', extension, star, quoted, bare] of header.matchAll(
    /;\s*([^\s=;*]{1,60})((?:\*\d{1,3})?(\*)?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g,
  )) {
    const name = written.toLowerCase()
    const value = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''
    if (star) encoded.add(name)
    if (extension) extended.set(name, (extended.get(name) ?? '') + value)
    else if (!plain.has(name)) plain.set(name, value)
  }
  for (const name of encoded) extended.set(name, decodeExtended(extended.get(name)!))
  return {
    value: (header.split(';')[0] ?? '').trim().toLowerCase(),
    parameters: new Map([...plain, ...extended]),
  }
}

/** `utf-8'en'a%20name` */
function decodeExtended(text: string): string {
  const [, charset = 'utf-8', rest = text] = /^([\w.:-]*)'[^']*'(.*)$/s.exec(text) ?? []
  const bytes = rest.replace(/%([\da-f]{2})/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodeBytes(Buffer.from(bytes, 'latin1'), charset || 'utf-8')
}

/** Bytes of a quoted-printable text. */
export function decodeQuotedPrintable(bytes: Buffer): Buffer {
  const decoded = Buffer.alloc(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (byte !== 0x3d) {
      decoded[length++] = byte
      continue
    }
    const lineEnd = /^[ \t]{0,8}(?:\r?\n|\r|$)/.exec(bytes.toString('latin1', at + 1, at + 11))
    const hex = bytes.toString('latin1', at + 1, at + 3)
    if (/^[\da-f]{2}$/i.test(hex)) {
      decoded[length++] = Number.parseInt(hex, 16)
      at += 2
    } else if (lineEnd) at += lineEnd[0].length
    else decoded[length++] = byte
  }
  return decoded.subarray(0, length)
}
