import { AppError } from './errors.ts'

/** Checks and bounds for what comes from outside: bytes, texts, values of JSON, words and addresses. */

/** All bytes of a stream, null for none. Undefined if it has more than `maximumBytes`; it is closed then. */
export async function readAtMost(
  chunks: AsyncIterable<Uint8Array> | null,
  maximumBytes: number,
): Promise<Buffer | undefined> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks ?? []) {
    bytes += chunk.length
    if (bytes > maximumBytes) return undefined
    read.push(chunk)
  }
  return Buffer.concat(read)
}

/**
 * Refuses texts that PostgreSQL cannot store: with the character U+0000, or with half of a surrogate pair. Throws AppError naming
 * the field. The nesting of `value` must be bounded.
 */
export function assertStorableTexts(value: unknown, field = ''): void {
  if (typeof value === 'string') return assertStorable(value, field)
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    const place = field === '' ? name : `${field}.${name}`
    if (!Array.isArray(value)) assertStorable(name, place)
    assertStorableTexts(member, place)
  }
}

/** A copy of a JSON value in which U+FFFD replaces what PostgreSQL's jsonb cannot store: U+0000 and halves of surrogate pairs. */
export function toStorable<Value>(value: Value): Value {
  // JSON.stringify escapes exactly these; an escaped backslash is matched too, so that its second half begins no escape.
  const text = JSON.stringify(value).replaceAll(/\\(?:\\|u(?:0000|d[89a-f][0-9a-f]{2}))/g, (escape) =>
    escape === '\\\\' ? escape : '\\ufffd',
  )
  return JSON.parse(text) as Value
}

function assertStorable(text: string, field: string) {
  const problem = text.includes('\u0000')
    ? 'must not contain the character U+0000'
    : text.isWellFormed()
      ? undefined
      : 'must be valid Unicode: it contains half of a surrogate pair'
  if (problem === undefined) return
  const param = field.toWellFormed().replaceAll('\u0000', '').slice(0, 200)
  const where = param === '' ? 'The request body' : `\`${param}\``
  throw new AppError('invalid_request', `${where} ${problem}.`, param === '' ? {} : { param })
}

/** An object of JSON, not null and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The value of a word that comes from outside; undefined where the table has none. A plain index also finds what every object inherits:
 * `table['constructor']` is a function.
 */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, word: string | null): Value | undefined {
  return word !== null && Object.hasOwn(table, word) ? table[word] : undefined
}

/**
 * A text as the address of a web page, null where it is none. Only http and https: everything else may run code or open local files.
 * It is read as browsers do, which drop tabs and line breaks (`java\tscript:`).
 */
export function toWebUrl(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed.includes('\u0000') || !trimmed.isWellFormed() || !URL.canParse(trimmed)) return null
  const url = new URL(trimmed)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
  // White space and control characters only as the parser has read them.
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0020\u007f-\u009f]/.test(trimmed) || !/^https?:\/\//i.test(trimmed) ? url.href : trimmed
}

/** The beginning and the end of a text that is too long, with a line break between them: at most `maximumCharacters` UTF-16 units. */
export function cutMiddle(text: string, maximumCharacters: number): string {
  if (text.length <= maximumCharacters) return text
  const half = Math.floor((maximumCharacters - 1) / 2)
  return `${text.slice(0, half)}\n${text.slice(-half)}`.toWellFormed()
}
