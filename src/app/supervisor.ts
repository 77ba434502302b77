import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Log } from '../platform/kernel/index.ts'

/**
 * The process above several processes that share the port (`server.processes`, SO_REUSEPORT). It starts a process that has ended again,
 * and forwards stops. It sees no connection, so a process that is killed costs only its own.
 */

/** Until a process that has ended is started again: longer each time, until one runs for `steadyMs`. */
const firstRestartMs = 500
const longestRestartMs = 30_000
const steadyMs = 60_000

export interface SupervisorOptions {
  count: number
  /** That the processes share. */
  address: { port: number; host: string }
  /** Of this process; each process gets them too, with its number. */
  argv: readonly string[]
  onStopRequest: (stop: (reason: string) => void) => void
  /** Receives the description of the first process when all of them listen. */
  onStarted: (description: string) => void
  log: Log
}

interface Place {
  number: number
  worker: Worker | undefined
  startedMs: number
  restartMs: number
  timer: NodeJS.Timeout | undefined
}

/** Resolves when all processes listen. The process ends when all of them have ended after a stop. */
export async function superviseProcesses({
  count,
  address,
  argv,
  onStopRequest,
  onStarted,
  log,
}: SupervisorOptions): Promise<void> {
  await assertFree(address)
  const places = Array.from({ length: count }, (_, index) => createPlace(index + 1))
  let stopping = false
  let exitCode = 0
  const listening = places.map(() => Promise.withResolvers<string>())

  function start(place: Place): void {
    place.timer = undefined
    place.startedMs = performance.now()
    // The arguments are those of the next fork.
    cluster.setupPrimary({
      args: [...argv.filter((argument) => !argument.startsWith('--stop-with')), `--process=${place.number}`],
    })
    const worker = cluster.fork()
    place.worker = worker
    worker.on('message', (message: { started?: unknown }) => {
      if (typeof message.started === 'string') listening[place.number - 1]!.resolve(message.started)
    })
    worker.on('exit', (code, signal) => onExit(place, code, signal))
  }

  function onExit(place: Place, code: number | null, signal: string | null): void {
    place.worker = undefined
    if (stopping) {
      // A process that is starting does not handle the signal yet, and is ended by it.
      if (code !== 0 && signal !== 'SIGTERM') exitCode = 1
      return endIfOver()
    }
    // Nothing has listened yet: the reason is on standard error, and a repetition would not change it.
    if (!hasStarted) process.exit(code || 1)
    const ranMs = performance.now() - place.startedMs
    place.restartMs = ranMs > steadyMs ? firstRestartMs : Math.min(place.restartMs * 2, longestRestartMs)
    log.error(
      { number: place.number, code, signal, restartMs: place.restartMs },
      'a process has ended: starting it again',
    )
    place.timer = setTimeout(start, place.restartMs, place)
  }

  function endIfOver(): void {
    if (places.every(({ worker }) => worker === undefined)) process.exit(exitCode)
  }

  let hasStarted = false
  onStopRequest((reason) => {
    if (!stopping) log.info({ signal: reason }, 'stopping all processes')
    stopping = true
    for (const { worker, timer } of places) {
      clearTimeout(timer)
      // Not `worker.kill`, which closes the port before requests are drained.
      worker?.process.kill('SIGTERM')
    }
    endIfOver()
  })
  // The first one alone runs the migrations and prints the secrets of the first start.
  start(places[0]!)
  const text = await listening[0]!.promise
  hasStarted = true
  if (stopping) return
  for (const place of places.slice(1)) start(place)
  await Promise.all(listening.map(({ promise }) => promise))
  onStarted(text)
}

/** Rejects with EADDRINUSE. Processes that share a port would also share it with those of another installation. */
async function assertFree(address: { port: number; host: string }): Promise<void> {
  const server = createServer()
  server.listen(address)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

function createPlace(number: number): Place {
  return { number, worker: undefined, startedMs: 0, restartMs: firstRestartMs / 2, timer: undefined }
}
