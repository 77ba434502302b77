import type { Config } from '../config/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import { createUuid, type Log, notMetadata, type Telemetry, version } from '../../platform/kernel/index.ts'
import { openFetch } from './settings-of-parts.ts'

interface TelemetryDependencies {
  config: Config
  metrics: Pick<Metrics, 'telemetryDropped'>
  exportSpansEveryMs: number | undefined
  log: Log
  onStop: (close: () => unknown) => void
}

/** Connecting to the collector; `telemetry.otlp.timeoutMs` bounds the whole export. */
const connectMs = 3_000
/** Exports of traces and of metrics, and one more of each at the stop. */
const maximumConnections = 4

/** Null without an endpoint: then nothing is loaded. Throws ConfigError. */
export async function openTelemetry({
  config,
  metrics,
  exportSpansEveryMs,
  log,
  onStop,
}: TelemetryDependencies): Promise<Telemetry | null> {
  const { otlp, traces, metrics: ours, disabled, serviceName, resourceAttributes } = config.settings.telemetry
  if (disabled || otlp.endpoint === undefined) return null
  const { createTelemetry } = await import('../../platform/telemetry/index.ts')
  const outgoing = openFetch(config, {
    limits: { connectTimeoutMs: connectMs, maximumConnections },
    rule: notMetadata,
    proxies: config.proxies,
  })
  onStop(outgoing.close)
  const telemetry = createTelemetry({
    endpoint: otlp.endpoint,
    protocol: otlp.protocol,
    headers: config.secrets.otlpHeaders,
    fetch: outgoing.fetch,
    timeoutMs: otlp.timeoutMs,
    sampleRatio: traces.sampleRatio,
    propagateToProviders: traces.propagateToProviders,
    metricsIntervalMs: ours.intervalSeconds * 1_000,
    exportSpansEveryMs,
    resource: {
      ...resourceAttributes,
      'service.name': serviceName,
      'service.version': version,
      'service.instance.id': createUuid(),
    },
    version,
    urlScheme: config.settings.server.publicUrl?.startsWith('https:') ? 'https' : 'http',
    log,
    dropped: (signal, reason, count) => metrics.telemetryDropped.inc({ signal, reason }, count),
  })
  return telemetry
}
