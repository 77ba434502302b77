/**
 * A text as the bytes of a JSON string literal, without its quotes. A long prompt is relayed in this form: it is neither decoded nor
 * encoded, and has no second copy.
 */
export class JsonText {
  /** Together valid JSON and UTF-8; a character or an escape sequence may be in two of them. */
  readonly slices: readonly Buffer[]
  /** Of the literal. */
  readonly bytes: number
  /** Upper bound of the text's bytes in UTF-8. */
  readonly maximumTextBytes: number
  /** Upper bound of the text's Unicode code points. */
  readonly maximumCharacters: number
  readonly counts: LiteralCounts

  constructor(slices: readonly Buffer[], { leads, shortEscapes, longEscapes, base64Bytes }: LiteralCounts) {
    this.slices = slices
    this.counts = { leads, shortEscapes, longEscapes, base64Bytes }
    this.bytes = slices.reduce((sum, slice) => sum + slice.length, 0)
    // The six bytes of `\uXXXX` are at most three of UTF-8.
    this.maximumTextBytes = this.bytes - shortEscapes - 3 * longEscapes
    this.maximumCharacters = leads - shortEscapes - 5 * longEscapes
  }

  /** Encodes a text; its bounds do not subtract escapes. */
  static of(text: string): JsonText {
    // Not from the pool of Buffer, whose memory cannot move to another thread.
    const { buffer } = new TextEncoder().encode(JSON.stringify(text).slice(1, -1))
    const literal = Buffer.from(buffer)
    return new JsonText([literal], { ...noCounts, leads: literal.length })
  }

  /** One text after the other, without a copy of the long ones. */
  static join(texts: readonly (string | JsonText)[]): JsonText {
    const slices: Buffer[] = []
    const counts = { ...noCounts }
    for (const text of texts) {
      const encoded = typeof text === 'string' ? JsonText.of(text) : text
      for (const slice of encoded.slices) slices.push(slice)
      counts.leads += encoded.counts.leads
      counts.shortEscapes += encoded.counts.shortEscapes
      counts.longEscapes += encoded.counts.longEscapes
    }
    return new JsonText(slices, counts)
  }

  /** Decodes the text: 1 ms for a million bytes. */
  toString(): string {
    const literal = (this.slices.length === 1 ? this.slices[0]! : Buffer.concat(this.slices)).toString()
    return literal.includes('\\') ? (JSON.parse(`"${literal}"`) as string) : literal
  }

  toJSON(): string {
    return this.toString()
  }

  /** Whether a text of a client's body has the form of base64, as found when it was scanned; where padding is does not count. */
  isBase64(): boolean {
    const { shortEscapes, longEscapes, base64Bytes } = this.counts
    return longEscapes === 0 && base64Bytes >= this.bytes && (this.bytes - shortEscapes) % 4 !== 1
  }

  /** Whether `toString().trim()` is empty. Decodes only a text that does not begin with what is surely visible. */
  isBlank(): boolean {
    const first = this.slices[0]!
    for (let at = 0; at < Math.min(first.length, visibleSearchBytes); at++) {
      const byte = first[at]!
      if (isVisible(byte)) return false
      if (byte !== backslash) continue
      const escaped = first[++at]
      if (escaped === undefined || escaped === 0x75) break
      if (escaped === 0x22 || escaped === 0x2f || escaped === backslash) return false
    }
    return this.toString().trim() === ''
  }

  /**
   * Some of the text, in windows of `windowBytes` at equal distances, about `wantedBytes` of the literal; all of a shorter text. A
   * character or an escape sequence at the border of a window is damaged.
   */
  sample(wantedBytes: number, windowBytes: number): { text: string; bytes: number } {
    if (this.bytes <= wantedBytes) return { text: this.toString(), bytes: this.bytes }
    const distance = this.bytes / Math.ceil(wantedBytes / windowBytes)
    let text = ''
    let bytes = 0
    let sliceStart = 0
    let next = (distance - windowBytes) / 2
    for (const slice of this.slices) {
      for (; next < sliceStart + slice.length; next += distance) {
        const start = Math.floor(next) - sliceStart
        const window = slice.subarray(start, start + windowBytes)
        text += window.toString()
        bytes += window.length
      }
      sliceStart += slice.length
    }
    return { text: text.includes('\\') ? text.replaceAll(escapeSequence, unescaped) : text, bytes }
  }
}

/** Bytes that begin a character, escape sequences of two and of six bytes, and bytes of base64 at the end (0: not counted). */
export interface LiteralCounts {
  leads: number
  shortEscapes: number
  longEscapes: number
  base64Bytes: number
}

const noCounts: LiteralCounts = { leads: 0, shortEscapes: 0, longEscapes: 0, base64Bytes: 0 }

const visibleSearchBytes = 1_024
const backslash = 0x5c

/** ASCII except the backslash, or the first byte of a character in a range without white space: that is U+1680 to U+3000, U+A0 and U+FEFF. */
function isVisible(byte: number): boolean {
  if (byte < 0x80) return byte > 0x20 && byte !== backslash && byte !== 0x7f
  return (byte >= 0xc3 && byte <= 0xe0) || (byte >= 0xe4 && byte <= 0xee) || byte >= 0xf0
}

const escapeSequence = /\\(?:u([0-9a-fA-F]{4})|.)/gs

function unescaped(sequence: string, digits: string | undefined): string {
  if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16))
  // The kind of white space is not needed.
  return 'bfnrt'.includes(sequence[1]!) ? '\n' : sequence[1]!
}

export function textOf(text: string | JsonText): string {
  return typeof text === 'string' ? text : text.toString()
}

/** Whether a text has nothing but white space. */
export function isBlankText(text: string | JsonText): boolean {
  return typeof text === 'string' ? text.trim() === '' : text.isBlank()
}

/** `Array.join` for texts: long ones stay bytes. */
export function joinTexts(texts: readonly (string | JsonText)[], separator: string): string | JsonText {
  if (!texts.some((text) => text instanceof JsonText)) return texts.join(separator)
  return JsonText.join(texts.flatMap((text, index) => (index === 0 || separator === '' ? [text] : [separator, text])))
}

/** The deepest long text of a body: an image of a tool's result in a message of the Messages API. Nothing below it is searched. */
export const maximumTextDepth = 8

/** Decodes the long texts in a value of JSON, in place. */
export function decodeTexts(value: unknown, depth = 0): unknown {
  if (value instanceof JsonText) return value.toString()
  if (typeof value !== 'object' || value === null || depth >= maximumTextDepth) return value
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) decodeMember(value as unknown[], index, depth)
    return value
  }
  for (const name in value) decodeMember(value as Record<string, unknown>, name, depth)
  return value
}

function decodeMember<Key extends string | number>(members: Record<Key, unknown>, key: Key, depth: number): void {
  const member = members[key]
  if (typeof member !== 'object' || member === null) return
  const decoded = decodeTexts(member, depth + 1)
  if (decoded !== member) members[key] = decoded
}

const longUnits = 64 * 1024

/** A long text as bytes, which move from one thread to another without a copy. */
export function toMovable(text: string | JsonText): string | JsonText {
  return typeof text === 'string' && text.length > longUnits ? JsonText.of(text) : text
}

/** Unicode code points: what a person counts as characters comes closer to these than to UTF-16 units. */
export function countCharacters(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; count++) index += text.codePointAt(index)! > 0xffff ? 2 : 1
  return count
}

/**
 * The memory of long bodies. Garbage collection alone frees it late, and V8 counts these bytes: with a few bodies of 1 MB at the same time it
 * collects the whole heap all the time. So the memory is freed when a call has ended, unless a socket may still read it.
 */

/** How many senders may still read the memory. */
const lent = new WeakMap<ArrayBufferLike, number>()

/** Called before bytes are given to a socket. Their memory is not freed before `endLoan`; without it, it is left to garbage collection. */
export function lend(slices: readonly Buffer[]): void {
  for (const { buffer } of slices) lent.set(buffer, (lent.get(buffer) ?? 0) + 1)
}

/** Called when the system has taken all bytes: no native code reads them any more. */
export function endLoan(slices: readonly Buffer[]): void {
  for (const { buffer } of slices) lent.set(buffer, lent.get(buffer)! - 1)
}

/** Frees the memory of chunks that nothing will read. Keeps that which other buffers share, or which is lent. */
export function freeMemory(chunks: readonly Buffer[]): void {
  for (const { buffer, length } of chunks) {
    if (length > 0 && length === buffer.byteLength && !lent.get(buffer)) (buffer as ArrayBuffer).transfer(0)
  }
}
