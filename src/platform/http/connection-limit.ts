import type { Server } from 'node:http'
import { connectionArrived } from '../kernel/index.ts'

/** Part of the limit from which idle connections are closed to make room for new ones. */
const crowded = 0.9
/** Closing idle connections looks at all of them. */
const shortestPauseMs = 1_000

/**
 * Bounds the open connections. From nine tenths of the limit on, connections between two requests are closed, at most once in a second;
 * above the limit new ones are closed at once. Connections without a request end by the time limits of the server.
 */
export function limitConnections(server: Server, maximumConnections: number, refused: () => void) {
  let open = 0
  let closedAtMs = -Infinity
  server.maxConnections = maximumConnections
  server.on('connection', (socket) => {
    open++
    connectionArrived()
    socket.once('close', () => open--)
    if (open < maximumConnections * crowded || performance.now() - closedAtMs < shortestPauseMs) return
    closedAtMs = performance.now()
    server.closeIdleConnections()
  })
  server.on('drop', refused)
  return { open: () => open }
}
