import { silentLog } from '../../kernel/index.ts'
import { createMetrics } from '../metrics.ts'
import type { ServerOptions } from '../server.ts'

/** A server without routes to which nobody has access. */
export function serverOptions(): ServerOptions {
  return {
    authenticators: {
      organisations: { authenticate: () => undefined, get: () => undefined },
      operatorTokens: { authenticate: () => false },
      people: { authenticate: async () => undefined },
    },
    limiter: { enter: () => ({ leave() {}, rates: [] }) },
    assertGatewayAccess() {},
    metrics: createMetrics(),
    log: silentLog,
    routes: [],
    maximumJsonBytes: 1_000_000,
    maximumJsonBytesInFlight: 10_000_000,
    stalledClientMs: 60_000,
    stop: { isStopping: false, isRefusing: false },
    publicUrl: undefined,
    version: 'test',
  }
}
