import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Clock, type EndSignal, isAppError, raceSignal } from '../kernel/index.ts'

/** Idle time after which a comment line is sent, so that proxies and clients keep the connection open. */
const heartbeatMs = 15_000

export type EventStream = ReturnType<typeof startEventStreamOn>

interface StreamedResponse {
  raw: ServerResponse
  /** Further headers. */
  headers: Record<string, unknown>
  /** A client that reads nothing for this time is disconnected. */
  stalledClientMs: number
}

/**
 * Turns the reply into a stream of server-sent events. Sends status 200 and the headers in this turn of the event loop, then a comment for every 15 s without an
 * event. `signal` is the clientSignal of the request.
 */
export function startEventStream(
  reply: FastifyReply,
  signal: EndSignal,
  options: { heartbeat?: string | null } = {},
): EventStream {
  const { raw } = reply
  reply.hijack()
  return startEventStreamOn(
    { raw, headers: reply.getHeaders(), stalledClientMs: reply.server.stalledClientMs },
    signal,
    options,
  )
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // nginx buffers streams by default.
  'x-accel-buffering': 'no',
}

/** The same for a response without Fastify. */
export function startEventStreamOn(
  { raw, headers, stalledClientMs }: StreamedResponse,
  signal: EndSignal,
  { heartbeat = ': \n\n' }: { heartbeat?: string | null } = {},
) {
  raw.writeHead(200, { ...headers, ...streamHeaders } as never)
  // Node.js would send each chunk in four pieces. Framed here, all texts of one turn are one chunk, one string and one write.
  const isChunked = raw.chunkedEncoding
  raw.chunkedEncoding = false
  const frame = (text: string) =>
    isChunked && text !== '' ? `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n` : text
  const framedEnd = isChunked ? '0\r\n\r\n' : ''
  let waiting = ''
  const flush = () => {
    const text = waiting
    waiting = ''
    if (text !== '' && !raw.destroyed) raw.write(frame(text))
  }
  // The first text of this turn leaves with the headers, in one write to the socket.
  const flushing = setImmediate(() => raw.flushHeaders())
  raw.socket?.setNoDelay(true)
  const beat = () => {
    // A slow reader needs no heartbeat, and a write would hide that it has stopped reading.
    if (!raw.writableNeedDrain) raw.write(frame(heartbeat ?? ''))
  }
  const timer = heartbeat === null ? undefined : setInterval(beat, heartbeatMs)
  timer?.unref()
  if (timer) raw.once('close', () => clearInterval(timer))
  return {
    /** Writes text at the end of this turn and waits while the client is slow. Rejects when the client has disconnected. */
    write(text: string): Promise<void> | void {
      signal.throwIfAborted()
      clearImmediate(flushing)
      timer?.refresh()
      if (waiting === '') process.nextTick(flush)
      waiting += text
      if (raw.writableNeedDrain) return drain(raw, stalledClientMs, signal)
    },
    /** Ends the stream with an optional last text, which is sent even after the signal has aborted. */
    end(lastText = ''): void {
      clearImmediate(flushing)
      clearInterval(timer)
      if (!raw.destroyed) raw.end(frame(waiting + lastText) + framedEnd)
      waiting = ''
    },
  }
}

/**
 * Waits until the client has read the written data. A client that reads nothing for `stalledClientMs` is disconnected; its call ends
 * and is billed as for any client that disconnects. Progress restarts the time: Node watches the write queue of the socket.
 */
async function drain(raw: ServerResponse, stalledClientMs: number, signal: EndSignal): Promise<void> {
  const cut = () => void raw.destroy()
  raw.setTimeout(stalledClientMs, cut)
  try {
    await raceSignal(once(raw, 'drain') as Promise<never>, signal)
  } finally {
    raw.off('timeout', cut)
    if (!raw.destroyed) raw.setTimeout(0)
  }
}

/** A session that ended, or a membership that was removed, ends an open stream at the latest after this time. */
const checkEveryMs = 10_000

const refusals = ['not_signed_in', 'forbidden_role', 'invalid_operator_token'] as const

/**
 * Checks regularly whether the caller of an open stream may still call its route. `ended` aborts with the refusal. Call `stop` when the
 * stream has ended.
 */
export function followAccess(
  request: Pick<FastifyRequest, 'checkAccess'>,
  clock: Pick<Clock, 'every'>,
): { ended: AbortSignal; stop(): void } {
  const access = new AbortController()
  let isChecking = false
  async function check() {
    if (isChecking) return
    isChecking = true
    try {
      await request.checkAccess()
    } catch (error) {
      // Other errors, for example of the database, are no reason to end the stream.
      const isRefused = refusals.some((code) => isAppError(error, code)) || isMissing(error)
      if (isRefused) access.abort(error)
    } finally {
      isChecking = false
    }
  }
  const stop = clock.every(checkEveryMs, () => void check())
  return { ended: access.signal, stop }
}

/** The organisation is no longer one of the person's, or the resource was removed: the 404 of the route. */
function isMissing(error: unknown): boolean {
  return isAppError(error) && error.code.endsWith('not_found')
}
