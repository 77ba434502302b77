import { isUuid, type InstanceId, type RequestId } from '../../kernel/index.ts'
import type { EncodedBatch } from '../ledger-json.ts'
import type { HoldChange } from '../ledger.store.ts'
import { JournalError } from './journal-error.ts'

/** What the journal records: the writes of the hot path of the ledger, in the order of the decisions. */
export type JournalRecord = { instance: InstanceId; requestId: RequestId } & (
  | { kind: 'open'; hold: string }
  | { kind: 'change'; amountPicoUsd: bigint | null; outputTokens: number | null }
  | { kind: 'settle'; entry: string }
  /** The lease of some organisation has grown for so many times, in the database: what follows may rely on it. */
  | { kind: 'growth'; growths: number }
)

/** No request has it. */
export const noRequest = '' as RequestId

/** One line of JSON: kind, instance, request and what the kind needs. Holds and entries are already JSON. */
export function encodeRecord(record: JournalRecord): string {
  const head = `["${record.kind}","${record.instance}",${JSON.stringify(record.requestId)},`
  switch (record.kind) {
    case 'open':
      return `${head}${record.hold}]`
    case 'settle':
      return `${head}${record.entry}]`
    case 'change':
      return `${head}${record.amountPicoUsd === null ? 'null' : `"${record.amountPicoUsd}"`},${record.outputTokens}]`
    case 'growth':
      return `${head}${record.growths}]`
  }
}

export function decodeRecord(line: string): JournalRecord {
  const fields = JSON.parse(line) as unknown[]
  const [kind, instance, requestId, first, second] = fields
  if (typeof instance === 'string' && isUuid(instance) && typeof requestId === 'string') {
    const ids = { instance: instance as InstanceId, requestId: requestId as RequestId }
    if (kind === 'open') return { kind, ...ids, hold: JSON.stringify(first) }
    if (kind === 'settle') return { kind, ...ids, entry: JSON.stringify(first) }
    if (kind === 'growth' && typeof first === 'number') return { kind, ...ids, growths: first }
    if (kind === 'change') {
      const amountPicoUsd = typeof first === 'string' ? BigInt(first) : null
      return { kind, ...ids, amountPicoUsd, outputTokens: typeof second === 'number' ? second : null }
    }
  }
  throw new JournalError(`the ledger's journal has a record of an unknown kind: ${line.slice(0, 100)}`)
}

/** One row per request. A hold that is settled in the same batch is never written as an open hold. */
export function mergeRecords(records: readonly JournalRecord[]): EncodedBatch {
  const opens = new Map<RequestId, string>()
  const changes = new Map<RequestId, HoldChange>()
  const settlements = new Map<RequestId, { encoded: string; unopened: boolean }>()
  for (const record of records) {
    const { requestId } = record
    if (record.kind === 'open') opens.set(requestId, record.hold)
    else if (record.kind === 'growth') continue
    else if (record.kind === 'change') {
      const { amountPicoUsd, outputTokens } = record
      const before = changes.get(requestId)
      changes.set(requestId, {
        requestId,
        amountPicoUsd: amountPicoUsd ?? before?.amountPicoUsd ?? null,
        outputTokens: outputTokens ?? before?.outputTokens ?? null,
      })
    } else {
      settlements.set(requestId, { encoded: record.entry, unopened: opens.delete(requestId) })
      changes.delete(requestId)
    }
  }
  for (const [requestId, hold] of opens) {
    const change = changes.get(requestId)
    if (!change) continue
    opens.set(requestId, withChange(hold, change))
    changes.delete(requestId)
  }
  return { opens: [...opens.values()], changes: [...changes.values()], settlements: [...settlements.values()] }
}

function withChange(hold: string, { amountPicoUsd, outputTokens }: HoldChange): string {
  return JSON.stringify({
    ...(JSON.parse(hold) as object),
    ...(amountPicoUsd !== null && { amount_pico_usd: String(amountPicoUsd) }),
    ...(outputTokens !== null && { output_tokens: outputTokens }),
  })
}
