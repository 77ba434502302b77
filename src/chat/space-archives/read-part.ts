import type { z } from 'zod'
import { spaceArchiveLimits } from '../../contract/space-archives.ts'
import { readJson } from '../../platform/bodies/index.ts'
import { AppError, assertStorableTexts, createTimeSlices, isAppError } from '../../platform/kernel/index.ts'
import { badArchive } from './layout.ts'

/** Most values in one line; `readJson` also bounds the depth. */
const maximumValues = 20_000

/** The bytes of a part. Throws above the limit, before they are read. */
export async function readBytes(
  name: string,
  size: number,
  content: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Buffer> {
  if (size > limit) throw badArchive(`${name} has ${size} bytes; the limit is ${limit}`)
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** One JSON value. Throws naming the part. */
export function readValueOf<Schema extends z.ZodType>(name: string, schema: Schema, bytes: Buffer): z.output<Schema> {
  let value: unknown
  try {
    value = readJson(bytes, { shape: {}, maximumValues, field: name, read: (read) => read })
    assertStorableTexts(value)
  } catch (error) {
    if (!isAppError(error)) throw error
    throw badArchive(`${name}: ${withoutDot(error.message)}`, { cause: error })
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  throw badArchive(`${[name, ...path].join('.').slice(0, 200)}: ${message.slice(0, 300)}`)
}

/** The lines of a part. The event loop runs between them. */
export async function readLines<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  bytes: Buffer,
  maximumLines: number,
): Promise<z.output<Schema>[]> {
  const { lineBytes } = spaceArchiveLimits
  const slice = createTimeSlices()
  const values: z.output<Schema>[] = []
  for (let start = 0; start < bytes.length;) {
    await slice()
    if (values.length === maximumLines) throw badArchive(`${name} has more than ${maximumLines} lines`)
    const end = bytes.indexOf('\n', start)
    if (end === -1) throw badArchive(`${name} does not end with a line feed`)
    if (end - start > lineBytes) {
      throw badArchive(`line ${values.length + 1} of ${name} has ${end - start} bytes; the limit is ${lineBytes}`)
    }
    values.push(readValueOf(`${name}:${values.length + 1}`, schema, bytes.subarray(start, end)))
    start = end + 1
  }
  if (values.length === 0) throw badArchive(`${name} is empty`)
  return values
}

/** Runs a check of the service on a value of the archive; its message names the part. */
export function checkPart<Value>(name: string, check: () => Value): Value {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw badArchive(`${name}: ${withoutDot(error.message)}`, { cause: error })
  }
}

function withoutDot(message: string): string {
  return message.replace(/\.$/, '')
}
