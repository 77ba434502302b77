import type { IncomingMessage, ServerResponse } from 'node:http'
import { waitsForContinue } from './expect-continue.ts'
import { slowReads } from './slow-reads.ts'

/** Longest time for the rest of a rejected request's body, so that its client receives the response instead of a reset. */
const discardMs = 30_000

/**
 * Reads and discards the rest of a rejected request's body for a bounded time. The response is sent at once, but the connection stays
 * open, even if the client requested to close it: closing it while the client sends would reset it before the client reads the response.
 * `owner`: its organisation. `closes`: the response would close the connection, which is then closed after the rest. False: there is no rest.
 */
export function discardBody(
  request: IncomingMessage,
  response: ServerResponse,
  { owner, closes }: { owner: string; closes: boolean },
): boolean {
  // Without the status 100 there will be no body, and Node.js closes the connection.
  if (request.complete || request.destroyed || waitsForContinue(request)) return false
  const { socket } = request
  const closeAfterwards = !response.shouldKeepAlive || closes
  response.shouldKeepAlive = true
  request.on('data', (chunk: Buffer) => slowReads.count(chunk.length))
  request.resume()
  slowReads.add(request, owner)
  const timer = setTimeout(() => socket.destroy(), discardMs)
  timer.unref()
  request.once('close', () => {
    clearTimeout(timer)
    if (closeAfterwards) socket.destroySoon()
  })
  return true
}
