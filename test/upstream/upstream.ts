import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

/** A request as the upstream received it. */
export interface UpstreamRequest {
  /** 0 for the first one since the start. */
  index: number
  method: string
  /** Path and query. */
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** True once the other side closed the connection before the whole reply was sent. */
  readonly aborted: boolean
}

/** A reply of the upstream, and its faults. The defaults are a reply without faults. */
export interface UpstreamReply {
  /** Default 200. */
  status?: number
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Where the body is split into writes: `every-byte`, or offsets. Default: one write. */
  cuts?: 'every-byte' | readonly number[]
  /** Waits before status and headers; `never` sends nothing. */
  headersAfterMs?: number | 'never'
  /** Waits between two writes. */
  pauseBetweenWritesMs?: number
  /** Sends the rest after this many bytes of the body when `until` resolves. */
  holdAt?: { bytes: number; until: Promise<unknown> }
  /** Sends nothing more after this many bytes of the body, but keeps the connection open. */
  stallAfterBytes?: number
  /** Ends the body properly after this many bytes, as a proxy does when its upstream fails. */
  endAfterBytes?: number
  /** Resets the connection after this many bytes of the body; 0: before status and headers. */
  resetAfterBytes?: number
  /** Sends the body compressed. */
  gzip?: boolean
}

/** Decides the reply to each request; may wait for a condition of the test. */
export type UpstreamScript = (request: UpstreamRequest) => UpstreamReply | Promise<UpstreamReply>

export interface Upstream {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string
  readonly requests: readonly UpstreamRequest[]
  /** Replaces the script for later requests. */
  script(next: UpstreamScript): void
  /** TCP connections: open now, and opened since the start. */
  sockets(): { open: number; opened: number }
  /** Resolves when `count` requests have arrived. */
  requested(count: number): Promise<void>
  /** Resolves when the other side has closed the connection of that request. */
  aborted(index: number): Promise<void>
  /** Resolves when at most `count` connections are open. */
  openSocketsAtMost(count: number): Promise<void>
  /** Resolves when no reply is in progress: each was sent completely, or its connection is closed. */
  quiet(): Promise<void>
  /** Ends every reply, stalled ones too, and closes. */
  close(): Promise<void>
}

/** An HTTP server on a free loopback port; the script decides its answers. */
export async function startUpstream(script: UpstreamScript = () => ({ status: 404 })): Promise<Upstream> {
  const sockets = new Set<Socket>()
  const requests: (UpstreamRequest & { aborted: boolean })[] = []
  const changed = createSignal()
  let current = script
  let opened = 0
  let underWay = 0

  const server = createServer((message, response) => {
    void answer(message, response).catch(() => response.destroy())
  })
  // Many suites run at once on a small machine: slow requests must not be dropped.
  server.requestTimeout = 0
  server.on('connection', (socket) => {
    opened++
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => {
      sockets.delete(socket)
      changed.raise()
    })
  })

  async function answer(message: IncomingMessage, response: ServerResponse) {
    const body: Uint8Array[] = []
    for await (const bytes of message) body.push(bytes as Uint8Array)
    const request = {
      index: requests.length,
      method: message.method ?? '',
      path: message.url ?? '',
      headers: message.headers,
      body: Buffer.concat(body).toString('utf8'),
      aborted: false,
    }
    requests.push(request)
    underWay++
    response.on('close', () => {
      underWay--
      if (!response.writableFinished) request.aborted = true
      changed.raise()
    })
    changed.raise()
    await send(response, await current(request))
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script(next) {
      current = next
    },
    sockets: () => ({ open: sockets.size, opened }),
    requested: (count) => changed.until(() => requests.length >= count),
    aborted: (index) => changed.until(() => requests[index]?.aborted === true),
    openSocketsAtMost: (count) => changed.until(() => sockets.size <= count),
    quiet: () => changed.until(() => underWay === 0),
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      if (server.listening) await once(server, 'close')
    },
  }
}

async function send(response: ServerResponse, reply: UpstreamReply): Promise<void> {
  const closed = new Promise((resolve) => response.once('close', resolve))
  if (reply.resetAfterBytes === 0) return void response.socket?.resetAndDestroy()
  if (reply.headersAfterMs === 'never') return
  if (reply.headersAfterMs !== undefined) await wait(reply.headersAfterMs, closed)
  const plain = Buffer.from(reply.body ?? '')
  const body = reply.gzip ? gzipSync(plain) : plain
  response.writeHead(reply.status ?? 200, {
    ...reply.headers,
    ...(reply.gzip && { 'content-encoding': 'gzip' }),
  })
  response.flushHeaders()
  const end = Math.min(
    body.length,
    reply.stallAfterBytes ?? reply.endAfterBytes ?? reply.resetAfterBytes ?? body.length,
  )
  const { holdAt } = reply
  let sent = 0
  for (const piece of cutBody(body.subarray(0, end), holdAt ? [holdAt.bytes] : reply.cuts)) {
    if (holdAt && sent === holdAt.bytes) await Promise.race([holdAt.until, closed])
    if (response.destroyed) return
    await write(response, piece, closed)
    sent += piece.length
    if (reply.pauseBetweenWritesMs !== undefined) await wait(reply.pauseBetweenWritesMs, closed)
  }
  if (reply.stallAfterBytes !== undefined) return
  if (reply.resetAfterBytes !== undefined) return void response.socket?.destroy()
  response.end()
}

/** Yields to the event loop after each write, so that the other side reads the pieces one by one. */
async function write(response: ServerResponse, piece: Uint8Array, closed: Promise<unknown>): Promise<void> {
  const written = new Promise<void>((resolve) => response.write(piece, () => setImmediate(resolve)))
  await Promise.race([written, closed])
}

/** Ends early if the connection closes. */
async function wait(ms: number, closed: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([new Promise((resolve) => (timer = setTimeout(resolve, ms))), closed])
  clearTimeout(timer)
}

function* cutBody(body: Buffer, cuts: UpstreamReply['cuts']): Generator<Buffer> {
  if (cuts === 'every-byte') {
    for (let at = 0; at < body.length; at++) yield body.subarray(at, at + 1)
    return
  }
  let from = 0
  for (const at of [...(cuts ?? [])].sort((left, right) => left - right)) {
    if (at <= from || at >= body.length) continue
    yield body.subarray(from, at)
    from = at
  }
  if (from < body.length) yield body.subarray(from)
}

/** Conditions that are checked again after each event. */
function createSignal() {
  const waiting = new Set<() => void>()
  return {
    raise() {
      for (const check of waiting) check()
    },
    until(condition: () => boolean): Promise<void> {
      return new Promise((resolve) => {
        const check = () => {
          if (!condition()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      })
    },
  }
}
