import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * `Expect: 100-continue`: the client sends its body when it has received the status 100. Node.js sends it at once; this server sends it
 * when nothing is left to check without the body, so that a client without a valid key sends none.
 */

/** Requests whose client has not received the status 100. */
const waiting = new WeakSet<IncomingMessage>()

export function deferContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    waiting.add(request)
    server.emit('request', request, response)
  })
}

/** Lets a client that waits send its body. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue()
}

/** True if the client still waits with its body, as far as this server has seen. */
export function waitsForContinue(request: IncomingMessage): boolean {
  return waiting.has(request) && request.readableLength === 0
}
