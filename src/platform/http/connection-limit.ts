import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connectionArrived } from '../kernel/index.ts'

/** Part of the limit from which idle connections are closed to make room for new ones. */
const crowded = 0.9
/** Closing idle connections looks at all of them. */
const shortestPauseMs = 1_000

export interface Connections {
  open(): number
  /** Ends connections that have not sent a byte, which Node.js does not count as idle: a browser or a load balancer opens them in advance. */
  closeUnused(): Promise<void>
}

/**
 * Bounds the open connections. From nine tenths of the limit on, connections between two requests are closed, at most once in a second;
 * above the limit new ones are closed at once. Connections without a request end by the time limits of the server.
 */
export function limitConnections(server: Server, maximumConnections: number, refused: () => void): Connections {
  const open = new Set<Socket>()
  let closedAtMs = -Infinity
  server.maxConnections = maximumConnections
  server.on('connection', (socket) => {
    open.add(socket)
    connectionArrived()
    socket.once('close', () => open.delete(socket))
    if (open.size < maximumConnections * crowded || performance.now() - closedAtMs < shortestPauseMs) return
    closedAtMs = performance.now()
    server.closeIdleConnections()
  })
  server.on('drop', refused)
  return {
    open: () => open.size,
    async closeUnused() {
      // What has arrived is read first.
      await nextTurn()
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}
