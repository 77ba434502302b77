import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTestFolder, openTestDatabases, type TestDatabases } from '../../../../test/harness/database.ts'
import {
  createInstanceId,
  createOrganisationId,
  createRequestId,
  createUuid,
  type InstanceId,
  type RequestId,
  type SpaceId,
} from '../../../platform/kernel/index.ts'
import { encodeEntry, type Entry } from '../ledger-rows.ts'
import { journalFiles } from './journal-format.ts'
import { JournalLog } from './journal-log.ts'
import { applyRecords, replaceJournal } from './journal.store.ts'
import {
  decodeRecord,
  encodeRecord,
  isUsual,
  type JournalRecord,
  lineOf,
  mergeRecords,
  type NewRecord,
  storedRecord,
} from './records.ts'

const instance = createUuid() as InstanceId
const idOf = (name: string) => name as RequestId
const row = (name: string, text: string) => JSON.stringify({ request_id: name, amount_pico_usd: '5', model: text })

/** Three calls: one settled, one open that has grown, one settled whose hold is in an earlier batch. Not all of it is ASCII. */
const records: NewRecord[] = [
  { kind: 'open', instance, requestId: idOf('req_ü"1'), row: row('req_ü"1', 'plain') },
  { kind: 'open', instance, requestId: idOf('req_2'), row: row('req_2', 'ü € 😀 {') },
  { kind: 'change', instance, requestId: idOf('req_2'), amountPicoUsd: 7n, outputTokens: 3 },
  { kind: 'change', instance, requestId: idOf('req_4'), amountPicoUsd: null, outputTokens: 9 },
  { kind: 'settle', instance, requestId: idOf('req_ü"1'), row: row('req_ü"1', '€') },
  { kind: 'settle', instance, requestId: idOf('req_3'), row: row('req_3', 'ascii') },
]
const merged = {
  opens: [{ request_id: 'req_2', amount_pico_usd: '7', model: 'ü € 😀 {', output_tokens: 3 }],
  changes: { req_4: [null, 9] },
  settlements: [
    { unopened: true, request_id: 'req_ü"1', amount_pico_usd: '5', model: '€' },
    { unopened: false, request_id: 'req_3', amount_pico_usd: '5', model: 'ascii' },
  ],
}

function parse([opens, changes, settlements]: ReturnType<typeof mergeRecords>): unknown {
  const [first, second, third] = [opens, changes, settlements].map((json) => JSON.parse(String(json)) as unknown)
  return { opens: first, changes: second, settlements: third }
}

test('records are one batch for the database, from the bytes of their frames and from lines of a journal', async () => {
  const folder = path.join(makeTestFolder(), 'journal')
  fs.mkdirSync(folder)
  const options = { folder, files: journalFiles, journalId: createUuid(), lastSequence: 0, applied: [] }
  const log = await JournalLog.open({ ...options, segmentBytes: 64 * 1024 })
  const stored = []
  // Frames with other characters than ASCII, and one without.
  for (const part of [records.slice(0, 3), records.slice(3, 5), records.slice(5)]) {
    const lines = part.map(encodeRecord)
    await log.makeRoom(lines)
    const places = await log.append(lines)
    for (const [place, record] of part.entries()) stored.push(storedRecord(record, places[place]!))
  }
  await log.close()
  fs.rmSync(path.dirname(folder), { recursive: true })
  expect(stored.map(lineOf)).toEqual(records.map(encodeRecord))
  expect(parse(mergeRecords(stored))).toEqual(merged)
  expect(parse(mergeRecords(records.map((record) => decodeRecord(encodeRecord(record)))))).toEqual(merged)
  expect(parse(mergeRecords([]))).toEqual({ opens: [], changes: {}, settlements: [] })
})

let databases: TestDatabases
const writing: InstanceId = createInstanceId()
const journalId = createUuid()
const holder = createUuid()
const organisationId = createOrganisationId()
let sequence = 0

beforeAll(async () => {
  databases = await openTestDatabases()
  await databases.control.execute('insert into ledger_instances (instance_id) values ($1)', [writing])
  await replaceJournal(databases.control, journalId, holder)
})
afterAll(() => databases.drop())

function entryOf(number: number, changes: Partial<Entry['receipt']> = {}): Entry {
  return {
    receipt: {
      requestId: createRequestId(),
      organisationId,
      surface: 'gateway',
      spaceId: number % 3 === 0 ? (createUuid() as SpaceId) : null,
      model: `model "${number % 2}" ü`,
      deploymentId: number % 5 === 0 ? null : 'deployment/1',
      providerId: 'provider',
      hosting: 'eu',
      startedAt: 1_795_000_000_000 + number * 977,
      settledAt: 1_795_000_000_999 + number * 1_009,
      period: '2026-11-01',
      usage: {
        promptTokens: number * 5_000_000_000,
        completionTokens: number,
        cachedTokens: 4_294_967_295,
        cacheWriteTokens: 4_294_967_296,
        reasoningTokens: 0,
      },
      unitPrices: { input: 1n, output: 2n, cacheRead: 3n, cacheWrite: 4n, reasoning: 9_000_000_000_000_000_000n },
      priceSource: 'portico.yaml',
      costBasis: 'tokens',
      rawUsage: null,
      baseCostPicoUsd: 0n,
      markupBasisPoints: 250,
      billedPicoUsd: 9_007_199_254_740_993n + BigInt(number),
      writtenOffPicoUsd: BigInt(number),
      estimated: number % 2 === 0,
      ending: 'completed',
      finishReason: number % 4 === 0 ? null : 'stop',
      firstTokenMs: null,
      failure: null,
      schemaMismatch: null,
      ...changes,
    },
    statedAttoUsd: null,
    tags: null,
  }
}

/** Hold and settlement; without `entry`, as the journal is read at a start. */
function recordsOf(entry: Entry, isRead: boolean): JournalRecord[] {
  const ids = { instance: writing, requestId: entry.receipt.requestId }
  const read = (kind: 'open' | 'settle', row: string) => decodeRecord(encodeRecord({ kind, ...ids, row }))
  const settled = read('settle', encodeEntry(entry))
  return [read('open', '{}'), isRead || settled.kind !== 'settle' ? settled : { ...settled, entry }]
}

function apply(records: readonly JournalRecord[]) {
  const [first, last] = [sequence + 1, sequence + records.length]
  sequence = last
  const place = { journalId, holder, growths: 0, first, last, instance: writing }
  const options = { signal: new AbortController().signal, timeoutMs: 30_000 }
  return applyRecords(databases.control, place, mergeRecords(records), options)
}

function loadRows(entries: readonly Entry[]) {
  return databases.control.query<Record<string, unknown>>(
    `select to_jsonb(e) - 'request_id' - 'space_id' as row, space_id is null as no_space from ledger_entries e
     where request_id = any($1::text[]) order by started_at, request_id`,
    [entries.map(({ receipt }) => receipt.requestId)],
  )
}

test('a call of this process has the row that its record in the journal gives', async () => {
  const numbers = Array.from({ length: 300 }, (_, index) => index)
  const ours = numbers.map((number) => entryOf(number))
  const read = numbers.map((number) => entryOf(number))
  expect(ours.every(isUsual)).toBe(true)
  const isApplied = { applied: true, rejected: 0 }
  expect(await apply(ours.flatMap((entry) => recordsOf(entry, false)))).toMatchObject(isApplied)
  expect(await apply(read.flatMap((entry) => recordsOf(entry, true)))).toMatchObject(isApplied)
  const rows = await loadRows(ours)
  expect(rows).toHaveLength(300)
  expect(rows).toEqual(await loadRows(read))
})

test('an entry with a field that has no column keeps it', async () => {
  const entries = [
    { ...entryOf(1), tags: { user: 'someone' } },
    { ...entryOf(2), statedAttoUsd: 7n },
    entryOf(3, { rawUsage: { total: 1 } }),
    entryOf(4, { firstTokenMs: 12 }),
    entryOf(5, { failure: 'provider_failed', ending: 'unanswered' }),
    entryOf(6, { schemaMismatch: 'required' }),
  ] as Entry[]
  expect(entries.some(isUsual)).toBe(false)
  expect(await apply(entries.flatMap((entry) => recordsOf(entry, false)))).toMatchObject({ applied: true, rejected: 0 })
  const rows = (await loadRows(entries)).map(({ row }) => row)
  expect(rows).toMatchObject([
    {},
    { stated_atto_usd: 7 },
    { raw_usage: { total: 1 } },
    { first_token_ms: 12 },
    { failure: 'provider_failed' },
    { schema_mismatch: 'required' },
  ])
  const tagged = await databases.control.query('select tags from usage_queued_tags where request_id = $1', [
    entries[0]!.receipt.requestId,
  ])
  expect(tagged).toEqual([{ tags: { user: 'someone' } }])
})

test('a call whose id was used before is kept for the operator, and the others are entered', async () => {
  const [used, other] = [entryOf(1), entryOf(2)]
  await apply(recordsOf(used, false))
  const again: Entry = { ...entryOf(7), receipt: { ...entryOf(7).receipt, requestId: used.receipt.requestId } }
  const result = await apply([...recordsOf(again, false), ...recordsOf(other, false)])
  expect(result).toMatchObject({ applied: true, rejected: 1 })
  expect(await loadRows([used, other])).toHaveLength(2)
  const rejects = await databases.control.query<{ reason: string; record: string }>(
    'select reason, record from ledger_journal_rejects where request_id = $1',
    [used.receipt.requestId],
  )
  expect(rejects).toMatchObject([{ reason: 'the request id was used before' }])
  expect(JSON.parse(rejects[0]!.record)).toMatchObject({ completion_tokens: 7, model: 'model "1" ü' })
})
