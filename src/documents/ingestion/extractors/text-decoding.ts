import { open } from 'node:fs/promises'
import { guessEncoding } from './encoding/guess-encoding.ts'
import { createLegacyDecoder } from './encoding/legacy-encodings.ts'
import { type SevenBitEncoding, sevenBitEncoding } from './encoding/seven-bit.ts'
import type { StreamDecoder } from './encoding/stream-decoder.ts'
import { unmarkedUnicode } from './encoding/unmarked-unicode.ts'
import { ExtractionError } from '../extraction.ts'
import type { ExtractorInput } from './extractor.ts'

const readBytes = 256 * 1024
/** Detection reads at most this much around non-ASCII bytes; more costs time and changes no result. */
const sampleBytes = 64 * 1024
/** A file is still UTF-8 with damage when at most this share of its multi-byte characters is broken. */
const tolerableDamage = 0.05

type FileInput = Pick<ExtractorInput, 'filePath' | 'content'>
type TextInput = FileInput & Pick<ExtractorInput, 'report' | 'declaredEncoding'>

/**
 * Decodes a text file: byte order mark first, then the declared encoding if the bytes are valid in it, then strict UTF-8, then a
 * guess, which becomes a warning. Yields strings cut anywhere between characters.
 */
export async function* decodeTextFile(input: TextInput): AsyncGenerator<string> {
  const decoder = createDecoder(await detectEncoding(input))
  for await (const bytes of readFileBytes(input)) {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** The file's encoding as a label of the Encoding standard or of iconv-lite. */
async function detectEncoding(input: TextInput): Promise<string> {
  const { report, declaredEncoding } = input
  const head = await readHead(input, 4096)
  const marked = byteOrderMark(head)
  if (marked) return marked
  if (declaredEncoding && (await isValidIn(declaredEncoding, input))) return declaredEncoding
  const guessed = (encoding: string) => {
    const message = `The file does not state its encoding; it was read as ${encoding}. If characters are wrong, save the file as UTF-8 or upload it with a charset in the Content-Type of the file's part.`
    report.warn({ code: 'encoding_guessed', message })
    return encoding
  }
  const wide = unmarkedUnicode(head)
  if (wide) return guessed(wide)
  const scan = await scanUtf8(input)
  if (scan.broken === 0) return scan.valid === 0 && scan.sevenBit ? guessed(scan.sevenBit) : 'utf-8'
  if (scan.valid > 0 && scan.broken / (scan.valid + scan.broken) <= tolerableDamage) {
    report.warn({
      code: 'damaged_characters',
      message: `${scan.broken} damaged ${scan.broken === 1 ? 'character was' : 'characters were'} replaced; the rest of the file is sound UTF-8.`,
    })
    return 'utf-8'
  }
  return guessed(guessEncoding(scan.sample))
}

/** True where the whole file can be decoded; its end may cut a character. */
async function isValidIn(encoding: string, input: FileInput): Promise<boolean> {
  // ASCII is valid UTF-8; a file that is not ASCII contradicts the label, which decoders read as windows-1252.
  const decoder = /ascii/i.test(encoding) ? null : createLegacyDecoder(encoding)
  if (!decoder) return false
  for await (const bytes of readFileBytes(input))
    if (decoder.decode(bytes, { stream: true }).includes('\ufffd')) return false
  return true
}

function byteOrderMark(head: Uint8Array): string | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8'
  if (head[0] === 0xff && head[1] === 0xfe)
    return head[2] === 0 && head[3] === 0 && head.length % 4 === 0 ? 'utf-32le' : 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head[0] === 0 && head[1] === 0 && head[2] === 0xfe && head[3] === 0xff) return 'utf-32be'
  return null
}

function createDecoder(encoding: string): StreamDecoder {
  const decoder = createLegacyDecoder(encoding)
  if (!decoder) throw new ExtractionError('unsupported_content', `The encoding ${encoding} is not supported.`)
  return decoder
}

interface Utf8Scan {
  /** Multi-byte characters that are sound. */
  valid: number
  broken: number
  /** Whose marks its first part with marks has; means nothing unless the file is ASCII. */
  sevenBit: SevenBitEncoding | null
  /** Windows of bytes around non-ASCII bytes. */
  sample: Uint8Array
}

async function scanUtf8(input: FileInput): Promise<Utf8Scan> {
  const decoder = new TextDecoder('utf-8')
  const sample: Uint8Array[] = []
  let sampled = 0
  let valid = 0
  let broken = 0
  let sevenBit: SevenBitEncoding | null = null
  const count = (text: string) => {
    for (const match of text.matchAll(/\P{ASCII}+/gu)) {
      for (const character of match[0]) {
        if (character === '\ufffd') broken += 1
        else valid += 1
      }
    }
  }
  for await (const bytes of readFileBytes(input)) {
    count(decoder.decode(bytes, { stream: true }))
    if (valid + broken === 0) sevenBit ??= sevenBitEncoding(Buffer.from(bytes).toString('latin1'))
    if (sampled < sampleBytes) {
      const first = bytes.findIndex((byte) => byte >= 0x80)
      if (first !== -1) {
        // Start at a line's begin, so that a multi-byte sequence is not cut.
        const from = bytes.lastIndexOf(0x0a, first) + 1
        const window = bytes.slice(from, from + sampleBytes - sampled)
        sample.push(window)
        sampled += window.length
      }
    }
  }
  count(decoder.decode())
  return { valid, broken, sevenBit, sample: Buffer.concat(sample) }
}

export async function readHead({ filePath, content }: FileInput, bytes: number): Promise<Uint8Array> {
  if (content) return content.subarray(0, bytes)
  await using file = await open(filePath, 'r')
  const buffer = new Uint8Array(bytes)
  const { bytesRead } = await file.read(buffer, 0, bytes, 0)
  return buffer.subarray(0, bytesRead)
}

async function* readFileBytes({ filePath, content }: FileInput): AsyncGenerator<Uint8Array> {
  if (content) {
    for (let at = 0; at < content.length; at += readBytes) yield content.subarray(at, at + readBytes)
    return
  }
  await using file = await open(filePath, 'r')
  for (;;) {
    const buffer = new Uint8Array(readBytes)
    const { bytesRead } = await file.read(buffer, 0, readBytes, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}
