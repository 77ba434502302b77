import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { percentile } from '../../src/platform/kernel/index.ts'

/**
 * Sends requests to each target, one after the other, until it receives a message; then reports about each. A separate
 * process, so that the flood of bench/neighbours.ts does not delay it. Usage: prober.ts JSON
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

export interface ProbeReport {
  name: string
  probes: number
  /** By the clock. */
  wall: Times
  /** Processor time of the server's main thread while a probe waited: on a busy machine what delays it, apart from other programs. */
  busy: Times
  /** How many answers had each status other than 200; 0: no answer. */
  failures: Record<string, number>
}

/** Milliseconds. */
export interface Times {
  median: number
  p99: number
  longest: number
}

const pauseMs = 5
const warmUpProbes = 20

const targets = JSON.parse(process.argv[2]!) as ProbedTarget[]
const stop = new AbortController()
process.once('disconnect', () => process.exit(1))
const warm = Promise.withResolvers<void>()
let cold = targets.length
const reports = targets.map(probe)
await warm.promise
process.once('message', () => stop.abort())
process.send!('ready')
process.send!(await Promise.all(reports), () => process.exit(0))

async function probe(target: ProbedTarget): Promise<ProbeReport> {
  const agent = new http.Agent({ keepAlive: !target.isFresh, maxSockets: 1 })
  for (let index = 0; index < warmUpProbes; index++) await send(target, agent)
  if (--cold === 0) warm.resolve()
  const failures: Record<string, number> = {}
  const wall: number[] = []
  const busy: number[] = []
  while (!stop.signal.aborted) {
    const busyBeforeMs = busyMs(target.pid)
    const startedMs = performance.now()
    const status = await send(target, agent)
    wall.push(performance.now() - startedMs)
    busy.push(busyMs(target.pid) - busyBeforeMs)
    if (status !== 200) failures[status] = (failures[status] ?? 0) + 1
    await wait(pauseMs)
  }
  return { name: target.name, probes: wall.length, wall: timesOf(wall), busy: timesOf(busy), failures }
}

function timesOf(values: number[]): Times {
  values.sort((left, right) => left - right)
  return {
    median: percentile(values, 0.5) ?? 0,
    p99: percentile(values, 0.99) ?? 0,
    longest: values.at(-1) ?? 0,
  }
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
