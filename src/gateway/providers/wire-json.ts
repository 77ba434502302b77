import { isObject } from '../../platform/kernel/index.ts'

/**
 * Tolerant reading of vendors' JSON: a missing or unexpected field reads as empty, so that a new field or a null never breaks an answer.
 * The mapping that requires a field checks it.
 */

export type JsonObject = Record<string, unknown>

/** The value of `text`, or undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The object in `text`, or undefined if it is not a JSON object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

const utf8 = new TextDecoder()

export function decodeJsonObject(body: Uint8Array): JsonObject | undefined {
  // A buffer decodes a short answer faster, but keeps a byte order mark.
  const isPlain = Buffer.isBuffer(body) && body[0] !== 0xef
  return parseJsonObject(isPlain ? body.toString() : utf8.decode(body))
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function asString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Part of an error text that is read, in UTF-16 units; bounds the time of every pattern applied to it. */
const maximumMessageUnits = 4_000

/** The text of an error, or the start of a long one up to a space, so that no half of a secret remains. */
export function asMessage(value: unknown): string {
  const text = asString(value)
  if (text.length <= maximumMessageUnits) return text
  const end = text.lastIndexOf(' ', maximumMessageUnits)
  return text.slice(0, end > 0 ? end : maximumMessageUnits)
}

/** A string that is not blank, else null. */
export function asName(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A count of tokens: a finite number of 0 or more (some hosts send 12.0), else undefined. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.trunc(value) : undefined
}
