import type { Dispatcher } from 'undici'
import { expect, test } from 'vitest'
import { freeMemory } from '../../platform/bodies/index.ts'
import { exchange } from './http-exchange.ts'

const megabyte = 1024 * 1024
const loopCount = () => performance.nodeTiming.uvMetricsInfo.loopCount

/** Sends a body to a connection that takes everything at once. Calls `taken` for each piece. */
function send(organisation: string, body: readonly Buffer[], taken: (bytes: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const dispatcher = {
      dispatch({ body: sent }: { body: AsyncIterable<Buffer> }) {
        const read = async () => {
          for await (const piece of sent) taken(piece.length)
        }
        read().then(resolve, reject)
      },
    } as unknown as Dispatcher
    const request = { method: 'POST' as const, url: 'http://provider.test/v1', headers: {}, body, adjusted: [] }
    const { signal } = new AbortController()
    const call = { owner: organisation, dispatcher, request, headers: {}, signal, maximumBytes: 1_000 }
    void exchange({ ...call, onClosed() {} })
  })
}

/** A text that came as one piece, and one in the pieces of its connection. */
const bodies = [
  ['of one slice', [Buffer.from('{'), Buffer.alloc(32 * megabyte)]],
  ['of many slices', Array.from({ length: 512 }, () => Buffer.alloc(64 * 1024))],
] as const

test.each(bodies)('a large body %s is sent over many turns of the event loop', async (_what, body) => {
  const ofLoop = new Map<number, number>()
  let sent = 0
  await send('one', body, (taken) => {
    sent += taken
    ofLoop.set(loopCount(), (ofLoop.get(loopCount()) ?? 0) + taken)
  })
  expect(sent).toBe(Buffer.concat(body).length)
  expect(Math.max(...ofLoop.values())).toBeLessThanOrEqual(4 * megabyte)
})

test('a body of another organisation does not wait for the large bodies of the first one', async () => {
  const ended: string[] = []
  const large = Array.from({ length: 8 }, () => send('flood', bodies[0][1], () => {}).then(() => ended.push('flood')))
  const small = send('other', [Buffer.alloc(100_000), Buffer.alloc(100_000)], () => {})
  await Promise.all([...large, small.then(() => ended.push('other'))])
  expect(ended[0]).toBe('other')
})

const isFree = ({ buffer }: Buffer) => (buffer as ArrayBuffer).detached

test('the memory of a body is freed only after its last piece was taken', async () => {
  const body = Array.from({ length: 3 }, () => Buffer.allocUnsafeSlow(64 * 1024))
  await send('one', body, () => freeMemory(body))
  expect(body.some(isFree)).toBe(false)
  freeMemory(body)
  expect(body.every(isFree)).toBe(true)
})

test('the memory of a body that was not sent to its end is not freed', async () => {
  const body = Array.from({ length: 3 }, () => Buffer.allocUnsafeSlow(64 * 1024))
  const failed = new Error('the connection was reset')
  const sending = send('one', body, () => {
    throw failed
  })
  await expect(sending).rejects.toBe(failed)
  freeMemory(body)
  expect(body.some(isFree)).toBe(false)
})
