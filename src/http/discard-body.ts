import type { FastifyReply, FastifyRequest } from 'fastify'

/** How long the body of a refused request may continue to arrive, so that its client reads the answer instead of a reset. */
const discardMs = 30_000

/**
 * Reads and drops the rest of a refused request's body, for a bounded time. The answer goes out at once, but the connection stays
 * open even where the client asked to close it: closing while it still sends would reset it before it reads the answer.
 */
export function discardBody({ raw }: FastifyRequest, reply: FastifyReply) {
  if (raw.complete || raw.destroyed) return
  const { socket } = raw
  const closeAfterwards = !reply.raw.shouldKeepAlive || reply.hasHeader('connection')
  // Fastify closes after the error of a body's parser, before the client has sent the rest.
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
