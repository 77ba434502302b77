import type { IncomingMessage } from 'node:http'
import { AppError } from '../kernel/index.ts'

/** Slowest client whose body is read after the first time: 64 kbit/s. */
const minimumBytesPerSecond = 8 * 1024

interface Watched {
  startedMs: number
  /** Of the connection, when the body began. */
  bytesBefore: number
  fail: (error: AppError) => void
}

/**
 * Ends bodies that arrive too slowly, because they hold a part of the budget for bodies, a connection and one of their organisation's
 * requests. A body has `slowBodyMs`, and a second more for each 8 KiB that has arrived.
 */
export function createSlowBodies(slowBodyMs: number) {
  const watched = new Map<IncomingMessage, Watched>()
  let timer: NodeJS.Timeout | undefined

  function check() {
    const nowMs = performance.now()
    for (const [request, { startedMs, bytesBefore, fail }] of watched) {
      // The whole body has arrived, or bytes wait to be read: the service is slower than the client.
      if (request.complete || request.readableLength > 0) continue
      const bytes = request.socket.bytesRead - bytesBefore
      if (nowMs - startedMs <= slowBodyMs + (bytes / minimumBytesPerSecond) * 1_000) continue
      watched.delete(request)
      fail(new AppError('request_timeout', 'The body of the request arrived too slowly. Send it again.'))
    }
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** Calls `fail` if the body is too slow before `unwatch`. */
    watch(request: IncomingMessage, fail: (error: AppError) => void): void {
      if (!timer) timer = setInterval(check, Math.min(1_000, slowBodyMs)).unref()
      watched.set(request, { startedMs: performance.now(), bytesBefore: request.socket.bytesRead, fail })
    },
    unwatch(request: IncomingMessage): void {
      watched.delete(request)
    },
  }
}

export type SlowBodies = ReturnType<typeof createSlowBodies>
