import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createSlowBodies, SlowReads } from './body-arrival.ts'

/** Which bodies are ended; test/acceptance/slow-clients.test.ts has those of real clients. */

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it.each([
  ['ends a body of which nothing arrives', {}, 1],
  ['waits for the service while bytes are unread', { readableLength: 100 }, 0],
  ['waits for the service when the whole body has arrived and was read', { complete: true }, 0],
])('%s', (_what, state, failures) => {
  const request = { complete: false, readableLength: 0, socket: { bytesRead: 500 }, ...state }
  const fail = vi.fn<(error: Error) => void>()
  createSlowBodies(5_000, { add() {} }).watch(request as IncomingMessage, 'org', fail)
  vi.advanceTimersByTime(4_000)
  expect(fail).not.toHaveBeenCalled()
  vi.advanceTimersByTime(60_000)
  expect(fail).toHaveBeenCalledTimes(failures)
})

it.each([
  ['slow', 0, 1],
  ['fast', 100_000, 0],
])('reads a %s body in turns: %i bytes in half a second', (_what, bytes, expected) => {
  const socket = { bytesRead: 500 }
  const request = { complete: false, readableLength: 0, socket } as unknown as IncomingMessage
  const add = vi.fn<(read: IncomingMessage, owner: string) => void>()
  createSlowBodies(5_000, { add }).watch(request, 'org', () => {})
  socket.bytesRead += bytes
  vi.advanceTimersByTime(500)
  expect(add.mock.calls.slice(0, 1)).toHaveLength(expected)
})

/** Which connections are read; rejected-bodies.test.ts has those of real clients. */

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const tickMs = 20

class FakeRequest extends EventEmitter {
  complete = false
  readableLength = 0
  isRead = true
  turns = 0
  readonly socket = {
    pause: () => void (this.isRead = false),
    resume: () => {
      if (!this.isRead) this.turns++
      this.isRead = true
    },
  }
}

function add(reads: SlowReads, count: number, owner: string): FakeRequest[] {
  const requests = Array.from({ length: count }, () => new FakeRequest())
  for (const request of requests) reads.add(request as unknown as IncomingMessage, owner)
  return requests
}

const readOf = (requests: readonly FakeRequest[]) => requests.filter(({ isRead }) => isRead).length

it('reads a few of many bodies in a tick, and each in its turn', () => {
  const requests = add(new SlowReads(), 100, 'flood')
  vi.advanceTimersByTime(1)
  expect(readOf(requests)).toBe(8)
  for (let tick = 0; tick < 26; tick++) {
    vi.advanceTimersByTime(tickMs)
    expect(readOf(requests)).toBe(8)
  }
  expect(Math.min(...requests.map(({ turns }) => turns))).toBe(2)
})

it('reads the body of another organisation in the next tick', () => {
  const reads = new SlowReads()
  add(reads, 1_000, 'flood')
  const [other] = add(reads, 1, 'other')
  vi.advanceTimersByTime(1)
  expect(other!.isRead).toBe(false)
  vi.advanceTimersByTime(tickMs)
  expect(other!.isRead).toBe(true)
})

it('reads no more of discarded bodies in a tick than its bytes', () => {
  const reads = new SlowReads()
  const requests = add(reads, 4, 'flood')
  reads.count(500_000)
  vi.advanceTimersByTime(1)
  expect(readOf(requests)).toBe(4)
  reads.count(500_000)
  vi.advanceTimersByTime(1)
  expect(readOf(requests)).toBe(0)
  vi.advanceTimersByTime(tickMs)
  expect(readOf(requests)).toBe(4)
})

it('does not continue a body that its reader has paused', () => {
  const requests = add(new SlowReads(), 9, 'flood')
  for (const request of requests) request.readableLength = 100
  vi.advanceTimersByTime(20 * tickMs)
  expect(requests.reduce((turns, request) => turns + request.turns, 0)).toBe(0)
})

it.each([
  ['closes', (request: FakeRequest) => void request.emit('close')],
  ['is complete', (request: FakeRequest) => void (request.complete = true)],
])('continues the connection of a request that %s', (_what, end) => {
  const requests = add(new SlowReads(), 20, 'flood')
  vi.advanceTimersByTime(1)
  for (const request of requests) end(request)
  vi.advanceTimersByTime(5 * tickMs)
  expect(readOf(requests)).toBe(20)
  expect(vi.getTimerCount()).toBe(0)
})
