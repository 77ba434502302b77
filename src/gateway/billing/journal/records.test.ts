import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { makeTestFolder } from '../../../../test/harness/database.ts'
import { createUuid, type InstanceId, type RequestId } from '../../../platform/kernel/index.ts'
import { journalFiles } from './journal-files.ts'
import { JournalLog } from './journal-log.ts'
import { decodeRecord, encodeRecord, lineOf, mergeRecords, type NewRecord, storedRecord } from './records.ts'

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
