import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type MetricsServer, startMetricsServer } from '../http/index.ts'
import { createServer } from '../http/server.ts'
import { AppError, version } from '../kernel/index.ts'
import { assertGatewayAccess, createOrganisationLimiter } from '../organisations/index.ts'
import { createRoutes, type Parts } from './routes.ts'
import { createScrape } from './scrape.ts'

/** After the grace of a stop: how long what was ended may take to settle and to tell its client. */
const lastWordsMs = 2_000

/** The HTTP server with every route, and the port that Prometheus reads. */
export function openServer(parts: Parts) {
  const { config, metrics, log } = parts
  const { server, metrics: metricsSettings } = config.settings
  const shutdown = new AbortController()
  let stopping = false
  const app = createServer({
    authenticators: parts,
    limiter: createOrganisationLimiter(parts),
    assertGatewayAccess,
    metrics,
    log,
    maximumJsonBytes: server.maximumJsonBytes,
    stalledClientMs: server.stalledClientMs,
    maximumJsonBytesInFlight: server.maximumJsonBytesInFlight,
    isStopping: () => stopping,
    shutdown: shutdown.signal,
    publicUrl: server.publicUrl,
    version,
    routes: createRoutes(parts, () => stopping),
  })
  let metricsServer: MetricsServer | undefined

  return {
    version,

    /** The port of the metrics first, so that a taken one ends the start before anybody is served. */
    async listen(): Promise<void> {
      if (metricsSettings.enabled) {
        metricsServer = await startMetricsServer(metrics, {
          port: metricsSettings.port,
          host: metricsSettings.host,
          fallback: !config.explicit.has('metrics.port'),
          beforeScrape: createScrape(parts),
        })
      }
      await app.listen({ port: server.port, host: server.host })
    },

    url(): string {
      const { address, port, family } = app.server.address() as AddressInfo
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
    },
    metricsUrl: () => metricsServer && `http://${metricsSettings.host}:${metricsServer.port}/metrics`,

    /** New requests get 503; answers that run get the grace, then their end. */
    async close(): Promise<void> {
      stopping = true
      const closed = app.close()
      const isClosedWithin = (ms: number) => Promise.race([closed.then(() => true), wait(ms, false, { ref: false })])
      if (!(await isClosedWithin(server.shutdownGraceMs))) {
        shutdown.abort(new AppError('shutting_down', 'The service is stopping.', { retryAfterSeconds: 2 }))
        if (!(await isClosedWithin(lastWordsMs))) app.server.closeAllConnections()
      }
      await closed
    },
    closeMetrics: () => metricsServer?.close(),
  }
}
