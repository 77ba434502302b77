import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { nominalReferenceMs } from './fixed-computation.ts'
import type { PollerReport } from './livez-poller-process.ts'

/**
 * The event-loop-delay guard: no request may keep `GET /livez` waiting for more than 100 ms.
 *
 *     const portico = await startSeparatePortico()
 *     await expectResponsive(portico, () => client('POST', '/v1/…', worstBody))
 *
 * Start the service with `startSeparatePortico`: the test builds its attacks on its own event loop, which must not be the one that
 * is measured. Build the attack before the call; everything that the callback awaits is measured.
 *
 * A reply counts without the time for which the kernel made the service or the poller wait for a CPU (a blocked event loop is not waiting
 * for a CPU: it runs, or sleeps in a synchronous call), or for which the main thread sleeps while another thread of the service waits for
 * one. The bound grows with the time that a fixed computation takes in the same run. The median of three runs decides, so a single pause
 * of the machine does not: work that blocks does so each time.
 */

/** Longest reply of `/livez` while any request is handled, on a processor that takes the nominal time for the fixed computation. */
const longestReplyMs = 100

const pollerFile = path.join(import.meta.dirname, 'livez-poller-process.ts')
const majority = 2

export interface GuardedService {
  url: string
  /** The process of the service; its main thread answers `/livez`. */
  pid: number
}

/** Runs `act` until two of three runs agree, and throws when `/livez` was too slow in both. Resolves to the result of the last run. */
export async function expectResponsive<T>(service: GuardedService, act: (attempt: number) => Promise<T>): Promise<T> {
  const slow: string[] = []
  for (let attempt = 0; ; attempt++) {
    const { result, report } = await measureReplies(service, () => act(attempt))
    const allowedMs = longestReplyMs * Math.max(1, report.referenceMs / nominalReferenceMs)
    if (report.longestMs > allowedMs) slow.push(describe(report, allowedMs))
    if (slow.length === majority) throw new Error(`/livez took too long in ${majority} of 3 runs: ${slow.join(', ')}`)
    if (attempt + 1 - slow.length === majority) return result
  }
}

function describe({ longestMs, longestWallMs, polls }: PollerReport, allowedMs: number): string {
  const [reply, byClock, allowed] = [longestMs, longestWallMs, allowedMs].map(Math.round)
  return `${reply} ms (${byClock} ms by the clock, ${polls} polls) of ${allowed} ms`
}

/** Runs `act` while another process polls `/livez`; resolves to both results. */
export async function measureReplies<T>(
  { url, pid }: GuardedService,
  act: () => Promise<T>,
): Promise<{ result: T; report: PollerReport }> {
  const poller = fork(pollerFile, [url, String(pid)], { execArgv: ['--disable-warning=ExperimentalWarning'] })
  const ended = once(poller, 'exit').then(() => {
    throw new Error('the poller of /livez ended; see its output')
  })
  ended.catch(() => {})
  const message = () => Promise.race([once(poller, 'message').then(([value]) => value as unknown), ended])
  try {
    await message()
    const result = await act()
    const answer = message()
    poller.send('stop')
    return { result, report: (await answer) as PollerReport }
  } finally {
    poller.kill('SIGKILL')
  }
}
