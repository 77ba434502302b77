import { kindFields } from '../ledger-json.ts'
import type { Entry } from '../ledger-rows.ts'

/** Parameters of ledger_apply_calls: what many entries have in common as JSON, then an array for each of the other columns, in PostgreSQL's binary form. */
export type CallColumns = [kinds: string, ...columns: Buffer[]]

/** Fields of an entry that few calls have. They have no column in ledger_apply_calls: such an entry is a row of JSON. */
export function isUsual({ receipt, statedAttoUsd, tags }: Entry): boolean {
  return (
    tags === null &&
    statedAttoUsd === null &&
    receipt.rawUsage === null &&
    receipt.toolUses === undefined &&
    receipt.firstTokenMs === null &&
    receipt.failure === null &&
    receipt.schemaMismatch === null
  )
}

/** For entries that are all usual. */
export function encodeCalls(entries: readonly Entry[]): CallColumns {
  const kinds: string[] = []
  const known = new Map<string, number>()
  const numbers = entries.map(({ receipt }) => {
    const kind = kindFields(receipt)
    let number = known.get(kind)
    if (number === undefined) {
      number = kinds.length
      known.set(kind, number)
      kinds.push(`{"number":${number},${kind}}`)
    }
    return number
  })
  const int8s = (value: (receipt: Entry['receipt']) => number | bigint) =>
    int8Array(entries.map(({ receipt }) => value(receipt)))
  return [
    `[${kinds.join(',')}]`,
    textArray(entries.map(({ receipt }) => receipt.requestId)),
    int4Array(numbers),
    int8s(({ startedAt }) => Math.floor(startedAt)),
    int8s(({ settledAt }) => Math.floor(settledAt)),
    int8s(({ usage }) => usage.promptTokens),
    int8s(({ usage }) => usage.completionTokens),
    int8s(({ usage }) => usage.cachedTokens),
    int8s(({ usage }) => usage.cacheWriteTokens),
    int8s(({ usage }) => usage.reasoningTokens),
    int8s(({ billedPicoUsd }) => billedPicoUsd),
    int8s(({ writtenOffPicoUsd }) => writtenOffPicoUsd),
  ]
}

/** Ids of types in pg_type.dat, which do not change. */
const types = { int8: 20, int4: 23, text: 25 }
const headerBytes = 20

/** Room for an array of one dimension whose elements take so many bytes with their lengths; the elements follow the header. */
function startArray(type: number, length: number, elementBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + elementBytes)
  bytes.writeInt32BE(1, 0)
  // No nulls.
  bytes.writeInt32BE(0, 4)
  bytes.writeInt32BE(type, 8)
  bytes.writeInt32BE(length, 12)
  // The number of the first element.
  bytes.writeInt32BE(1, 16)
  return bytes
}

function int8Array(values: readonly (number | bigint)[]): Buffer {
  const bytes = startArray(types.int8, values.length, 12 * values.length)
  let at = headerBytes
  for (const value of values) {
    at = bytes.writeInt32BE(8, at)
    if (typeof value === 'bigint') at = bytes.writeBigInt64BE(value, at)
    else {
      at = bytes.writeInt32BE(Math.floor(value / 2 ** 32), at)
      at = bytes.writeUInt32BE(value >>> 0, at)
    }
  }
  return bytes
}

function int4Array(values: readonly number[]): Buffer {
  const bytes = startArray(types.int4, values.length, 8 * values.length)
  let at = headerBytes
  for (const value of values) at = bytes.writeInt32BE(value, bytes.writeInt32BE(4, at))
  return bytes
}

function textArray(values: readonly string[]): Buffer {
  const sizes = values.map((value) => Buffer.byteLength(value))
  const size = sizes.reduce((sum, each) => sum + each, 4 * values.length)
  const bytes = startArray(types.text, values.length, size)
  let at = headerBytes
  for (const [index, value] of values.entries()) {
    at = bytes.writeInt32BE(sizes[index]!, at)
    at += bytes.write(value, at)
  }
  return bytes
}
