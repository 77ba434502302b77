import { AppError } from '../kernel/index.ts'
import { type BodyLimits, scanJson } from './json-scan.ts'
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
