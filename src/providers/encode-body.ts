import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

/** A JSON body to send: text, or the UTF-8 pieces of a long one. */
export type EncodedBody = string | readonly Buffer[]

/** A body with more text than this is encoded in slices of about 2 ms. */
const sliceUnits = 256 * 1024
const sliceBytes = 512 * 1024

/**
 * `JSON.stringify` that does not block the event loop: a prompt of 33 MiB would block it for 100 to 700 ms. Values are what adapters build:
 * plain objects, arrays, texts, numbers.
 */
export function encodeBody(value: unknown): EncodedBody | Promise<EncodedBody> {
  return textUnits(value, sliceUnits) <= sliceUnits ? JSON.stringify(value) : encodeInSlices(value)
}

async function encodeInSlices(value: unknown): Promise<EncodedBody> {
  const slices: Buffer[] = []
  let slice = Buffer.allocUnsafeSlow(sliceBytes)
  let used = 0
  for (const piece of jsonPieces(value)) {
    // At most three bytes of UTF-8 for a unit of UTF-16.
    if (used + 3 * piece.length > slice.length) {
      if (used > 0) slices.push(slice.subarray(0, used))
      slice = Buffer.allocUnsafeSlow(Math.max(sliceBytes, 3 * piece.length))
      used = 0
      await setImmediate()
    }
    used += slice.write(piece, used)
  }
  slices.push(slice.subarray(0, used))
  return slices
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

/** UTF-16 units of the texts in a value, counted until they exceed `enough`. */
function textUnits(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
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
function* jsonPieces(value: unknown): Generator<string, void, void> {
  if (typeof value === 'string' && value.length > pieceUnits) yield* stringPieces(value)
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value ?? null)
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
