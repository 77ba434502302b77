import { open } from 'node:fs/promises'
import { analyse } from 'chardet'
import type { ExtractionReport } from './extractor.ts'

const readBytes = 256 * 1024
/** Detection looks at this much of what is not ASCII; more changes no verdict and costs time. */
const sampleBytes = 64 * 1024
/** A file is still UTF-8 with damage when at most this share of its multi-byte characters is broken. */
const tolerableDamage = 0.05

/** chardet's names where they differ from the labels of the Encoding standard. */
const encodingLabels: Record<string, string> = {
  'ISO-8859-1': 'windows-1252',
  'ISO-8859-9': 'windows-1254',
  'UTF-16 LE': 'utf-16le',
  'UTF-16 BE': 'utf-16be',
}

/** Decodes a text file: byte order mark first, then strict UTF-8, then detection. Yields strings cut anywhere between characters. */
export async function* decodeTextFile(filePath: string, report: ExtractionReport): AsyncGenerator<string> {
  const encoding = await detectEncoding(filePath, report)
  const decoder = createDecoder(encoding)
  for await (const bytes of readFileBytes(filePath)) {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** The file's encoding as a label of the Encoding standard. */
async function detectEncoding(filePath: string, report: ExtractionReport): Promise<string> {
  const head = await readHead(filePath, 4096)
  const marked = byteOrderMark(head) ?? unmarkedUtf16(head)
  if (marked) return marked
  const scan = await scanUtf8(filePath)
  if (scan.broken === 0) return 'utf-8'
  if (scan.valid > 0 && scan.broken / (scan.valid + scan.broken) <= tolerableDamage) {
    report.warn({
      code: 'damaged_characters',
      message: `${scan.broken} damaged ${scan.broken === 1 ? 'character was' : 'characters were'} replaced; the rest of the file is sound UTF-8.`,
    })
    return 'utf-8'
  }
  return guessEncoding(scan.sample)
}

/** Encoding of bytes that are known not to be UTF-8. */
function guessEncoding(sample: Uint8Array): string {
  let best = { label: 'windows-1252', score: -Infinity }
  for (const { name, confidence } of analyse(sample)) {
    const label = encodingLabels[name] ?? name.toLowerCase()
    const text = tryDecode(label, sample)
    if (text === null) continue
    const score = confidence - 100 * implausibleShare(text)
    if (score > best.score) best = { label, score }
  }
  return best.label
}

function byteOrderMark(head: Uint8Array): string | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8'
  if (head[0] === 0xff && head[1] === 0xfe)
    return head[2] === 0 && head[3] === 0 && head.length % 4 === 0 ? 'utf-32le' : 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head[0] === 0 && head[1] === 0 && head[2] === 0xfe && head[3] === 0xff) return 'utf-32be'
  return null
}

/** UTF-16 of mostly Latin text without a mark: every other byte is NUL. */
export function unmarkedUtf16(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head.length < 4) return null
  const pairs = Math.floor(head.length / 2)
  let evenNuls = 0
  let oddNuls = 0
  for (let index = 0; index < pairs * 2; index += 2) {
    if (head[index] === 0) evenNuls += 1
    if (head[index + 1] === 0) oddNuls += 1
  }
  if (oddNuls > pairs * 0.6 && evenNuls < pairs * 0.05) return 'utf-16le'
  if (evenNuls > pairs * 0.6 && oddNuls < pairs * 0.05) return 'utf-16be'
  return null
}

interface Decoder {
  decode(bytes?: Uint8Array, options?: { stream: boolean }): string
}

function createDecoder(encoding: string): Decoder {
  if (encoding === 'utf-32le' || encoding === 'utf-32be') return createUtf32Decoder(encoding === 'utf-32le')
  return new TextDecoder(encoding)
}

/** UTF-32 is not among the Encoding standard's encodings. */
function createUtf32Decoder(littleEndian: boolean): Decoder {
  let rest = new Uint8Array()
  return {
    decode(bytes = new Uint8Array()) {
      const joined = Buffer.concat([rest, bytes])
      const whole = joined.length - (joined.length % 4)
      let text = ''
      for (let offset = 0; offset < whole; offset += 4) {
        const code = littleEndian ? joined.readUInt32LE(offset) : joined.readUInt32BE(offset)
        text += code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
      }
      rest = Uint8Array.from(joined.subarray(whole))
      return text
    },
  }
}

interface Utf8Scan {
  /** Multi-byte characters that are sound. */
  valid: number
  broken: number
  /** Windows of bytes around what is not ASCII. */
  sample: Uint8Array
}

async function scanUtf8(filePath: string): Promise<Utf8Scan> {
  const decoder = new TextDecoder('utf-8')
  const sample: Uint8Array[] = []
  let sampled = 0
  let valid = 0
  let broken = 0
  const count = (text: string) => {
    for (const match of text.matchAll(/\P{ASCII}+/gu)) {
      for (const character of match[0]) {
        if (character === '\ufffd') broken += 1
        else valid += 1
      }
    }
  }
  for await (const bytes of readFileBytes(filePath)) {
    count(decoder.decode(bytes, { stream: true }))
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
  return { valid, broken, sample: Buffer.concat(sample) }
}

/** Decodes strictly; the sample may end inside a character, so its last bytes may be left out. Null where it is not that encoding. */
function tryDecode(label: string, sample: Uint8Array): string | null {
  let decoder: InstanceType<typeof TextDecoder>
  try {
    decoder = new TextDecoder(label, { fatal: true })
  } catch {
    return null
  }
  try {
    return decoder.decode(sample, { stream: true })
  } catch {
    return null
  }
}

/** Share of characters that real text hardly holds: controls, private use, unassigned, half-width katakana in masses. */
function implausibleShare(text: string): number {
  if (text === '') return 1
  const odd = text.match(/[\u0080-\u009f\ufffd\uff61-\uff9f]|\p{Co}|\p{Cn}/gu)?.length ?? 0
  return odd / text.length
}

async function readHead(filePath: string, bytes: number): Promise<Uint8Array> {
  await using file = await open(filePath, 'r')
  const buffer = new Uint8Array(bytes)
  const { bytesRead } = await file.read(buffer, 0, bytes, 0)
  return buffer.subarray(0, bytesRead)
}

async function* readFileBytes(filePath: string): AsyncGenerator<Uint8Array> {
  await using file = await open(filePath, 'r')
  for (;;) {
    const buffer = new Uint8Array(readBytes)
    const { bytesRead } = await file.read(buffer, 0, readBytes, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}
