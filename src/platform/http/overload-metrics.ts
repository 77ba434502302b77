import { Counter, Gauge, type Registry } from 'prom-client'

/** Metrics of what the public port does not accept, and of how close it is to that. */
export function createOverloadMetrics(registers: Registry[]) {
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
