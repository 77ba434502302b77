import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { totalmem } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { AppError, type Clock, FairShares, type Log, residentBytes, Turns } from '../kernel/index.ts'
import type { Connections } from './connections.ts'

/**
 * What bounds the work of this process: the requests that run, with what is measured of it (admission), the bytes of their bodies
 * (body budget), and the requests that arrive at once.
 */

/** Why a request is rejected. `share`: its organisation runs as many as the process may still begin. */
export type RefusalReason = Pressure | 'running' | 'share'

/** Decides which requests of organisations begin, before their bodies are read. Probes, metrics and the operator API are not counted. */
export interface Admission {
  /** Returns a function to call once, when the request has ended. Throws `overloaded` or `rate_limit_exceeded`. */
  enter(owner: string): () => void
  running(): number
}

/** So many requests run even under pressure: rejecting them would not help, since the load has another cause. */
export const runningUnderPressure = 16

const retryAfterSeconds = 2

export function createAdmission({
  maximumRunning,
  pressure,
  refused,
}: {
  /** Requests of all organisations that run at the same time, streams included; FairShares has what one of them may run. */
  maximumRunning: number
  pressure: () => Pressure | null
  refused: (reason: RefusalReason) => void
}): Admission {
  const running = new FairShares(maximumRunning)

  function reasonToRefuse(owner: string): RefusalReason | undefined {
    const ofOwner = running.usedBy(owner)
    const { total, owners } = running
    if (!running.hasRoom(owner)) return ofOwner === 0 ? 'running' : 'share'
    const lacking = total < runningUnderPressure ? null : pressure()
    if (lacking === null) return undefined
    // Those with less than half of the average are admitted, so that the load of one organisation does not close the service to others.
    if (ofOwner * owners * 2 > total) return lacking
    // Each request takes memory: next to those of the organisation that runs most, only a few more begin.
    return lacking === 'memory' && total - running.most >= runningUnderPressure ? lacking : undefined
  }

  return {
    enter(owner) {
      const reason = reasonToRefuse(owner)
      if (reason) {
        refused(reason)
        throw toError(reason, maximumRunning, running.usedBy(owner))
      }
      running.take(owner)
      let left = false
      return () => {
        if (left) return
        left = true
        running.release(owner)
      }
    },
    running: () => running.total,
  }
}

function toError(reason: RefusalReason, maximumRunning: number, ofOwner: number): AppError {
  if (reason === 'share') {
    return new AppError(
      'rate_limit_exceeded',
      `This organisation may run ${ofOwner} requests at the same time. Try again when one of them has ended.`,
      { retryAfterSeconds },
    )
  }
  const internal = reason === 'running' ? `${maximumRunning} requests run` : `the process lacks ${reason}`
  return new AppError('overloaded', 'The service has too much to do. Try again in a moment.', {
    retryAfterSeconds,
    internal,
  })
}

/** What the process lacks. */
export type Pressure = 'event_loop' | 'memory'

/** What is measured once in an interval. */
export interface PressureSample {
  /** Mean time by which the event loop was late; NaN if it has not been measured in this interval. */
  eventLoopDelayMs: number
  /** Used parts, from 0 to 1: of the memory of the container or the machine, and of the heap of V8. */
  memory: number
  heap: number
}

interface OverloadMonitor {
  pressure(): Pressure | null
  close(): void
}

const intervalMs = 500
const resolutionMs = 20
/** A single late turn, such as a collection of garbage, is over before a rejection would help. */
const lateIntervals = 2

/** Measures twice a second whether this process is late or short of memory. */
export function createOverloadMonitor({
  maximumEventLoopDelayMs,
  maximumMemoryPercent,
  sampler = createSampler(),
  clock,
  log,
}: {
  maximumEventLoopDelayMs: number
  maximumMemoryPercent: number
  /** Tests pass their own. */
  sampler?: { sample(): PressureSample; close(): void }
  clock: Pick<Clock, 'every'>
  log: Log
}): OverloadMonitor {
  let pressure: Pressure | null = null
  let late = 0
  const measure = () => {
    const { eventLoopDelayMs, memory, heap } = sampler.sample()
    if (!Number.isNaN(eventLoopDelayMs)) late = eventLoopDelayMs > maximumEventLoopDelayMs ? late + 1 : 0
    const isShort = Math.max(memory, heap) * 100 > maximumMemoryPercent
    const next = isShort ? 'memory' : late >= lateIntervals ? 'event_loop' : null
    if (next === pressure) return
    const measured = { eventLoopDelayMs: Math.round(eventLoopDelayMs), memory: round(memory), heap: round(heap) }
    if (next) log.warn({ pressure: next, ...measured }, 'overload began: new work is rejected')
    else log.info({ pressure, ...measured }, 'overload ended')
    pressure = next
  }
  const stop = clock.every(intervalMs, measure)
  return {
    pressure: () => pressure,
    close() {
      stop()
      sampler.close()
    },
  }
}

const round = (part: number) => Math.round(part * 100) / 100

function createSampler() {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  // 0 or a number above the memory of the machine: no limit.
  const memoryBytes = Math.min(process.constrainedMemory() || Infinity, totalmem())
  return {
    sample(): PressureSample {
      const eventLoopDelayMs = delay.mean / 1e6 - resolutionMs
      delay.reset()
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
      return { eventLoopDelayMs, memory: residentBytes() / memoryBytes, heap: used / limit }
    },
    close: () => void delay.disable(),
  }
}

/**
 * Bounds the memory of request bodies. Bytes count from their arrival until the response ends, because a stream keeps its prompt.
 * One organisation may use half of it. What it may use shrinks with what is free, so that several busy ones leave room for the next one.
 */
export interface BodyBudget {
  /** Opens the account of one request. `owner` is its organisation. */
  open(owner: string): BodyAccount
}

export interface BodyAccount {
  /** Throws `overloaded` or `rate_limit_exceeded` if there is no room for `bytes` more. Counts nothing. */
  assertRoom(bytes: number): void
  /** Counts bytes that have arrived; throws like `assertRoom`. */
  take(bytes: number): void
  /** Releases all counted bytes. */
  close(): void
}

/**
 * An organisation may use so many times what is left (dynamic thresholds, as FairShares, with α = 2): two busy ones get two fifths each. More than once, so that
 * a body of half the budget fits next to small ones of others.
 */
const timesFree = 2

export function createBodyBudget(maximumBytes: number): BodyBudget {
  const maximumBytesOfOwner = Math.floor(maximumBytes / 2)
  const shares = new FairShares(maximumBytes)
  return {
    open(owner) {
      let taken = 0
      const assertRoom = (bytes: number) => {
        const ofOwner = shares.usedBy(owner) + bytes
        if (ofOwner > maximumBytesOfOwner) {
          throw new AppError(
            'rate_limit_exceeded',
            `The request bodies that this organisation has in flight would exceed ${maximumBytesOfOwner} bytes. Send large requests one after another.`,
            { retryAfterSeconds },
          )
        }
        if (ofOwner > timesFree * (maximumBytes - shares.total - bytes)) {
          throw new AppError('overloaded', 'Too many large requests are in flight. Try again in a moment.', {
            retryAfterSeconds,
            internal: `request bodies in flight would exceed ${maximumBytes} bytes`,
          })
        }
      }
      return {
        assertRoom,
        take(bytes) {
          assertRoom(bytes)
          taken += bytes
          shares.take(owner, bytes)
        },
        close() {
          shares.release(owner, taken)
          taken = 0
        },
      }
    },
  }
}

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
