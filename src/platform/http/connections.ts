import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, connectionArrived, createRequestId, type Log } from '../kernel/index.ts'
import { renderErrorBody } from './error-renderer.ts'

/** Those that are open: see `limitArrivals`. */
export type Connections = ReadonlyMap<Socket, unknown>

/** Part of the limit from which idle connections are closed to make room for new ones. */
const crowded = 0.9
/** Closing idle connections looks at all of them. */
const shortestPauseMs = 1_000

/**
 * Bounds the open connections. From nine tenths of the limit on, connections between two requests are closed, at most once in a second;
 * above the limit new ones are closed at once. Connections without a request end by the time limits of the server.
 */
export function limitConnections(server: Server, open: Connections, most: number, refused: () => void): void {
  let closedAtMs = -Infinity
  server.maxConnections = most
  server.on('connection', () => {
    connectionArrived()
    if (open.size < most * crowded || performance.now() - closedAtMs < shortestPauseMs) return
    closedAtMs = performance.now()
    server.closeIdleConnections()
  })
  server.on('drop', refused)
}

/** Ends connections that have not sent a byte, which Node.js does not count as idle: a browser or a load balancer opens them in advance. */
export async function closeUnused(open: Connections): Promise<void> {
  // What has arrived is read first.
  await nextTurn()
  for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy()
}

/** Responses to input below the routes: errors of the HTTP parser, tunnels, unknown expectations. */

/** Status and message by the parser's error code; 400 for all others. */
const parserErrors: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: [431, 'The address and the headers of the request must have at most 16 KiB together.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the request body are too long.'],
}
const notHttp: [number, string] = [400, 'The request is not valid HTTP.']

/** For Fastify's `clientErrorHandler`. */
export function answerParserError(error: { code?: string }, socket: Socket, log: Log) {
  // The client has closed the connection.
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, message] = parserErrors[error.code ?? ''] ?? notHttp
  answerRaw(socket, status, message, log, error.code)
}

/** Answers `CONNECT` and an `Expect` other than 100-continue, which Node drops or answers without a body. */
export function answerOddRequests(server: Server, log: Log) {
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    answerRaw(socket, 405, 'CONNECT is not allowed here.', log)
  })
  server.on('checkExpectation', (request: IncomingMessage) => {
    answerRaw(request.socket, 417, 'The only expectation that is supported is 100-continue.', log)
  })
}

/** Ends the connection with an error in the standard form. */
function answerRaw(socket: Socket, status: number, message: string, log: Log, internal?: string) {
  const requestId = createRequestId()
  log.info({ requestId, status, internal }, 'a request was rejected before routing')
  const body = JSON.stringify(
    renderErrorBody(new AppError(status === 408 ? 'request_timeout' : 'invalid_request', message)),
  )
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    'connection: close',
    ...(status === 405 ? ['allow: GET, POST, PUT, PATCH, DELETE'] : []),
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
  // Otherwise a client that is still sending would keep the half-closed connection open.
  socket.resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/** Time for the client to read the response before the connection is destroyed. */
const lingerMs = 5_000
