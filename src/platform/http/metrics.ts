import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { picoUsdPerUsd, type TokenCounts } from '../kernel/index.ts'

/** All metrics in one registry; rooms receive the functions that they need as arguments. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'portico_' })
  const makers = metricsIn(registry)
  const { counter, gauge } = makers
  return {
    registry,
    http: createRequestMetrics(registry),
    instances: gauge('portico_instances', 'Processes that are alive on this database, by role.', ['role']),
    overload: createOverloadMetrics(makers),
    telemetryDropped: counter(
      'portico_telemetry_dropped_total',
      'Spans (traces) and exports (metrics) that the collector has not received, by reason: queue_full, unreachable, timeout, status or rejected.',
      ['signal', 'reason'],
    ),
    ...createBillingMetrics(makers),
    ...createProviderMetrics(makers),
    ...createDocumentMetrics(makers),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
type Makers = ReturnType<typeof metricsIn>

/** Each takes the name of a metric and what it counts. */
function metricsIn(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, buckets: number[]) => new Histogram({ name, help, buckets, registers }),
    /** Its value is read when it is scraped. */
    liveGauge(name: string, help: string, read: () => number) {
      void new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    },
  }
}

export interface MetricsServer {
  port: number
  close(): Promise<void>
}

/**
 * Serves `GET /metrics` on a separate port, so that the public port does not expose it. The port belongs to this process, also where
 * processes share the public one: each scrape of an address has the numbers of the same process. With `fallback`, a free
 * port replaces one that is in use, so that a second instance on the same machine can start with the defaults.
 */
export async function startMetricsServer(
  metrics: Metrics,
  {
    port,
    host,
    fallback,
    beforeScrape,
  }: {
    port: number
    host: string
    fallback: boolean
    /** Updates the gauges that are read from a database. Must not reject. */
    beforeScrape: () => Promise<void>
  },
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    beforeScrape()
      .then(() => metrics.registry.metrics())
      .then(
        (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      )
  })
  try {
    await listen(server, port, host)
  } catch (error) {
    if (!fallback || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    await listen(server, 0, host)
  }
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** What plots need of a receipt. */
interface BilledCall {
  surface: string
  usage: Pick<TokenCounts, 'promptTokens' | 'cachedTokens' | 'completionTokens'>
  billedPicoUsd: bigint
  writtenOffPicoUsd: bigint
}

/** Usage, cost and budgets. */
function createBillingMetrics({ counter, gauge }: Makers) {
  const tokens = counter('portico_tokens_total', 'Billed tokens.', ['surface', 'class'])
  const billedUsd = counter(
    'portico_billed_usd_total',
    'Billed cost with markup, US dollars (for plots; the ledger is exact).',
    ['surface'],
  )
  const writtenOffUsd = counter(
    'portico_written_off_usd_total',
    'Provider cost above what a budget could bear, carried by the operator.',
  )
  return {
    billed({ surface, usage, billedPicoUsd, writtenOffPicoUsd }: BilledCall) {
      tokens.inc({ surface, class: 'prompt' }, usage.promptTokens)
      tokens.inc({ surface, class: 'cached' }, usage.cachedTokens)
      tokens.inc({ surface, class: 'completion' }, usage.completionTokens)
      // Floats are exact enough for plots.
      billedUsd.inc({ surface }, Number(billedPicoUsd) / Number(picoUsdPerUsd))
      if (writtenOffPicoUsd > 0n) writtenOffUsd.inc(Number(writtenOffPicoUsd) / Number(picoUsdPerUsd))
    },
    statedCosts: counter(
      'portico_stated_costs_total',
      'Calls whose provider stated a cost, compared with tokens times prices: equal (within 1 %), above or below.',
      ['deployment', 'result'],
    ),
    removedEntries: counter(
      'portico_ledger_entries_removed_total',
      'Old ledger entries that this instance removed, because of ledger.keepEntriesDays.',
    ),
    budgetThresholds: counter('portico_budget_thresholds_total', 'Budgets that crossed a threshold.', ['threshold']),
    budgetLeftUsd: gauge(
      'portico_budget_left_usd',
      'What is left of the running budget period; at most 500 organisations, the smallest share left first.',
      ['organisation'],
    ),
  }
}

/** Calls to providers. */
function createProviderMetrics({ counter, gauge }: Makers) {
  return {
    providerAttempts: counter('portico_provider_attempts_total', 'Calls to providers by outcome.', [
      'deployment',
      'outcome',
    ]),
    learnedRefusals: counter(
      'portico_learned_refusals_total',
      'Request fields that a deployment turned out to refuse, each left out for an hour.',
      ['deployment', 'field'],
    ),
    circuitState: gauge(
      'portico_circuit_state',
      'Circuit of a deployment as this instance sees it: 0 closed, 1 half open, 2 open.',
      ['deployment'],
    ),
  }
}

/** Documents, their search, and background jobs. */
function createDocumentMetrics({ counter, gauge, histogram }: Makers) {
  return {
    jobs: gauge('portico_jobs', 'Background jobs of all instances: delayed, ready (waiting for a worker) or running.', [
      'kind',
      'state',
    ]),
    documents: counter('portico_documents_processed_total', 'Documents that left processing.', ['status', 'code']),
    ingestionSeconds: histogram(
      'portico_ingestion_seconds',
      'From upload to ready.',
      [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900],
    ),
    citations: counter(
      'portico_citations_total',
      'Markers of answers by outcome of their check: supported, moved, dropped, unchecked, or attributed: added.',
      ['outcome'],
    ),
    goldenRuns: counter(
      'portico_golden_runs_total',
      'Runs of golden questions that this instance ended, by trigger (manual or schedule) and outcome: completed, worse (completed, and questions of the run before no longer passed), stopped or failed.',
      ['trigger', 'outcome'],
    ),
    spaceTools: counter(
      'portico_space_tool_calls_total',
      'Uses of tools of Spaces, by kind (mcp or openapi) and outcome: answered, refused (by the service), failed or stopped (the time or the client ended it).',
      ['kind', 'outcome'],
    ),
    searchSeconds: histogram(
      'portico_search_seconds',
      'Hybrid search in a Space.',
      [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    ),
    reranks: counter(
      'portico_reranks_total',
      'Searches that a reranker was to order, by outcome: reranked, timeout, failed, resting or skipped.',
      ['outcome'],
    ),
    rerankSeconds: histogram(
      'portico_rerank_seconds',
      'Comparison of the best passages of a search with the question.',
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
    ),
  }
}

/** Answered requests that wait to be added to the histogram: a full list takes a third of a millisecond. */
const waitingDurations = 1_000

/** A route's answers since they were last added to the metrics. */
interface RouteCounts {
  /** By method and status, as `GET 200`. */
  answers: Map<string, number>
  seconds: number[]
}

/**
 * Metrics of the public port's requests. They are counted here and added to the metrics in batches, at the latest when these are
 * read: finding the labels of three metrics takes as long as parsing the body of a request.
 */
export function createRequestMetrics(registry: Registry) {
  const registers = [registry]
  const routes = new Map<string, RouteCounts>()
  let inFlight = 0
  let waiting = 0

  const requests = new Counter({
    name: 'portico_http_requests_total',
    help: 'Answered HTTP requests.',
    labelNames: ['method', 'route', 'status'],
    registers,
    collect: flush,
  })
  const seconds = new Histogram({
    name: 'portico_http_request_seconds',
    help: 'From the first byte of a request to the last byte of its answer.',
    labelNames: ['route'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
    collect: flush,
  })
  metricsIn(registry).liveGauge('portico_http_requests_in_flight', 'Requests being handled.', () => inFlight)

  function flush() {
    for (const [route, counts] of routes) {
      for (const [answer, count] of counts.answers) {
        const [method = '', status = ''] = answer.split(' ')
        requests.inc({ method, route, status }, count)
      }
      for (const duration of counts.seconds) seconds.observe({ route }, duration)
    }
    routes.clear()
    waiting = 0
  }

  return {
    started(): void {
      inFlight++
    },
    /** The connection of the answer is free, or it has closed. */
    ended(): void {
      inFlight--
    },
    answered(method: string, route: string, status: number, durationMs: number): void {
      let counts = routes.get(route)
      if (!counts) routes.set(route, (counts = { answers: new Map(), seconds: [] }))
      const answer = `${method} ${status}`
      counts.answers.set(answer, (counts.answers.get(answer) ?? 0) + 1)
      counts.seconds.push(durationMs / 1000)
      if (++waiting >= waitingDurations) flush()
    },
  }
}

/** Metrics of what the public port does not accept, and of how close it is to that. */
function createOverloadMetrics({ counter, liveGauge }: Makers) {
  let running = () => 0
  let connections = () => 0
  liveGauge(
    'portico_running_requests',
    'Requests of organisations that run, streams included; server.maximumRunningRequests bounds them.',
    () => running(),
  )
  liveGauge(
    'portico_http_connections',
    'Open connections of the public port; server.maximumConnections bounds them.',
    () => connections(),
  )
  return {
    refused: counter(
      'portico_overload_refusals_total',
      'Requests that were rejected before their body was read, by reason: running, share, event_loop or memory.',
      ['reason'],
    ),
    refusedConnections: counter(
      'portico_http_connections_refused_total',
      'Connections above server.maximumConnections, closed without an answer.',
    ),
    /** The gauges read these when they are scraped. */
    observe(read: { running: () => number; connections: () => number }): void {
      running = read.running
      connections = read.connections
    },
  }
}
