import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** All metrics in one registry; rooms receive the functions that they need as arguments. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'portico_' })
  const registers = [registry]
  return {
    registry,
    http: createRequestMetrics(registers),
    instances: new Gauge({
      name: 'portico_instances',
      help: 'Processes that are alive on this database, by role.',
      labelNames: ['role'],
      registers,
    }),
    overload: createOverloadMetrics(registers),
    telemetryDropped: new Counter({
      name: 'portico_telemetry_dropped_total',
      help: 'Spans (traces) and exports (metrics) that the collector has not received, by reason: queue_full, unreachable, timeout, status or rejected.',
      labelNames: ['signal', 'reason'],
      registers,
    }),
    ...createBillingMetrics(registers),
    ...createProviderMetrics(registers),
    ...createDocumentMetrics(registers),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

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

/** Usage, cost and budgets. */
function createBillingMetrics(registers: Registry[]) {
  return {
    completionTokens: new Counter({
      name: 'portico_tokens_total',
      help: 'Billed tokens.',
      labelNames: ['surface', 'class'],
      registers,
    }),
    billedUsd: new Counter({
      name: 'portico_billed_usd_total',
      help: 'Billed cost with markup, US dollars (for plots; the ledger is exact).',
      labelNames: ['surface'],
      registers,
    }),
    writtenOffUsd: new Counter({
      name: 'portico_written_off_usd_total',
      help: 'Provider cost above what a budget could bear, carried by the operator.',
      registers,
    }),
    statedCosts: new Counter({
      name: 'portico_stated_costs_total',
      help: 'Calls whose provider stated a cost, compared with tokens times prices: equal (within 1 %), above or below.',
      labelNames: ['deployment', 'result'],
      registers,
    }),
    removedEntries: new Counter({
      name: 'portico_ledger_entries_removed_total',
      help: 'Old ledger entries that this instance removed, because of ledger.keepEntriesDays.',
      registers,
    }),
    budgetThresholds: new Counter({
      name: 'portico_budget_thresholds_total',
      help: 'Budgets that crossed a threshold.',
      labelNames: ['threshold'],
      registers,
    }),
    budgetLeftUsd: new Gauge({
      name: 'portico_budget_left_usd',
      help: 'What is left of the running budget period; at most 500 organisations, the smallest share left first.',
      labelNames: ['organisation'],
      registers,
    }),
  }
}

/** Calls to providers. */
function createProviderMetrics(registers: Registry[]) {
  return {
    providerAttempts: new Counter({
      name: 'portico_provider_attempts_total',
      help: 'Calls to providers by outcome.',
      labelNames: ['deployment', 'outcome'],
      registers,
    }),
    learnedRefusals: new Counter({
      name: 'portico_learned_refusals_total',
      help: 'Request fields that a deployment turned out to refuse, each left out for an hour.',
      labelNames: ['deployment', 'field'],
      registers,
    }),
    circuitState: new Gauge({
      name: 'portico_circuit_state',
      help: 'Circuit of a deployment as this instance sees it: 0 closed, 1 half open, 2 open.',
      labelNames: ['deployment'],
      registers,
    }),
  }
}

/** Documents, their search, and background jobs. */
function createDocumentMetrics(registers: Registry[]) {
  return {
    jobs: new Gauge({
      name: 'portico_jobs',
      help: 'Background jobs of all instances: delayed, ready (waiting for a worker) or running.',
      labelNames: ['kind', 'state'],
      registers,
    }),
    documents: new Counter({
      name: 'portico_documents_processed_total',
      help: 'Documents that left processing.',
      labelNames: ['status', 'code'],
      registers,
    }),
    ingestionSeconds: new Histogram({
      name: 'portico_ingestion_seconds',
      help: 'From upload to ready.',
      buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900],
      registers,
    }),
    citations: new Counter({
      name: 'portico_citations_total',
      help: 'Markers of answers by outcome of their check: supported, moved, dropped, unchecked, or attributed: added.',
      labelNames: ['outcome'],
      registers,
    }),
    goldenRuns: new Counter({
      name: 'portico_golden_runs_total',
      help: 'Runs of golden questions that this instance ended, by trigger (manual or schedule) and outcome: completed, worse (completed, and questions of the run before no longer passed), stopped or failed.',
      labelNames: ['trigger', 'outcome'],
      registers,
    }),
    spaceTools: new Counter({
      name: 'portico_space_tool_calls_total',
      help: 'Uses of tools of Spaces, by kind (mcp or openapi) and outcome: answered, refused (by the service), failed or stopped (the time or the client ended it).',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    searchSeconds: new Histogram({
      name: 'portico_search_seconds',
      help: 'Hybrid search in a Space.',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    reranks: new Counter({
      name: 'portico_reranks_total',
      help: 'Searches that a reranker was to order, by outcome: reranked, timeout, failed, resting or skipped.',
      labelNames: ['outcome'],
      registers,
    }),
    rerankSeconds: new Histogram({
      name: 'portico_rerank_seconds',
      help: 'Comparison of the best passages of a search with the question.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
      registers,
    }),
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
export function createRequestMetrics(registers: Registry[]) {
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
  void new Gauge({
    name: 'portico_http_requests_in_flight',
    help: 'Requests being handled.',
    registers,
    collect() {
      this.set(inFlight)
    },
  })

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
function createOverloadMetrics(registers: Registry[]) {
  let running = () => 0
  let connections = () => 0
  void new Gauge({
    name: 'portico_running_requests',
    help: 'Requests of organisations that run, streams included; server.maximumRunningRequests bounds them.',
    registers,
    collect() {
      this.set(running())
    },
  })
  void new Gauge({
    name: 'portico_http_connections',
    help: 'Open connections of the public port; server.maximumConnections bounds them.',
    registers,
    collect() {
      this.set(connections())
    },
  })
  return {
    refused: new Counter({
      name: 'portico_overload_refusals_total',
      help: 'Requests that were rejected before their body was read, by reason: running, share, event_loop or memory.',
      labelNames: ['reason'],
      registers,
    }),
    refusedConnections: new Counter({
      name: 'portico_http_connections_refused_total',
      help: 'Connections above server.maximumConnections, closed without an answer.',
      registers,
    }),
    /** The gauges read these when they are scraped. */
    observe(read: { running: () => number; connections: () => number }): void {
      running = read.running
      connections = read.connections
    },
  }
}
