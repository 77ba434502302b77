import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createSlowBodies } from './slow-bodies.ts'

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
