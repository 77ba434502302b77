import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { referenceMs } from './fixed-computation.ts'

/**
 * Polls `GET /livez` over its own connection and measures each reply, for event-loop-guard.ts. A separate process, so that the
 * work of the test (which builds the attacks) is not measured. Usage: livez-poller-process.ts URL PID
 */

export interface PollerReport {
  polls: number
  /** The longest reply, without the time for which the service or this poller waited for a CPU. */
  longestMs: number
  /** The same reply in wall-clock time. */
  longestWallMs: number
  /** Of the fixed computation, repeated between the polls: the median. */
  referenceMs: number
}

const pauseMs = 4
/** Polls between two repetitions of the fixed computation, which takes this process about 1 % of a processor. */
const pollsPerReference = 50
/** A reply that takes longer than this is reported as taking this long. */
const replyDeadlineMs = 120_000
/** The first replies include the connection and cold code. */
const warmUpPolls = 10

const [url, pid] = process.argv.slice(2) as [string, string]
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
const stop = new AbortController()
process.once('message', () => stop.abort())
// Ends with the test.
process.once('disconnect', () => process.exit(1))

for (let index = 0; index < warmUpPolls; index++) {
  await poll()
  // The first runs compile the code.
  referenceMs()
}
const report: PollerReport = { polls: 0, longestMs: 0, longestWallMs: 0, referenceMs: 0 }
const references: number[] = []
process.send!('ready')
while (!stop.signal.aborted) {
  if (report.polls % pollsPerReference === 0) references.push(referenceMs())
  const [ms, wallMs] = await poll()
  report.polls++
  if (ms > report.longestMs) {
    report.longestMs = ms
    report.longestWallMs = wallMs
  }
  await wait(pauseMs)
}
report.referenceMs = references.toSorted((left, right) => left - right)[references.length >> 1]!
process.send!(report, () => process.exit(0))

async function poll(): Promise<[number, number]> {
  const waitedMs = cpuWaitMs()
  const startedMs = performance.now()
  await getLivez()
  const wallMs = performance.now() - startedMs
  return [Math.max(0, wallMs - (cpuWaitMs() - waitedMs)), wallMs]
}

function getLivez(): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.get(`${url}/livez`, { agent, timeout: replyDeadlineMs }, (response) => {
      response.resume()
      response.once('end', () => (response.statusCode === 200 ? resolve() : reject(new Error('/livez is not 200'))))
    })
    request.once('timeout', () => resolve())
    request.once('error', reject)
  })
}

/**
 * Time for which the main threads of the service and of this process were ready to run but had no CPU, from the
 * scheduler's statistics of Linux. On other systems 0: every millisecond then counts.
 */
function cpuWaitMs(): number {
  try {
    const ofService = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
    const ofPoller = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8')
    return (Number(ofService.split(' ')[1]) + Number(ofPoller.split(' ')[1])) / 1e6
  } catch {
    return 0
  }
}
