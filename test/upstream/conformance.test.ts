import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedDataFolder } from '../harness/shared-data.ts'
import { replayRecord } from './replay-record.ts'
import { startUpstream, type Upstream } from './upstream.ts'
import { readWireIndex, type WireRecord } from './wire-index.ts'

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())

const shared = sharedDataFolder('wire')

describe.skipIf(!shared)(
  shared ? 'the shared recordings' : 'the shared recordings (skipped: shared data not found)',
  () => {
    const index = shared ? readWireIndex(shared) : undefined
    test.each((index?.records ?? []).map((record) => [record.id, record] as const))(
      '%s comes out as expected through real HTTP, however it is cut',
      async (_id, record) => {
        expect(await replayRecord(record, index!.bodyOf(record), upstream)).toEqual([])
      },
    )
  },
)

describe('records of this repository', () => {
  const index = readWireIndex(path.join(import.meta.dirname, 'records'))
  test.each(index.records.map((record) => [record.id, record] as const))(
    '%s comes out as expected through real HTTP, however it is cut',
    async (_id, record) => {
      expect(await replayRecord(record, index.bodyOf(record), upstream)).toEqual([])
    },
  )

  const stream = index.records.find(({ kind }) => kind === 'stream')!
  const whole = index.records.find(({ kind }) => kind === 'nonstream')!
  const error = index.records.find(({ kind }) => kind === 'error')!
  test.each<[string, WireRecord, object]>([
    ['a text', stream, { text: 'something else' }],
    ['a finish reason', stream, { finish_reason: 'length' }],
    ['a count of tokens', whole, { usage: { prompt_tokens: 1 } }],
    ['usage where none is expected', whole, { usage: null }],
    ['a tool call', whole, { tool_calls: [{ name: 'weather', arguments: {} }] }],
    ['hidden reasoning', stream, { reasoning_text: 'hm' }],
    ['an error class', error, { error_class: 'quota' }],
    ['a retry flag', error, { retryable: true }],
    ['an error message', error, { message_contains: 'the moon' }],
  ])('%s that differs is reported', async (_what, record, expected) => {
    const changed = { ...record, expected: { ...record.expected, ...expected } }
    expect(await replayRecord(changed, index.bodyOf(record), upstream)).toHaveLength(1)
  })

  test('a body that stops before its end is reported', async () => {
    const body = index.bodyOf(stream)
    const differences = await replayRecord(stream, body.subarray(0, Math.floor(body.length / 2)), upstream)
    expect(differences[0]).toMatch(/^failed: connection/)
  })

  test('an unknown format is reported', async () => {
    const odd = { ...whole, api: 'carrier-pigeon' }
    expect(await replayRecord(odd, index.bodyOf(whole), upstream)).toEqual(['api: no format reads carrier-pigeon'])
  })
})
