import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that blocks its event loop on request, for event-loop-guard.proof.test.ts: `/spin?ms=` uses the CPU, `/sleep?ms=` does not. */
const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
  const ms = Number(searchParams.get('ms') ?? 0)
  // Counted in CPU time, so that it also blocks long enough on a busy machine.
  const cpuMs = () => Object.values(process.cpuUsage()).reduce((sum, micros) => sum + micros, 0) / 1000
  const untilMs = cpuMs() + ms
  if (pathname === '/spin') while (cpuMs() < untilMs);
  if (pathname === '/sleep') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  response.end('{}')
})
// On a busy machine a blocked event loop would close the poller's connection.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit(0))
