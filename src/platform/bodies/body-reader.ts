import { AppError, invalidField } from '../kernel/index.ts'
import { type LongTextLimits, LongTexts } from './long-texts.ts'

/**
 * How a route reads its body: limits, then the rules. Large bodies are read in a thread, which imports the reader from its module, so that
 * no request keeps the event loop busy.
 */
export interface BodyReader<Body = unknown> extends BodyLimits {
  /** `import.meta.url` of the module that exports the reader, and the name of the export. */
  module: string
  exportName: string
  /**
   * Throws AppError. `ignored` names the fields that `shape` has cut out. With `startLong`, texts may be `JsonText`. What it returns must be
   * cloneable, apart from these.
   */
  read(value: unknown, ignored: string[]): Body
  /**
   * Reads the most usual values at once, with the result that the scan and `read` would have; undefined: they must decide. Called for bodies
   * that are read in place.
   */
  readUsual?(value: unknown): Body | undefined
  /** Reads a long body of the usual form while it arrives, without a thread. Absent: all are read when they are complete. */
  startLong?(): LongBody<Body>
  /** Reads the text of a `text/csv` body as `read` does; absent: the route takes JSON only. The limits above are not checked. */
  readCsv?(text: string): Body
}

export interface LongBody<Body> {
  /** The next bytes, which must not change afterwards. */
  push(bytes: Buffer): void
  /** With the result that `read` would have, except that long texts may be `JsonText`. Undefined: `read` must decide. */
  finish(): Body | undefined
}

export type BodyFormat = 'json' | 'csv'

/** Throws AppError. Changes `bytes`. */
export function readJson<Body>(bytes: Buffer, reader: Pick<BodyReader<Body>, keyof BodyLimits | 'read'>): Body {
  const { length, ignored } = scanJson(bytes, reader)
  return reader.read(JSON.parse(bytes.toString('utf8', 0, length)), ignored)
}

/** Throws AppError. Changes `bytes`. */
export function readBody<Body>(bytes: Buffer, reader: BodyReader<Body>, format: BodyFormat): Body {
  if (format === 'json') return readUsual(bytes, reader) ?? readJson(bytes, reader)
  assertReadsCsv(reader)
  return reader.readCsv(decodeText(bytes))
}

/** As `readJson`, but long texts stay bytes where the reader accepts them: for bodies of any size, in a thread. */
export function readLongBody<Body>(bytes: Buffer, reader: BodyReader<Body>, format: BodyFormat): Body {
  if (format !== 'json' || !reader.startLong) return readBody(bytes, reader, format)
  const { length, ignored } = scanJson(bytes, reader)
  const body = bytes.subarray(0, length)
  const texts = new LongTexts(threadLimits)
  texts.push(body)
  return reader.read(texts.finish() ?? parseWhole(body), ignored)
}

/** V8 has no longer strings. */
const maximumStringBytes = 500_000_000
/** The scan has bounded the number of values. */
const threadLimits: LongTextLimits = { strings: Infinity, restBytes: maximumStringBytes }

function parseWhole(body: Buffer): unknown {
  if (body.length > maximumStringBytes) {
    throw new AppError('request_too_large', `The request body must have at most ${maximumStringBytes} bytes.`)
  }
  return JSON.parse(body.toString())
}

/** A small body cannot take long, whatever is in it, and the scan takes longer than parsing it. Longer ones may use `startLong`. */
export const usualBytes = 16 * 1024

function readUsual<Body>(bytes: Buffer, reader: BodyReader<Body>): Body | undefined {
  if (!reader.readUsual || bytes.length > usualBytes) return undefined
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
  return reader.readUsual(value)
}

/** Throws `unsupported_media_type`. */
export function assertReadsCsv<Body>(
  reader: BodyReader<Body> | undefined,
): asserts reader is BodyReader<Body> & Required<Pick<BodyReader<Body>, 'readCsv'>> {
  if (reader?.readCsv) return
  throw new AppError('unsupported_media_type', 'Send the body as application/json.', { param: 'content-type' })
}

/** Without a byte order mark. Throws `invalid_request` for what is not UTF-8. */
function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new AppError('invalid_request', 'The text is not UTF-8. Save the file with this encoding.', { cause: error })
  }
}

/**
 * Checks a JSON text against limits before anything of it is built. One pass over the bytes, linear, without allocation for what is
 * only skipped: `JSON.parse` alone takes seconds and gigabytes for 33 MiB of `[{},{},…]`.
 */

/** What is read of a value. Limits that are absent do not hold; `maximumValues` of the body always does. */
export interface BodyShape {
  /** The members of an object that are read. The others are skipped, cut out and named. Absent: all are read. */
  members?: ReadonlyMap<string, BodyShape>
  /** Most members of an object, with a word for them. */
  maximumMembers?: number
  items?: BodyShape
  /** Most entries of an array. */
  maximumItems?: number
}

/** Members that are built whatever is in them. */
export function wholeMembers(names: Iterable<string>): Map<string, BodyShape> {
  return new Map([...names].map((name) => [name, {}]))
}

export interface BodyLimits {
  /** Where the text is the value of a field: its name, for errors. Absent: the request body. */
  field?: string
  shape: BodyShape
  /** Most values of what is read, those of nested arrays and objects included: bounds time and memory of what follows. */
  maximumValues: number
  /** Deepest nesting of arrays and objects, of skipped fields too. */
  maximumDepth?: number
}

const defaultDepth = 32
/** Names of skipped fields that are kept for `x-ignored-params`. */
const maximumIgnoredNames = 64
/** No field that is read has a longer name. */
const maximumNameBytes = 256

interface Scanned {
  /** What is to be read: the first bytes of the array, from which skipped fields have been cut out in place. */
  length: number
  /** Names of skipped fields, in dotted form without the indexes of arrays. */
  ignored: string[]
}

/** Throws AppError `invalid_request`: no JSON, or a limit that is named with its field. Changes `bytes`. */
export function scanJson(bytes: Buffer, limits: BodyLimits): Scanned {
  const scanner = new Scanner(bytes, limits)
  scanner.scan(limits.shape)
  return { length: scanner.compact(), ignored: [...scanner.ignored] }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** Length of an escape sequence by the byte after the backslash; 0: none. */
const escapeLengths = new Uint8Array(256)
for (const byte of Buffer.from('"\\/bfnrt')) escapeLengths[byte] = 2
escapeLengths[0x75] = 6

const isHex = new Uint8Array(256)
for (const byte of Buffer.from('0123456789abcdefABCDEF')) isHex[byte] = 1

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word))

class Scanner {
  readonly ignored = new Set<string>()
  private readonly bytes: Buffer
  private readonly maximumValues: number
  private readonly maximumDepth: number
  private readonly field: string | undefined
  private at = 0
  private depth = 0
  private values = 0
  /** Names and indexes from the body to the value at hand; not kept inside skipped fields. */
  private readonly path: (string | number)[]
  /** Start and end of each piece to cut out, in order. */
  private readonly cuts: number[] = []

  constructor(bytes: Buffer, { maximumValues, maximumDepth = defaultDepth, field }: BodyLimits) {
    this.bytes = bytes
    this.field = field
    this.path = field === undefined ? [] : [field]
    this.maximumValues = maximumValues
    this.maximumDepth = maximumDepth
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
      this.at = 3
      this.cuts.push(0, 3)
    }
  }

  scan(shape: BodyShape) {
    this.value(shape)
    this.space()
    if (this.at < this.bytes.length) throw this.notJson()
  }

  /** Moves what is kept together and returns its length. */
  compact(): number {
    const { bytes, cuts } = this
    if (cuts.length === 0) return bytes.length
    let length = cuts[0]!
    for (let index = 1; index < cuts.length; index += 2) {
      const next = cuts[index + 1] ?? bytes.length
      bytes.copyWithin(length, cuts[index]!, next)
      length += next - cuts[index]!
    }
    return length
  }

  /** `shape` undefined: the value is skipped. */
  private value(shape: BodyShape | undefined) {
    this.space()
    if (shape !== undefined && ++this.values > this.maximumValues) {
      throw refused(`The request body must have at most ${this.maximumValues} values.`, this.path.slice(0, 1))
    }
    const byte = this.bytes[this.at]
    if (byte === quote) this.string()
    else if (byte === openObject) this.nested(shape, closeObject)
    else if (byte === openArray) this.nested(shape, closeArray)
    else if (byte === 0x2d || (byte !== undefined && byte >= 0x30 && byte <= 0x39)) this.number()
    else this.literal()
  }

  private nested(shape: BodyShape | undefined, close: number) {
    if (++this.depth > this.maximumDepth) {
      const where = this.path.length === 0 ? 'The request body' : `\`${String(this.path[0]).slice(0, 60)}\``
      throw refused(`${where} must be nested at most ${this.maximumDepth} levels deep.`, this.path.slice(0, 1))
    }
    this.at++
    this.space()
    if (this.bytes[this.at] === close) this.at++
    else if (close === closeArray) this.items(shape)
    else this.members(shape)
    this.depth--
  }

  private items(shape: BodyShape | undefined) {
    const of = shape && (shape.items ?? anything)
    for (let index = 0; ; index++) {
      if (shape?.maximumItems !== undefined && index >= shape.maximumItems) {
        throw refused(`\`${this.name()}\` must have at most ${shape.maximumItems} entries.`, this.path)
      }
      if (of) this.path.push(index)
      this.value(of)
      if (of) this.path.pop()
      this.space()
      const byte = this.bytes[this.at++]
      if (byte === closeArray) return
      if (byte !== comma) throw this.notJson()
    }
  }

  private members(shape: BodyShape | undefined) {
    let count = 0
    /** The comma behind the last member that is kept; -1 while none is. */
    let lastComma = -1
    /** Cuts made since; the first of them may have to start at that comma. */
    let firstCut = -1
    for (;;) {
      this.space()
      const start = this.at
      if (this.bytes[start] !== quote) throw this.notJson()
      this.string()
      const nameEnd = this.at
      this.space()
      if (this.bytes[this.at++] !== 0x3a) throw this.notJson()

      let of: BodyShape | undefined
      if (shape) {
        const name =
          shape.members || shape.maximumMembers || nameEnd - start <= maximumNameBytes ? this.text(start, nameEnd) : '…'
        of = shape.members ? shape.members.get(name) : anything
        if (of === undefined) this.ignore(name)
        else if (shape.maximumMembers !== undefined && ++count > shape.maximumMembers) {
          throw refused(`\`${this.name()}\` must have at most ${shape.maximumMembers} pairs.`, this.path)
        }
        if (this.depth === 1 || of) this.path.push(name)
        this.value(of)
        if (this.depth === 1 || of) this.path.pop()
      } else this.value(undefined)
      this.space()
      const byte = this.bytes[this.at++]
      if (byte !== comma && byte !== closeObject) throw this.notJson()

      if (shape && of === undefined) {
        const end = byte === comma ? this.at : this.at - 1
        if (firstCut === -1) {
          firstCut = this.cuts.length
          this.cuts.push(start, end)
        } else this.cuts[firstCut + 1] = end
        // The last member is cut: the comma before it has nothing to separate.
        if (byte === closeObject && lastComma !== -1) this.cuts[firstCut] = lastComma
      } else if (shape) {
        firstCut = -1
        lastComma = this.at - 1
      }
      if (byte === closeObject) return
    }
  }

  private string() {
    const { bytes } = this
    const { length } = bytes
    let at = this.at + 1
    for (;;) {
      if (at >= length) throw this.notJson()
      const byte = bytes[at]!
      if (byte === quote) break
      if (byte < 0x20) throw this.notJson()
      if (byte !== backslash) at++
      else {
        const escape = escapeLengths[bytes[at + 1] ?? 0]!
        if (escape === 0) throw this.notJson()
        if (escape === 6) {
          for (let digit = at + 2; digit < at + 6; digit++) if (isHex[bytes[digit] ?? 0] === 0) throw this.notJson()
        }
        at += escape
      }
    }
    this.at = at + 1
  }

  private number() {
    const { bytes } = this
    const digits = () => {
      const start = this.at
      while (bytes[this.at]! >= 0x30 && bytes[this.at]! <= 0x39) this.at++
      if (this.at === start) throw this.notJson()
    }
    if (bytes[this.at] === 0x2d) this.at++
    // No digit follows a leading zero.
    if (bytes[this.at] === 0x30) this.at++
    else digits()
    if (bytes[this.at] === 0x2e) {
      this.at++
      digits()
    }
    if (bytes[this.at] === 0x65 || bytes[this.at] === 0x45) {
      this.at++
      if (bytes[this.at] === 0x2b || bytes[this.at] === 0x2d) this.at++
      digits()
    }
  }

  private literal() {
    for (const word of literals) {
      if (this.bytes[this.at] !== word[0]) continue
      if (this.bytes.compare(word, 0, word.length, this.at, Math.min(this.at + word.length, this.bytes.length)) !== 0)
        break
      this.at += word.length
      return
    }
    throw this.notJson()
  }

  private space() {
    const { bytes } = this
    for (;;) {
      const byte = bytes[this.at]
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return
      this.at++
    }
  }

  private text(start: number, end: number): string {
    const literal = this.bytes.toString('utf8', start, Math.min(end, start + maximumNameBytes))
    if (end - start > maximumNameBytes) return `${literal.slice(1, 60)}…`
    return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1)
  }

  private ignore(name: string) {
    if (this.ignored.size >= maximumIgnoredNames) return
    const parents = this.path.filter((part) => typeof part === 'string')
    this.ignored.add([...parents, name].join('.'))
  }

  private notJson(): AppError {
    return this.field === undefined
      ? new AppError('invalid_request', 'The body is not valid JSON.')
      : invalidField(this.field, `\`${this.field}\` must be valid JSON.`)
  }

  private name(): string {
    return this.path.length === 0 ? 'the request body' : dotted(this.path)
  }
}

const anything: BodyShape = {}

function dotted(path: readonly (string | number)[]): string {
  return path.map((part) => String(part).slice(0, 60)).join('.')
}

function refused(message: string, path: readonly (string | number)[]): AppError {
  return new AppError('invalid_request', message, path.length === 0 ? {} : { param: dotted(path) })
}
