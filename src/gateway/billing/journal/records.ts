import { isUuid, type InstanceId, type RequestId } from '../../../platform/kernel/index.ts'
import { encodeChanges } from '../ledger-json.ts'
import type { Entry, HoldChange } from '../ledger-rows.ts'
import { type CallColumns, encodeCalls, isUsual } from './call-columns.ts'
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
