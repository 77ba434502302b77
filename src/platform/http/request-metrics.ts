import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

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
