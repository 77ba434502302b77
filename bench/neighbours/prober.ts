import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Sends requests to each target at fixed times, whether or not earlier ones were answered, until it receives a message; then reports about each. A
 * separate process, so that the flood of bench/neighbours.ts does not delay it. Usage: prober.ts JSON
 */

export interface ProbedTarget {
  name: string
  url: string
  /** Of the server's process: its main thread answers. */
  pid: number
  key?: string
  /** Each request has a new connection. */
  isFresh?: boolean
  /** With a body: POST. */
  body?: string
}

/** Milliseconds, in the order of the answers. */
export interface ProbeReport {
  name: string
  /** By the clock, from the time at which the request was due: a late answer delays no other probe, and hides none. */
  wall: number[]
  /** Processor time of the server's main thread from the sending to the answer: on a busy machine what delays it, apart from other programs. */
  busy: number[]
  /** How many answers had each status other than 200; 0: no answer. */
  failures: Record<string, number>
}

const everyMs = 40
/** Open before the flood begins. */
const connections = 32

const targets = JSON.parse(process.argv[2]!) as ProbedTarget[]
const stop = new AbortController()
process.once('disconnect', () => process.exit(1))
const agents = targets.map(
  ({ isFresh }) => new http.Agent({ keepAlive: !isFresh, maxSockets: isFresh ? Infinity : connections }),
)
for (const [index, target] of targets.entries())
  await Promise.all(Array.from({ length: connections }, () => send(target, agents[index]!)))
process.once('message', () => stop.abort())
process.send!('ready')
process.send!(await Promise.all(targets.map((target, index) => probe(target, agents[index]!))), () => process.exit(0))

async function probe(target: ProbedTarget, agent: http.Agent): Promise<ProbeReport> {
  const report: ProbeReport = { name: target.name, wall: [], busy: [], failures: {} }
  const probes: Promise<void>[] = []
  for (let dueMs = performance.now(); !stop.signal.aborted; dueMs += everyMs) {
    await wait(Math.max(0, dueMs - performance.now()))
    probes.push(measure(target, agent, dueMs, report))
  }
  await Promise.all(probes)
  return report
}

async function measure(target: ProbedTarget, agent: http.Agent, dueMs: number, report: ProbeReport): Promise<void> {
  const busyBeforeMs = busyMs(target.pid)
  const status = await send(target, agent)
  report.wall.push(performance.now() - dueMs)
  report.busy.push(busyMs(target.pid) - busyBeforeMs)
  if (status !== 200) report.failures[status] = (report.failures[status] ?? 0) + 1
}

function send({ url, key, body }: ProbedTarget, agent: http.Agent): Promise<number> {
  return new Promise((resolve) => {
    const request = http.request(
      url,
      {
        agent,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(key !== undefined && { 'x-api-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        },
      },
      (response) => {
        response.resume()
        response.once('end', () => resolve(response.statusCode!))
        response.once('error', () => resolve(0))
      },
    )
    request.once('error', () => resolve(0))
    request.end(body)
  })
}

/** Processor time of the main thread of a process, by the scheduler's statistics; 0 outside of Linux. */
function busyMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}
