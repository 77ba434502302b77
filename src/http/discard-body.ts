import type { FastifyReply, FastifyRequest } from 'fastify'

/** Longest time for the rest of a rejected request's body, so that its client receives the response instead of a reset. */
const discardMs = 30_000

/**
 * Reads and discards the rest of a rejected request's body for a bounded time. The response is sent at once, but the connection stays
 * open, even if the client requested to close it: closing it while the client sends would reset it before the client reads the response.
 */
export function discardBody({ raw }: FastifyRequest, reply: FastifyReply) {
  if (raw.complete || raw.destroyed) return
  const { socket } = raw
  const closeAfterwards = !reply.raw.shouldKeepAlive || reply.hasHeader('connection')
  // Fastify would close the connection after a parser error, before the client has sent the rest.
  reply.removeHeader('connection')
  reply.raw.shouldKeepAlive = true
  raw.resume()
  const timer = setTimeout(() => socket.destroy(), discardMs)
  timer.unref()
  raw.once('close', () => {
    clearTimeout(timer)
    if (closeAfterwards) socket.destroySoon()
  })
}
