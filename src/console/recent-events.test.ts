import { describe, expect, test } from 'vitest'
import { type Log, silentLog } from '../platform/kernel/index.ts'
import { createRecentEvents } from './recent-events.ts'

const atMs = Date.UTC(2026, 10, 21, 12)
const open = () => createRecentEvents(() => atMs)

describe('recent events', () => {
  test('are the warnings and errors, newest first, with the fields of child logs', () => {
    const events = open()
    const log = events.record(silentLog)
    log.info({}, 'nothing')
    log.warn({ delayMs: 20 }, 'a job failed')
    log.child({ requestId: 'req_1' }).error({ error: 'no' }, 'a call failed')
    expect(events.list()).toEqual([
      {
        sequence: 2,
        at: '2026-11-21T12:00:00.000Z',
        level: 'error',
        message: 'a call failed',
        fields: { requestId: 'req_1', error: 'no' },
      },
      {
        sequence: 1,
        at: '2026-11-21T12:00:00.000Z',
        level: 'warn',
        message: 'a job failed',
        fields: { delayMs: '20' },
      },
    ])
  })

  test('still reach the log', () => {
    const lines: string[] = []
    const log: Log = { ...silentLog, warn: (_fields, message) => lines.push(message) }
    open().record(log).warn({}, 'seen')
    expect(lines).toEqual(['seen'])
  })

  test('are bounded in number, fields and length', () => {
    const events = open()
    const log = events.record(silentLog)
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field${index}`, 'x'.repeat(10_000)]))
    for (let index = 0; index < 1_000; index++) log.warn(fields, 'm'.repeat(10_000))
    const list = events.list()
    expect(list).toHaveLength(200)
    expect(list[0]!.sequence).toBe(1_000)
    expect(JSON.stringify(list[0]).length).toBeLessThan(6_000)
  })

  test('have neither secrets nor nested values', () => {
    const events = open()
    const secret = 'sk-secret'
    const nested = {
      request: { apiKey: secret },
      list: [secret],
      headers: secret,
      Authorization: secret,
      stack: secret,
    }
    events.record(silentLog).error({ ...nested, apiKey: secret, code: 'kept' }, 'failed')
    expect(JSON.stringify(events.list())).not.toContain(secret)
    expect(events.list()[0]!.fields).toEqual({ request: '{…}', list: '[1]', code: 'kept' })
  })
})
