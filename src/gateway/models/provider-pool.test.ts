import { expect, test } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { silentLog } from '../../platform/kernel/index.ts'
import type { Provider, ProviderCall, ProviderEvent, ProviderSettings } from '../providers/index.ts'
import { createProviderPool } from './provider-pool.ts'
import { providerError } from './testing/catalogue-fixture.ts'

const settings = (apiKey: string): ProviderSettings => ({ id: 'p', format: 'openai', apiKey })
const call = (signal = new AbortController().signal) => ({ signal, requestId: 'r' }) as unknown as ProviderCall

function setUp() {
  const clock = createFakeClock()
  const closed: string[] = []
  const gates = { complete: Promise.withResolvers<void>(), stream: Promise.withResolvers<void>() }
  const pool = createProviderPool({
    clock,
    log: silentLog,
    createProvider: (made) =>
      ({
        id: made.id,
        complete: async () => {
          await gates.complete.promise
          return { text: made.apiKey }
        },
        stream: () =>
          Promise.resolve({
            adjusted: [],
            providerRequestId: null,
            events: (async function* (): AsyncGenerator<ProviderEvent[]> {
              yield [{ type: 'text', text: 'one' }]
              await gates.stream.promise
              yield [{ type: 'text', text: 'two' }]
            })(),
          }),
        close: () => {
          closed.push(made.apiKey!)
          return Promise.resolve()
        },
      }) as unknown as Provider,
  })
  pool.replace([settings('old')])
  return { pool, clock, closed, gates }
}

test('a replaced provider closes after its last call; new calls use the new one', async () => {
  const { pool, clock, closed, gates } = setUp()
  const running = pool.get('p').complete(call())
  pool.replace([settings('new')])
  await clock.advance(0)
  expect(closed).toEqual([])
  const later = pool.get('p').complete(call())
  gates.complete.resolve()
  expect([(await running).text, (await later).text]).toEqual(['old', 'new'])
  await clock.advance(0)
  expect(closed).toEqual(['old'])
})

test('a stream keeps its provider open until its end', async () => {
  const { pool, clock, closed, gates } = setUp()
  const stream = await pool.get('p').stream(call())
  const events = stream.events[Symbol.asyncIterator]()
  await events.next()
  pool.replace([])
  await clock.advance(0)
  expect(closed).toEqual([])
  gates.stream.resolve()
  await events.next()
  await events.next()
  await clock.advance(0)
  expect(closed).toEqual(['old'])
})

test('a stream whose reader stops releases its provider', async () => {
  const { pool, clock, closed } = setUp()
  const stream = await pool.get('p').stream(call())
  for await (const _events of stream.events) break
  pool.replace([])
  await clock.advance(0)
  expect(closed).toEqual(['old'])
})

test('a stream that was never read releases its provider when its client disconnects', async () => {
  const { pool, clock, closed } = setUp()
  const client = new AbortController()
  await pool.get('p').stream(call(client.signal))
  pool.replace([])
  await clock.advance(0)
  expect(closed).toEqual([])
  client.abort(providerError('cancelled'))
  await clock.advance(0)
  expect(closed).toEqual(['old'])
})

test('closing waits for calls in flight', async () => {
  const { pool, clock, closed, gates } = setUp()
  const running = pool.get('p').complete(call())
  const closing = pool.close()
  await clock.advance(0)
  expect(closed).toEqual([])
  gates.complete.resolve()
  await running
  await closing
  expect(closed).toEqual(['old'])
})

test('a missing provider is an upstream error, not a client error', () => {
  const { pool } = setUp()
  expect(() => pool.get('nobody')).toThrowError(expect.objectContaining({ code: 'upstream_error' }))
})
