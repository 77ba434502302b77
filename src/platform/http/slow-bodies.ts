import type { IncomingMessage } from 'node:http'
import { AppError } from '../kernel/index.ts'
import { slowReads, type SlowReads } from './slow-reads.ts'

/** Slowest client whose body is read after the first time: 64 kbit/s. */
const minimumBytesPerSecond = 8 * 1024

const checkMs = 250
/** Slower bodies are read in turns. */
const slowBytesPerSecond = 16 * 1024

interface Watched {
  owner: string
  startedMs: number
  /** Of the connection, when the body began. */
  bytesBefore: number
  fail: (error: AppError) => void
}

/**
 * Ends bodies that arrive too slowly, because they hold a part of the budget for bodies, a connection and one of their organisation's
 * requests. A body has `slowBodyMs`, and a second more for each 8 KiB that has arrived.
 */
export function createSlowBodies(slowBodyMs: number, reads: Pick<SlowReads, 'add'> = slowReads) {
  const watched = new Map<IncomingMessage, Watched>()
  let timer: NodeJS.Timeout | undefined

  function check() {
    const nowMs = performance.now()
    for (const [request, { owner, startedMs, bytesBefore, fail }] of watched) {
      // The whole body has arrived, or bytes wait to be read: the service is slower than the client.
      if (request.complete || request.readableLength > 0) continue
      const bytes = request.socket.bytesRead - bytesBefore
      const elapsedMs = nowMs - startedMs
      if (elapsedMs >= checkMs && bytes < (slowBytesPerSecond * elapsedMs) / 1_000) reads.add(request, owner)
      if (elapsedMs <= slowBodyMs + (bytes / minimumBytesPerSecond) * 1_000) continue
      watched.delete(request)
      fail(new AppError('request_timeout', 'The body of the request arrived too slowly. Send it again.'))
    }
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** Calls `fail` if the body is too slow before `unwatch`. */
    watch(request: IncomingMessage, owner: string, fail: (error: AppError) => void): void {
      if (!timer) timer = setInterval(check, Math.min(checkMs, slowBodyMs)).unref()
      watched.set(request, { owner, startedMs: performance.now(), bytesBefore: request.socket.bytesRead, fail })
    },
    unwatch(request: IncomingMessage): void {
      watched.delete(request)
    },
  }
}

export type SlowBodies = ReturnType<typeof createSlowBodies>
