import { setTimeout as delay } from 'node:timers/promises'
import cluster from 'node:cluster'
import { JournalError } from '../gateway/billing/journal/journal-error.ts'
import { type Config, ConfigError, loadConfig } from './config/index.ts'
import { DatabaseStartError, findLostConnection } from '../platform/database/index.ts'
import { type Clock, collectGarbage, describeError, describeFileFault, systemClock } from '../platform/kernel/index.ts'
import { createLog, logConsole } from '../platform/log/index.ts'
import { openControlStorage, openStorage, type StorageOptions } from './storage.ts'
import { readStartOptions, type StartOptions } from './start-options.ts'

/**
 * The process: reads the configuration, starts the service, and stops it on a signal. It imports little before it opens the databases,
 * so that their threads work while the other modules are loaded.
 */

class PrintError extends Error {}

type OpenOptions = StorageOptions & ProcessOptions

/** A service of any role. */
interface RunningService {
  start(): Promise<{ url: string }>
  describe(): string
  stop(options: { isUrgent: boolean }): Promise<void>
  /** What only the first start of an installation does. */
  runFirstStart(url: string): Promise<void>
}

/** Errors whose message names the remedy for the operator. */
const namesRemedy = (error: unknown) =>
  error instanceof ConfigError ||
  error instanceof DatabaseStartError ||
  error instanceof JournalError ||
  error instanceof PrintError

/** Errors that are printed with a remedy and without a stack. */
const isOperatorError = (error: unknown) =>
  namesRemedy(error) ||
  findLostConnection(error) !== undefined ||
  isAddressError(error) ||
  describeFileFault(error) !== undefined

/** Signals within this time count as one: a terminal and npm both forward Ctrl-C. */
const sameSignalMs = 1_000
/** After an uncaught exception: time for closing everything, in addition to the grace for running calls. */
const forcedExitMs = 15_000
/** Starts that are tried while the database ends their connections, and the time between two: a restart of PostgreSQL takes seconds. */
const startAttempts = 5
const startRetryMs = 1_000
/** After the start: its garbage (50 MB) is collected, when the first requests of waiting clients are answered. */
const collectAfterMs = 1_000

/** What the entry of tests changes. It is no setting, because all processes of a database need the same. */
export interface ProcessOptions {
  instanceExpiryMs?: number
  clock?: Clock
}

export async function runProcess(changes: ProcessOptions = {}): Promise<void> {
  try {
    await run(changes)
  } catch (error) {
    console.error(isOperatorError(error) ? `portico: ${explain(error)}` : error)
    process.exit(1)
  }
}

async function run(changes: ProcessOptions) {
  const options = readOptions()
  const config = loadConfig(undefined, undefined, {
    settings: options.settings,
    processNumber: options.processNumber ?? 1,
  })
  const { processes } = config.settings.server
  const log = createLog(config.settings.log, processes > 1 ? { process: options.processNumber ?? 0 } : {})
  if (processes > 1 && cluster.isPrimary) {
    const { superviseProcesses } = await import('./supervisor.ts')
    return superviseProcesses({
      count: processes,
      address: config.settings.server,
      argv: process.argv.slice(2),
      onStopRequest: (stop) => onStopRequest(options.stopWith, stop),
      onStarted: (description) => console.log([description, ...describeProcesses(config)].join('\n')),
      log,
    })
  }
  await runService({ config, log, clock: systemClock, ...changes }, options)
}

/** Throws ConfigError. */
function readOptions(): StartOptions {
  try {
    return readStartOptions(process.argv.slice(2))
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}

async function runService(opened: OpenOptions, { stopWith }: StartOptions) {
  const { config, log } = opened
  let service: RunningService | undefined
  let stoppingSinceMs: number | undefined
  const stop = (signal: string, isUrgent = false) => {
    if (stoppingSinceMs !== undefined) {
      if (performance.now() - stoppingSinceMs < sameSignalMs) return
      log.warn({ signal }, 'stopping at once')
      process.exit(1)
    }
    stoppingSinceMs = performance.now()
    // No request is served yet, and the next start repairs an interrupted one. After an uncaught exception the code is 1.
    if (service === undefined) process.exit()
    log.info({ signal }, 'stopping: streams finish, jobs return to the queue')
    service.stop({ isUrgent }).then(
      () => process.exit(),
      (error: unknown) => {
        log.error({ error: describeError(error) }, 'the service did not stop cleanly')
        process.exit(1)
      },
    )
  }
  // The supervisor forwards requests; the end of npm concerns only the supervisor.
  onStopRequest(cluster.isWorker ? undefined : stopWith, stop)
  // Unhandled rejections arrive here as well.
  process.on('uncaughtException', (error: unknown) => {
    const stack = error instanceof Error ? error.stack : undefined
    log.error({ error: describeError(error), stack }, 'uncaught exception: stopping, since the state is unknown')
    process.exitCode = 1
    // A second exception does not shorten the stop. A stop that hangs is ended by the timer.
    if (stoppingSinceMs === undefined) stop('uncaughtException', true)
    setTimeout(() => process.exit(1), config.settings.server.shutdownGraceMs + forcedExitMs).unref()
  })

  service = await openService(opened)
  try {
    const { url } = await service.start()
    setTimeout(collectGarbage, collectAfterMs).unref()
    if (cluster.isWorker) process.send?.({ started: service.describe() })
    else console.log(service.describe())
    await service.runFirstStart(url)
    // A start that fails is explained in plain text.
    logConsole(log)
  } catch (error) {
    // A stop closes meanwhile what the start uses; the next start creates what is missing.
    if (stoppingSinceMs === undefined) throw error
  }
}

/**
 * Creates the service. A start whose database connections are lost begins again from the beginning: every part of a start may be
 * repeated. Throws DatabaseStartError with the remedy after the last attempt.
 */
async function openService(options: OpenOptions): Promise<RunningService> {
  performance.mark('configuration read')
  for (let attempt = 1; ; attempt++) {
    try {
      return await openRole(options)
    } catch (error) {
      const lost = findLostConnection(error)
      if (!lost) throw error
      const reason = describeError(lost)
      if (attempt === startAttempts) {
        throw new DatabaseStartError(
          `the database has ended the connections of ${startAttempts} starts in a row (${reason}). Wait until the PostgreSQL server is steady, read its log, and start Portico again`,
          { cause: error },
        )
      }
      options.log.warn({ attempt, reason }, 'the database ended a connection during the start: starting again')
      await delay(startRetryMs)
    }
  }
}

/** Loads the modules of the role while its databases open. */
async function openRole(options: OpenOptions): Promise<RunningService> {
  const { role } = options.config.settings.server
  if (role === 'gateway') {
    const storage = openControlStorage(options)
    // It may fail while the modules are loaded; the service waits for it.
    storage.catch(() => {})
    const { createGatewayService } = await import('./roles/gateway.ts')
    performance.mark('modules loaded')
    return withoutFirstStart(await createGatewayService({ ...options, storage }))
  }
  const storage = openStorage(options)
  storage.catch(() => {})
  if (role === 'worker') {
    const { createWorkerService } = await import('./roles/worker.ts')
    performance.mark('modules loaded')
    return withoutFirstStart(await createWorkerService({ ...options, storage }))
  }
  const { createService } = await import('./roles/all.ts')
  performance.mark('modules loaded')
  const service = await createService({ ...options, storage })
  return {
    ...service,
    async runFirstStart(url) {
      const { runFirstStart } = await import('./first-start/first-start.ts')
      await runFirstStart(service.parts, { url, print })
    },
  }
}

/** A process that serves people prints the first secrets. */
function withoutFirstStart(service: Omit<RunningService, 'runFirstStart'>): RunningService {
  return { ...service, runFirstStart: () => Promise.resolve() }
}

/** What several processes on one machine multiply, and where each has its metrics. */
function describeProcesses({ settings: { server, metrics, database } }: Config): string[] {
  const { processes } = server
  return [
    `  processes  ${processes}`,
    ...(metrics.enabled && metrics.port !== 0
      ? [`  metrics    http://${metrics.host}:${metrics.port} to ${metrics.port + processes - 1}, one for each process`]
      : []),
    `  limits     of organisations and of requests apply to each of the ${processes} processes`,
    `  database   up to ${processes * database.maximumConnections} connections to each server (${processes} × ${database.maximumConnections})`,
  ]
}

/** Resolves when the operating system has accepted the text. */
function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Without a listener a closed pipe would also end the process as an uncaught exception.
    process.stdout.once('error', () => {})
    process.stdout.write(text, (error) => {
      if (!error) return resolve()
      const remedy = 'Keep standard output open, or set PORTICO_OPERATOR_TOKEN and PORTICO_DEMO=false.'
      reject(new PrintError(`the secrets of the first start could not be printed (${error.message}). ${remedy}`))
    })
  })
}

type AddressError = NodeJS.ErrnoException & {
  address?: string
  port?: number
  /** That set the address; absent: those of the service. */
  variables?: { port: string; host: string }
}

function isAddressError(error: unknown): error is AddressError {
  return (
    error instanceof Error &&
    'port' in error &&
    ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].includes((error as NodeJS.ErrnoException).code ?? '')
  )
}

function explain(error: unknown): string {
  const lost = error instanceof DatabaseStartError ? undefined : findLostConnection(error)
  if (lost) {
    return `the database ended a connection during the start (${describeError(lost)}). Start Portico again when the PostgreSQL server is steady`
  }
  if (!isAddressError(error)) {
    const fault = namesRemedy(error) ? undefined : describeFileFault(error)
    return fault === undefined
      ? describeError(error)
      : `${(error as NodeJS.ErrnoException).path ?? 'a file'} cannot be used: ${fault}`
  }
  const { code, address, port, variables = { port: 'PORT', host: 'HOST' } } = error
  if (code === 'EADDRINUSE')
    return `${address}:${port} is in use by another process. Set ${variables.port} to a free one, or stop that process.`
  if (code === 'EACCES') return `this user may not listen on port ${port}. Set ${variables.port} to one above 1023.`
  return `this machine has no address ${address}. Set ${variables.host} to one it has.`
}

/** Interval of checking the parent process, one system call each. An orphan starts to stop after this time at the latest. */
const parentCheckMs = 250

/**
 * Calls `stop` with the reason on SIGTERM, SIGINT and SIGHUP, and when `parent` (of the option --stop-with) is no longer the parent
 * process. npm does not forward SIGHUP and cannot forward SIGKILL, so a service that npm started would keep running.
 */
function onStopRequest(parent: number | undefined, stop: (reason: string) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(signal))
  if (parent === undefined) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop('end of the parent process')
  }, parentCheckMs)
  timer.unref()
}
