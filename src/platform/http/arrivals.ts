import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Turns } from '../kernel/index.ts'
import type { Connections } from './connections.ts'

/** Requests of one owner whose headers are read in a turn of the event loop; each takes about 60 µs. */
const mostInTurn = 32

/** So many connections are usual for one client that keeps them busy; their requests take 30 ms at once. */
const usualConnections = 512

/** The owner of connections without a request so far: no organisation has such an id. */
const nobody = 'nobody'

interface Connection {
  /** Of its last request. */
  owner: string
  /** Requests without a complete response. */
  running: number
  isPaused: boolean
}

/**
 * Bounds the requests that arrive in one turn of the event loop. Node.js reads all connections with data before anything else runs, so thousands of
 * clients that send at the same moment would block it for hundreds of milliseconds. Where more than `usualConnections` are open, an owner's other
 * connections without a request are not read from its first `mostInTurn` requests on: later turns read so many each. Those of others are not touched.
 */
export function limitArrivals(server: Pick<Server, 'on'>) {
  const open = new Map<Socket, Connection>()
  const arrived = new Map<string, number>()
  const paused = new Turns<Socket>()
  let pausedCount = 0
  let isCounting = false

  server.on('connection', (socket: Socket) => {
    open.set(socket, { owner: nobody, running: 0, isPaused: false })
    socket.once('close', () => open.delete(socket))
  })

  function pauseOthers(owner: string): void {
    for (const [socket, connection] of open) {
      if (connection.owner !== owner || connection.running > 0 || connection.isPaused) continue
      connection.isPaused = true
      socket.pause()
      paused.add(owner, socket)
      pausedCount++
    }
  }

  function endTurn(): void {
    isCounting = false
    arrived.clear()
    for (let left = mostInTurn; left > 0 && pausedCount > 0; left--) {
      const socket = paused.takeNext()!.item
      pausedCount--
      const connection = open.get(socket)
      if (!connection) continue
      connection.isPaused = false
      socket.resume()
    }
    if (pausedCount > 0) awaitEndOfTurn()
  }

  function awaitEndOfTurn(): void {
    if (isCounting) return
    isCounting = true
    setImmediate(endTurn)
  }

  return {
    open: open as Connections,
    /** Called for each request, with the organisation of its key. Returns whether it is the first one of its connection. */
    begin(socket: Socket, owner: string): boolean {
      const connection = open.get(socket)
      if (!connection) return false
      const count = (arrived.get(connection.owner) ?? 0) + 1
      arrived.set(connection.owner, count)
      awaitEndOfTurn()
      connection.running++
      if (count === mostInTurn && open.size > usualConnections) pauseOthers(connection.owner)
      const isFirst = connection.owner === nobody
      connection.owner = owner
      return isFirst
    },
    /** Called when the response of a request has ended. */
    end(socket: Socket): void {
      const connection = open.get(socket)
      if (connection) connection.running--
    },
  }
}
