import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { JsonText } from '../../platform/bodies/index.ts'

/** A JSON body to send: text, or the UTF-8 pieces of a long one, at least one. */
export type EncodedBody = string | readonly Buffer[]

/** A body with more text than this is encoded in slices of about 2 ms. */
const sliceUnits = 256 * 1024
const sliceBytes = 512 * 1024
/** The first slice, and how much larger the next one is: a body with long texts has little else, and a large block is slow to make. */
const firstSliceBytes = 8 * 1024
const sliceGrowth = 8
/** A body of at most this size is sent as one piece: copying it takes less than writing several. */
const wholeBytes = 128 * 1024
/** A smaller slice of a long text is copied. */
const smallBytes = 4 * 1024

/**
 * `JSON.stringify` that does not block the event loop: a prompt of 33 MiB would block it for 100 to 700 ms. Values are what adapters build:
 * plain objects, arrays, texts, numbers. The bytes of a `JsonText` are sent as they are.
 */
export function encodeBody(value: unknown): EncodedBody | Promise<EncodedBody> {
  return textUnits(value, sliceUnits) <= sliceUnits ? JSON.stringify(value) : encodeInSlices(value)
}

async function encodeInSlices(value: unknown): Promise<EncodedBody> {
  const slices: Buffer[] = []
  let block = Buffer.allocUnsafeSlow(firstSliceBytes)
  let start = 0
  let used = 0
  const cut = () => {
    if (used > start) slices.push(block.subarray(start, used))
    start = used
  }
  /** Room for this many bytes in the block; true: a full one was replaced. */
  const reserve = (bytes: number) => {
    if (used + bytes <= block.length) return false
    cut()
    const isFull = block.length >= sliceBytes
    block = Buffer.allocUnsafeSlow(Math.max(Math.min(sliceBytes, sliceGrowth * block.length), bytes))
    start = used = 0
    return isFull
  }
  for (const piece of jsonPieces(value)) {
    if (typeof piece === 'string' && piece.length > smallBytes && piece.length < pieceUnits) {
      // A value between long texts, such as definitions of tools: its own slice takes no room that stays empty.
      cut()
      slices.push(Buffer.from(piece))
    } else if (typeof piece === 'string') {
      // At most three bytes of UTF-8 for a unit of UTF-16.
      if (reserve(3 * piece.length)) await setImmediate()
      used += block.write(piece, used)
    } else if (piece.length <= smallBytes) {
      if (reserve(piece.length)) await setImmediate()
      used += piece.copy(block, used)
    } else {
      cut()
      slices.push(piece)
    }
  }
  cut()
  return bodyBytes(slices) > wholeBytes ? slices : [Buffer.concat(slices)]
}

export function bodyBytes(body: EncodedBody): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body.reduce((sum, piece) => sum + piece.length, 0)
}

/** Hexadecimal SHA-256, also in slices. */
export async function hashBody(body: EncodedBody): Promise<string> {
  const hash = createHash('sha256')
  for (const piece of typeof body === 'string' ? [body] : body) {
    hash.update(piece)
    if (typeof body !== 'string') await setImmediate()
  }
  return hash.digest('hex')
}

/** UTF-16 units of the texts in a value, counted until they exceed `enough`; a `JsonText` is too long. */
function textUnits(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  if (value instanceof JsonText) return enough + 1
  let units = 0
  // Without lists of the values: every body passes here.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && units <= enough; index++) units += textUnits(value[index], enough)
  } else {
    for (const name in value) {
      units += textUnits((value as Record<string, unknown>)[name], enough)
      if (units > enough) break
    }
  }
  return units
}

/** The text of JSON.stringify, in pieces of at most about `pieceUnits` times the longest escape. */
function* jsonPieces(value: unknown): Generator<string | Buffer, void, void> {
  if (typeof value === 'string' && value.length > pieceUnits) yield* stringPieces(value)
  else if (value instanceof JsonText) {
    yield '"'
    yield* value.slices
    yield '"'
  } else if (typeof value !== 'object' || value === null || roomAfter(value, wholeUnits) >= 0)
    yield JSON.stringify(value ?? null)
  else if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) {
      yield index === 0 ? '[' : ','
      yield* jsonPieces(entry)
    }
    yield value.length === 0 ? '[]' : ']'
  } else {
    let opened = false
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      yield `${opened ? ',' : '{'}${JSON.stringify(name)}:`
      opened = true
      yield* jsonPieces(member)
    }
    yield opened ? '}' : '{}'
  }
}

const pieceUnits = 32 * 1024
/** A smaller value is written at once, in about 0.2 ms. */
const wholeUnits = 64 * 1024
/** Of a number or a word, and of the characters around a value, about. */
const smallUnits = 8

/** What is left of so many units after a value, whose names count as well; below 0 with the first value that does not fit. */
function roomAfter(value: unknown, units: number): number {
  if (value instanceof JsonText) return -1
  if (typeof value === 'string') return units - value.length
  let left = units - smallUnits
  if (typeof value !== 'object' || value === null) return left
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) left = roomAfter(value[index], left)
    return left
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    left -= name.length
    left = typeof member === 'string' ? left - member.length - smallUnits : roomAfter(member, left)
    if (left < 0) break
  }
  return left
}

function* stringPieces(text: string): Generator<string, void, void> {
  yield '"'
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + pieceUnits, text.length)
    // A surrogate pair must not be split: each half alone would be written as an escape.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--
    yield JSON.stringify(text.slice(start, end)).slice(1, -1)
    start = end
  }
  yield '"'
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
