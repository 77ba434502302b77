import type { Routes } from '../platform/http/index.ts'
import { systemClock } from '../platform/kernel/index.ts'
import { createPhases, type Given, type ServiceOptions } from './given.ts'
import type { GatewayParts } from './compose-gateway.ts'
import type { PartList } from './part-list.ts'
import { type DescribedPart, describeStart } from './parts/describe-start.ts'
import { openServer } from './parts/server.ts'
import type { ControlStorage } from './storage.ts'

interface Composition<Corpus, Parts extends GatewayParts> {
  storage: ControlStorage
  corpus: Corpus
  list: PartList<Given<Corpus>, Parts & Given<Corpus>>
  routes: (parts: Parts) => Routes[]
  /** Lines of a start. */
  describe: (parts: Parts) => DescribedPart[]
}

/** A service of any role. */
export interface Service<Parts> {
  parts: Parts
  /** Starts the background work and listens. */
  start(): Promise<{ url: string; metricsUrl: string | undefined }>
  /** The lines that a start prints. */
  describe(): string
  /**
   * Requests are served for `shutdownDelayMs` unless the stop is urgent, streams finish within the grace period, jobs return to the
   * queue, every part closes in reverse order. Idempotent.
   */
  stop(options?: { isUrgent?: boolean }): Promise<void>
}

/** Makes the parts of a list, and the server with its routes. */
export async function openService<Corpus, Parts extends GatewayParts>(
  { config, clock = systemClock, ...options }: ServiceOptions<ControlStorage>,
  { storage, corpus, list, routes, describe }: Composition<Corpus, Parts>,
): Promise<Service<Parts>> {
  const { databases, secretKey, events, log } = storage
  const { control } = databases
  await using building = new AsyncDisposableStack()
  const phases = createPhases((close) => building.defer(async () => void (await close())))
  const stop = { isStopping: false, isRefusing: false }
  phases.onStop(() => databases.close())
  const given = { ...options, config, clock, log, control, corpus, secretKey, events }
  const parts = await list.make({ ...given, ...phases, stop })
  const { organisations, operatorTokens, accounts, limiter, metrics, telemetry, readGauges } = parts
  const server = openServer({
    config,
    callers: { organisations, operatorTokens, people: accounts },
    limiter,
    routes: routes(parts),
    metrics,
    telemetry,
    readGauges,
    stop,
    clock,
    log,
  })
  performance.mark('routes and pages')
  const opened = building.move()

  return {
    parts,
    async start() {
      await phases.start()
      await server.listen()
      performance.mark('listening')
      return { url: server.url(), metricsUrl: server.metricsUrl() }
    },
    describe: () => describeStart(config, control, server, describe(parts)),
    async stop({ isUrgent = false } = {}) {
      if (stop.isStopping) return
      stop.isStopping = true
      if (!isUrgent) await server.drain()
      await phases.beginStop()
      await server.close()
      await phases.endServed()
      await server.closeMetrics()
      await opened.disposeAsync()
    },
  }
}
