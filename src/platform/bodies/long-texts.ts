import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { JsonText, maximumTextDepth } from './json-text.ts'
import { type LiteralState, maximumScanBytes, newLiteral, sharedLiteralScan } from './literal-scan.ts'

/**
 * Reads a JSON body while it arrives, without a copy of its long texts: string literals from `longBytes` on stay where they are, and the rest is
 * parsed when the body is complete. Takes 0.2 to 0.3 ns a byte of prose. What it cannot read within its limits must be read in another way.
 */
export class LongTexts {
  readonly #limits: LongTextLimits
  /** Bytes and placeholders of long texts, in order. */
  readonly #rest: Buffer[] = []
  #restBytes = 0
  readonly #texts: JsonText[] = []
  #strings = 0
  #isGivenUp = false
  /** The beginning of a character that continues in the next bytes. */
  #character: Buffer = nothing
  /** The literal that continues in the next bytes. */
  #open: { slices: Buffer[]; state: LiteralState } | undefined

  constructor(limits: LongTextLimits = mainThreadLimits) {
    this.#limits = limits
  }

  /** The next bytes of the body, which must not change afterwards. */
  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.#isGivenUp; at += maximumScanBytes) {
      const part = bytes.subarray(at, at + maximumScanBytes)
      this.#isGivenUp = !this.#takesUtf8(part) || !this.#takes(part)
      if (this.#isGivenUp) this.#forget()
    }
  }

  /**
   * The body with a `JsonText` for each long text, except for names. Undefined: it is not valid JSON or UTF-8, or has an unusual form,
   * such as many short texts or a long name.
   */
  finish(): unknown {
    if (this.#isGivenUp || this.#open !== undefined || this.#character.length > 0) return undefined
    let value: unknown
    try {
      value = JSON.parse(Buffer.concat(this.#rest).toString())
    } catch {
      return undefined
    }
    const placed = { texts: 0 }
    const body = this.#place(value, 0, placed)
    return placed.texts === this.#texts.length ? body : undefined
  }

  #forget() {
    this.#rest.length = this.#texts.length = 0
    this.#open = undefined
  }

  /** False: not UTF-8. Characters may be split between parts. */
  #takesUtf8(part: Buffer): boolean {
    let start = 0
    if (this.#character.length > 0) {
      start = characterBytes(this.#character[0]!) - this.#character.length
      const character = Buffer.concat([this.#character, part.subarray(0, start)])
      if (part.length < start) {
        this.#character = character
        return true
      }
      if (!isUtf8(character)) return false
    }
    const end = part.length - splitBytes(part, start)
    this.#character = part.subarray(end)
    return isUtf8(part.subarray(start, end))
  }

  /** False: a limit is exceeded, or a literal is not valid. */
  #takes(part: Buffer): boolean {
    const scanner = sharedLiteralScan()
    scanner.load(part)
    let at = 0
    /** The first byte that is neither in `rest` nor in a text. */
    let kept = 0
    if (this.#open) {
      const end = scanner.scan(0, part.length, this.#open.state)
      if (end < 0) return false
      this.#open.slices.push(part.subarray(0, end))
      if (end === part.length) return true
      this.#close(this.#open)
      at = kept = end + 1
    }
    for (;;) {
      const quote = nextQuote(part, at)
      if (quote === part.length) return this.#keep(part.subarray(kept))
      if (++this.#strings > this.#limits.strings) return false
      const short = shortEnd(part, quote + 1)
      if (short >= 0) {
        at = short + 1
        continue
      }
      const state = newLiteral(mayBeDataUrl(part, quote + 1))
      const end = scanner.scan(quote + 1, part.length, state)
      if (end < 0) return false
      at = end + 1
      if (end < part.length && end - quote <= longBytes) continue
      if (!this.#keep(part.subarray(kept, quote))) return false
      kept = at
      const literal = { slices: [part.subarray(quote + 1, end)], state }
      if (end === part.length) {
        this.#open = literal
        return true
      }
      this.#close(literal)
    }
  }

  #close({ slices, state }: { slices: Buffer[]; state: LiteralState }) {
    this.#open = undefined
    const text = new JsonText(slices, state)
    if (text.bytes < longBytes) {
      this.#keep(Buffer.concat([quoteByte, ...slices, quoteByte]))
      return
    }
    this.#keep(Buffer.from(`"${placeholder}${this.#texts.length}"`))
    this.#texts.push(text)
  }

  #keep(bytes: Buffer): boolean {
    this.#rest.push(bytes)
    this.#restBytes += bytes.length
    return this.#restBytes <= this.#limits.restBytes
  }

  #place(value: unknown, depth: number, placed: { texts: number }): unknown {
    if (typeof value === 'string' && value.startsWith(placeholder)) {
      placed.texts++
      return this.#texts[Number(value.slice(placeholder.length))]
    }
    if (typeof value !== 'object' || value === null || depth >= maximumTextDepth) return value
    const members = value as Record<string, unknown>
    for (const name in members) {
      // Each is at one place only, and the rest of the body may be long: the definitions of tools follow the messages.
      if (placed.texts === this.#texts.length) break
      const member = this.#place(members[name], depth + 1, placed)
      if (member !== members[name]) members[name] = member
    }
    return value
  }
}

/** Shorter texts are built at once. */
const longBytes = 256
const quoteCode = 0x22
const backslashCode = 0x5c

/** Few bytes are between texts, so a call of native code would take longer. */
function nextQuote(part: Buffer, at: number): number {
  while (at < part.length && part[at] !== quoteCode) at++
  return at
}

/** Whether a literal may begin with `data:`. */
function mayBeDataUrl(part: Buffer, at: number): boolean {
  const colon = part[at + 4]
  return colon === undefined || (colon === 0x3a && (part[at]! | 0x20) === 0x64)
}

/** Where a short literal without escapes ends; -1: it is another one. Most are such, and a call of the scanner takes longer than they do. */
function shortEnd(part: Buffer, at: number): number {
  const limit = Math.min(part.length, at + longBytes)
  for (let place = at; place < limit; place++) {
    const byte = part[place]!
    if (byte === quoteCode) return place
    if (byte < 0x20 || byte === backslashCode) return -1
  }
  return -1
}

export interface LongTextLimits {
  /** Most names and values. */
  strings: number
  /** Most bytes of all but long texts. */
  restBytes: number
}

/** Bound the time for one body: the names and values of a conversation of two thousand messages, and a rest that is parsed there. */
const mainThreadLimits: LongTextLimits = { strings: 8_192, restBytes: 64 * 1024 }

const nothing = Buffer.alloc(0)
const quoteByte = Buffer.from('"')
/** No client can send it. */
const placeholder = `${randomBytes(16).toString('hex')}:`

function characterBytes(lead: number): number {
  if (lead >= 0xf0) return 4
  return lead >= 0xe0 ? 3 : 2
}

/** Bytes at the end of `part` that begin a character without completing it. */
function splitBytes(part: Buffer, start: number): number {
  for (let back = 1; back <= 3 && part.length - back >= start; back++) {
    const byte = part[part.length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return characterBytes(byte) > back ? back : 0
  }
  return 0
}
