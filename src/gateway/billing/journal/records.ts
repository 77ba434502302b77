import { type InstanceId, isUuid, type RequestId } from '../../../platform/kernel/index.ts'
import { encodeChanges, type Entry, type HoldChange, kindFields } from '../ledger-rows.ts'
import { JournalError } from './journal-error.ts'

/** JSON in UTF-8: a part of `bytes`. The rows of waiting records are there, and not on the JavaScript heap, which would copy them again and again. */
export interface JsonBytes {
  bytes: Buffer
  start: number
  end: number
}

/** What the journal records: the writes of the hot path of the ledger, in the order of the decisions. */
export type JournalRecord<Row = JsonBytes> = { instance: InstanceId; requestId: RequestId } & (
  | { kind: 'open'; row: Row }
  | { kind: 'change'; amountPicoUsd: bigint | null; outputTokens: number | null }
  /** `entry`: the row of a settlement of this process, which is not read from the journal. */
  | { kind: 'settle'; row: Row; entry?: Entry | undefined }
)

/** With the row as text, before it is in the journal. */
export type NewRecord = JournalRecord<string>

/** One line of JSON: kind, instance, request and what the kind needs. */
export function encodeRecord(record: NewRecord): string {
  const head = `["${record.kind}","${record.instance}",${JSON.stringify(record.requestId)},`
  switch (record.kind) {
    case 'open':
    case 'settle':
      return `${head}${record.row}]`
    case 'change':
      return `${head}${record.amountPicoUsd === null ? 'null' : `"${record.amountPicoUsd}"`},${record.outputTokens}]`
  }
}

/** The record whose line is in the bytes. */
export function storedRecord(record: NewRecord, line: JsonBytes): JournalRecord {
  if (record.kind !== 'open' && record.kind !== 'settle') return record
  const { kind, instance, requestId } = record
  // The row is the last field of the array.
  const end = line.end - 1
  const row = { bytes: line.bytes, start: end - Buffer.byteLength(record.row), end }
  return kind === 'open' ? { kind, instance, requestId, row } : { kind, instance, requestId, row, entry: record.entry }
}

/** For a message. */
export function lineOf(record: JournalRecord): string {
  const isRow = record.kind === 'open' || record.kind === 'settle'
  return encodeRecord(isRow ? { ...record, row: textOf(record.row) } : record)
}

export function decodeRecord(line: string): JournalRecord {
  const fields = JSON.parse(line) as unknown[]
  const [kind, instance, requestId, first, second] = fields
  if (typeof instance === 'string' && isUuid(instance) && typeof requestId === 'string') {
    const ids = { instance: instance as InstanceId, requestId: requestId as RequestId }
    if (kind === 'open' || kind === 'settle') return { kind, ...ids, row: toBytes(first) }
    if (kind === 'change') {
      const amountPicoUsd = typeof first === 'string' ? BigInt(first) : null
      return { kind, ...ids, amountPicoUsd, outputTokens: typeof second === 'number' ? second : null }
    }
  }
  throw new JournalError(`the ledger's journal has a record of an unknown kind: ${line.slice(0, 100)}`)
}

/** Parameters of ledger_apply_calls: holds, changes and settlements, then calls that are whole in the batch. */
export type StoredBatch = [opens: Buffer, changes: string, settlements: Buffer, ...calls: CallColumns]

/** One row per request. A hold that is settled in the same batch is never written as an open hold. */
export function mergeRecords(records: readonly JournalRecord[]): StoredBatch {
  const opens = new Map<RequestId, JsonBytes>()
  const changes = new Map<RequestId, HoldChange>()
  const settlements = new Map<RequestId, { row: JsonBytes; unopened: boolean }>()
  const calls: Entry[] = []
  for (const record of records) {
    const { requestId } = record
    if (record.kind === 'open') opens.set(requestId, record.row)
    else if (record.kind === 'change') {
      const { amountPicoUsd, outputTokens } = record
      const before = changes.get(requestId)
      changes.set(requestId, {
        requestId,
        amountPicoUsd: amountPicoUsd ?? before?.amountPicoUsd ?? null,
        outputTokens: outputTokens ?? before?.outputTokens ?? null,
      })
    } else {
      const unopened = opens.delete(requestId)
      if (unopened && record.entry && isUsual(record.entry)) calls.push(record.entry)
      else settlements.set(requestId, { row: record.row, unopened })
      changes.delete(requestId)
    }
  }
  for (const [requestId, hold] of opens) {
    const change = changes.get(requestId)
    if (!change) continue
    opens.set(requestId, withChange(hold, change))
    changes.delete(requestId)
  }
  return [
    arrayOf([...opens.values()].map((row) => ({ row, opening: plainOpening }))),
    encodeChanges([...changes.values()]),
    arrayOf(
      [...settlements.values()].map(({ row, unopened }) => ({
        row,
        opening: unopened ? unopenedOpening : openedOpening,
      })),
    ),
    ...encodeCalls(calls),
  ]
}

const plainOpening = Buffer.from('{')
const unopenedOpening = Buffer.from('{"unopened":true,')
const openedOpening = Buffer.from('{"unopened":false,')
const [bracket, closingBracket, comma] = Buffer.from('[],')

/** A JSON array of the rows, each with the opening instead of its brace. */
function arrayOf(rows: readonly { row: JsonBytes; opening: Buffer }[]): Buffer {
  const size = rows.reduce((sum, { row, opening }) => sum + opening.length + row.end - row.start, 1)
  // A comma takes the place of each brace; an array without rows has two brackets.
  const target = Buffer.allocUnsafe(Math.max(size, 2))
  let at = 0
  for (const { row, opening } of rows) {
    target[at] = at === 0 ? bracket! : comma!
    at += 1
    target.set(opening, at)
    at += opening.length
    at += row.bytes.copy(target, at, row.start + 1, row.end)
  }
  if (at === 0) target[at++] = bracket!
  target[at] = closingBracket!
  return target
}

function withChange(hold: JsonBytes, { amountPicoUsd, outputTokens }: HoldChange): JsonBytes {
  return toBytes({
    ...(JSON.parse(textOf(hold)) as object),
    ...(amountPicoUsd !== null && { amount_pico_usd: String(amountPicoUsd) }),
    ...(outputTokens !== null && { output_tokens: outputTokens }),
  })
}

function toBytes(value: unknown): JsonBytes {
  const bytes = Buffer.from(JSON.stringify(value))
  return { bytes, start: 0, end: bytes.length }
}

function textOf({ bytes, start, end }: JsonBytes): string {
  return bytes.toString('utf8', start, end)
}

/** Parameters of ledger_apply_calls: what many entries have in common as JSON, then an array for each of the other columns, in PostgreSQL's binary form. */
type CallColumns = [kinds: string, ...columns: Buffer[]]

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
function encodeCalls(entries: readonly Entry[]): CallColumns {
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
