import { type AddressInfo, Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import {
  type Authenticators,
  createAdmission,
  createOverloadMonitor,
  createServer,
  type Metrics,
  type MetricsServer,
  type RequestLimiter,
  type Routes,
  startMetricsServer,
  type StopState,
} from '../../platform/http/index.ts'
import { AppError, type Clock, type Log, type Telemetry, version } from '../../platform/kernel/index.ts'
import { assertGatewayAccess } from '../../tenants/organisations/index.ts'
import type { Config } from '../config/index.ts'

/**
 * After the grace period of a stop: longest time for aborted calls to write their cost and then to send their error. Above twice the 4 s
 * after which a write to the ledger is repeated; a stop waits no longer than the last call takes.
 */
const abortedCallsMs = 9_000
/**
 * After the port is closed: longest time in which open connections are still served. Proxies that are refused a new connection stop
 * using the old ones, so that none is closed at the moment when a request arrives on it.
 */
const lastRequestsMs = 1_000
/** A turn of the event loop below this time has accepted every waiting connection; so many turns are tried. */
const quietTurnMs = 0.2
const quietTurns = 500
/** Connections that wait until they are accepted, as far as the system allows (`net.core.somaxconn`); Node.js alone asks for 511. */
const waitingConnections = 4_096

/** Each of several processes has a separate queue of waiting connections; the system chooses one for each connection. */
const sharedPort = { reusePort: true, exclusive: true }

interface ServerDependencies {
  config: Config
  clock: Clock
  log: Log
  callers: Authenticators
  limiter: RequestLimiter
  routes: Routes[]
  metrics: Metrics
  telemetry: Telemetry | null
  /** Updates the gauges that are read from a database. Must not reject. */
  readGauges: () => Promise<void>
  stop: StopState
}

/** The HTTP server with every route, and the port that Prometheus reads. */
export function openServer(dependencies: ServerDependencies) {
  const { config, callers, routes, metrics, telemetry, readGauges, stop, limiter, log } = dependencies
  const { server, metrics: metricsSettings } = config.settings
  const shutdown = new AbortController()
  const { admission, monitor } = openAdmission(dependencies)
  const app = createServer({
    // With the same names: role, bounds of time and size, addresses.
    ...server,
    publicUrl: server.publicUrl,
    admission,
    authenticators: callers,
    limiter,
    assertGatewayAccess,
    metrics,
    telemetry,
    log,
    stop,
    shutdown: shutdown.signal,
    version,
    routes,
  })
  let metricsServer: MetricsServer | undefined

  return {
    version,

    /** Opens the metrics port first, so that a port in use ends the start before requests are handled. */
    async listen(): Promise<void> {
      if (metricsSettings.enabled) {
        metricsServer = await startMetricsServer(metrics, {
          port: metricsPort(config),
          host: metricsSettings.host,
          fallback: server.processes === 1 && !config.explicit.has('metrics.port'),
          beforeScrape: readGauges,
        }).catch(nameVariables)
      }
      const address = { port: server.port, host: server.host, backlog: waitingConnections }
      await app.listen(server.processes === 1 ? address : { ...address, ...sharedPort })
    },

    url(): string {
      const { address, port, family } = app.server.address() as AddressInfo
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
    },
    metricsUrl: () => metricsServer && `http://${metricsSettings.host}:${metricsServer.port}/metrics`,

    /**
     * Call it once `stop.isStopping` is true, so that /readyz is 503. Accepts connections for `shutdownDelayMs`, then closes the port. Open
     * connections are served a moment longer.
     */
    async drain(): Promise<void> {
      if (server.shutdownDelayMs === 0) return
      await wait(server.shutdownDelayMs)
      await quietTurn()
      // Not the method of HTTP servers, which closes idle connections as well: a request may be on its way on one.
      const closed = new Promise((resolve) => Server.prototype.close.call(app.server, resolve))
      await Promise.race([closed, wait(Math.min(lastRequestsMs, server.shutdownDelayMs), undefined, { ref: false })])
    },

    /** New requests get 503. Running answers get the grace period, then they are ended. */
    async close(): Promise<void> {
      stop.isRefusing = true
      const closed = app.close()
      const isClosedWithin = (ms: number) => Promise.race([closed.then(() => true), wait(ms, false, { ref: false })])
      if (!(await isClosedWithin(server.shutdownGraceMs))) {
        shutdown.abort(new AppError('shutting_down', 'The service is stopping.', { retryAfterSeconds: 2 }))
        if (!(await isClosedWithin(abortedCallsMs))) app.server.closeAllConnections()
      }
      await closed
      monitor.close()
    },
    closeMetrics: () => metricsServer?.close(),
  }
}

/** An address in use is not that of the service. */
function nameVariables(error: unknown): never {
  throw Object.assign(error as Error, { variables: { port: 'PORTICO_METRICS_PORT', host: 'PORTICO_METRICS_HOST' } })
}

/** Of several processes each has its own port, in a row: one that is chosen by chance would give other numbers at each start. */
function metricsPort({ settings: { metrics }, processNumber }: Config): number {
  return metrics.port === 0 ? 0 : metrics.port + processNumber - 1
}

function openAdmission({ config, metrics, clock, log }: ServerDependencies) {
  const { maximumEventLoopDelayMs, maximumMemoryPercent, maximumRunningRequests } = config.settings.server
  const monitor = createOverloadMonitor({ maximumEventLoopDelayMs, maximumMemoryPercent, clock, log })
  const admission = createAdmission({
    maximumRunning: maximumRunningRequests,
    pressure: monitor.pressure,
    refused: (reason) => metrics.overload.refused.inc({ reason }),
  })
  return { admission, monitor }
}

/**
 * Resolves right after a short turn of the event loop. The system resets connections that wait to be accepted when the port closes; a
 * turn accepts all of them, so that only those of the last fraction of a millisecond can be lost.
 */
async function quietTurn(): Promise<void> {
  for (let turn = 0; turn < quietTurns; turn++) {
    const beganMs = performance.now()
    await nextTurn()
    if (performance.now() - beganMs < quietTurnMs) return
  }
}
