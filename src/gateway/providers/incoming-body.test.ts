import { expect, test } from 'vitest'
import { loopTurn } from '../../platform/kernel/index.ts'
import { IncomingBody } from './incoming-body.ts'

const controller = { paused: false, pause() {}, resume() {}, abort() {} } as never

function incomingOf(owner: string, maximumBytes = 1_000) {
  return new IncomingBody({ owner, signal: new AbortController().signal, maximumBytes, onClosed() {} }, () => {})
}

test.each([
  ['in small reads', Array.from({ length: 1_000 }, () => 100)],
  ['in one read', [100_000]],
  ['in tiny reads', Array.from({ length: 1_000 }, () => 1)],
])('a stream that has received much %s gets a part of it in each step, and all of it', async (_what, sizes) => {
  const incoming = incomingOf('flood', 100_000)
  const sent = sizes.map((size, index) => new Uint8Array(size).fill(index))
  for (const bytes of sent) incoming.take(controller, bytes)
  incoming.end()
  const steps: Uint8Array[][] = []
  for await (const step of incoming) steps.push(step)
  for (const step of steps) {
    expect(step.length).toBeLessThanOrEqual(32)
    expect(Buffer.concat(step).length).toBeLessThan(5_000)
  }
  expect(Buffer.concat(steps.flat()).equals(Buffer.concat(sent))).toBe(true)
})

function createConnection() {
  const calls: string[] = []
  const connection = {
    paused: false,
    pause() {
      this.paused = true
      calls.push('pause')
    },
    resume() {
      this.paused = false
      calls.push('resume')
    },
  }
  return { calls, connection: connection as never }
}

test('a connection is read no further while much of its stream waits, and again when nothing does', async () => {
  const { calls, connection } = createConnection()
  const incoming = incomingOf('flood', 100_000)
  incoming.started(connection)
  incoming.take(connection, new Uint8Array(32 * 1024))
  expect(calls).toEqual([])
  incoming.take(connection, new Uint8Array(1))
  expect(calls).toEqual(['pause'])
  const reads = incoming[Symbol.asyncIterator]()
  for (let step = 0; step < 8; step++) await reads.next()
  expect(calls).toEqual(['pause'])
  await reads.next()
  expect(calls).toEqual(['pause', 'resume'])
})

test('a connection is not read while its stream waits for a turn of the event loop', async () => {
  const { calls, connection } = createConnection()
  const incoming = incomingOf('flood')
  incoming.started(connection)
  // One event uses what runs at once in a turn.
  while (!loopTurn('flood'));
  incoming.take(connection, new Uint8Array(1))
  const reading = incoming[Symbol.asyncIterator]().next()
  expect(calls).toEqual(['pause'])
  await reading
  expect(calls).toEqual(['pause', 'resume'])
})

test('reads of one organisation delay those of another by one each, however many arrive at once', async () => {
  const order: string[] = []
  function read(organisation: string) {
    const incoming = incomingOf(organisation)
    async function readAll() {
      for await (const _ of incoming) {
        order.push(organisation)
        const untilMs = performance.now() + 2
        while (performance.now() < untilMs);
      }
    }
    return { incoming, reading: readAll() }
  }
  const bodies = [...Array.from({ length: 60 }, () => read('flood')), read('other')]
  for (const { incoming } of bodies) {
    incoming.take(controller, new Uint8Array(10))
    incoming.end()
  }
  await Promise.all(bodies.map(({ reading }) => reading))
  expect(order).toHaveLength(61)
  expect(order.indexOf('other')).toBeLessThan(40)
})
