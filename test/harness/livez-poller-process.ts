import { readdirSync, readFileSync } from 'node:fs'
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
  const before = threadTimes()
  const startedMs = performance.now()
  await getLivez()
  const wallMs = performance.now() - startedMs
  return [Math.max(0, wallMs - starvedMs(before, threadTimes(), wallMs)), wallMs]
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

/** Time that a thread had a CPU, and that it was ready to run without one. */
interface ThreadTimes {
  ranMs: number
  waitedMs: number
}

/**
 * Time of a reply in which the kernel kept the service or this poller from a CPU: the main thread itself, or, while it sleeps, another thread of the
 * service. It sleeps where it needs them: it ends a garbage collection together with V8's threads, and a page fault waits for a thread that changes
 * the memory map. On a machine with free processors none of them waits, so that a call that blocks the event loop by sleeping counts in full.
 */
function starvedMs(before: Map<string, ThreadTimes>, after: Map<string, ThreadTimes>, wallMs: number): number {
  const none = { ranMs: 0, waitedMs: 0 }
  let main = none
  let poller = none
  let othersWaitedMs = 0
  for (const [thread, times] of after) {
    const earlier = before.get(thread) ?? none
    const spent = { ranMs: times.ranMs - earlier.ranMs, waitedMs: times.waitedMs - earlier.waitedMs }
    if (thread === pid) main = spent
    else if (thread === 'poller') poller = spent
    else othersWaitedMs = Math.max(othersWaitedMs, spent.waitedMs)
  }
  const awakeMs = main.waitedMs + poller.waitedMs
  const sleptMs = Math.max(0, wallMs - main.ranMs - awakeMs)
  return awakeMs + Math.min(sleptMs, othersWaitedMs)
}

/** Of each thread of the service by its id, and of this process; from the scheduler's statistics of Linux. Empty on other systems: all time counts. */
function threadTimes(): Map<string, ThreadTimes> {
  const times = new Map<string, ThreadTimes>()
  const read = (name: string, file: string) => {
    try {
      const [ranNs, waitedNs] = readFileSync(file, 'utf8').split(' ')
      times.set(name, { ranMs: Number(ranNs) / 1e6, waitedMs: Number(waitedNs) / 1e6 })
    } catch {
      // A thread that has ended.
    }
  }
  const folder = `/proc/${pid}/task`
  try {
    for (const thread of readdirSync(folder)) read(thread, `${folder}/${thread}/schedstat`)
  } catch {
    return times
  }
  read('poller', `/proc/self/task/${process.pid}/schedstat`)
  return times
}
