import { once } from 'node:events'
import type { FastifyReply } from 'fastify'
import { raceSignal } from '../kernel/index.ts'

export interface EventStream {
  /** Writes text and waits while the client reads slower than we write. Rejects when the client has gone. */
  write(text: string): Promise<void> | void
  /** Ends the stream, with a last text where one is given; that one goes out even when the signal has aborted. */
  end(lastText?: string): void
}

/** Silence after which a comment line is sent, so that proxies and clients keep the connection. */
const heartbeatMs = 15_000

/**
 * Takes the reply over as a stream of Server-Sent Events: status 200, headers now, a comment every 15 s while nothing else is
 * sent. `signal` is the request's clientSignal.
 */
export function startEventStream(
  reply: FastifyReply,
  signal: AbortSignal,
  { heartbeat = ': \n\n' }: { heartbeat?: string | null } = {},
): EventStream {
  const { raw } = reply
  reply.hijack()
  const headers = reply.getHeaders()
  raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // nginx buffers streams unless told otherwise
    'x-accel-buffering': 'no',
  } as never)
  raw.flushHeaders()
  raw.socket?.setNoDelay(true)
  const beat = () => {
    // A reader that is behind needs no sign of life, and a write would hide that it has stopped reading.
    if (!raw.writableNeedDrain) raw.write(heartbeat)
  }
  const timer = heartbeat === null ? undefined : setInterval(beat, heartbeatMs)
  timer?.unref()
  raw.once('close', () => clearInterval(timer))
  return {
    write(text) {
      signal.throwIfAborted()
      timer?.refresh()
      if (!raw.write(text)) return drain(reply, signal)
    },
    end(lastText = '') {
      clearInterval(timer)
      if (!raw.destroyed) raw.end(lastText)
    },
  }
}

/**
 * Waits until the client has read what was written. One that reads nothing for `stalledClientMs` is disconnected, which ends the answer
 * and settles it like any client that leaves. Progress restarts the time: Node watches the socket's write queue.
 */
async function drain(reply: FastifyReply, signal: AbortSignal): Promise<void> {
  const { raw } = reply
  const cut = () => void raw.destroy()
  raw.setTimeout(reply.server.stalledClientMs, cut)
  try {
    await raceSignal(once(raw, 'drain') as Promise<never>, signal)
  } finally {
    raw.off('timeout', cut)
    if (!raw.destroyed) raw.setTimeout(0)
  }
}
