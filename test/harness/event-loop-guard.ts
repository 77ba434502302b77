import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
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
 * Two measures reduce the noise of a busy machine. A reply counts without the time for which the kernel made the service
 * or the poller wait for a CPU (a blocked event loop is not waiting for a CPU: it runs, or sleeps in a synchronous call). And a
 * run that is too slow is repeated, `attempts` in all; it fails when every attempt is too slow. Work that blocks does so
 * each time.
 */

/** Longest reply of `/livez` while any request is handled. */
export const longestReplyMs = 100

const pollerFile = path.join(import.meta.dirname, 'livez-poller-process.ts')

export interface GuardedService {
  url: string
  /** The process of the service; its main thread answers `/livez`. */
  pid: number
}

export interface GuardOptions {
  limitMs?: number
  /** Maximum runs of the callback; 1 for a callback that cannot be repeated. */
  attempts?: number
}

/** Runs `act` and throws when `/livez` was too slow in every attempt. Resolves to the result of `act`. */
export async function expectResponsive<T>(
  service: GuardedService,
  act: (attempt: number) => Promise<T>,
  { limitMs = longestReplyMs, attempts = 5 }: GuardOptions = {},
): Promise<T> {
  const reports: PollerReport[] = []
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { result, report } = await measureReplies(service, () => act(attempt))
    if (report.longestMs <= limitMs) return result
    reports.push(report)
  }
  const seen = reports.map(({ longestMs, longestWallMs, polls }) => {
    return `${Math.round(longestMs)} ms (${Math.round(longestWallMs)} ms by the clock, ${polls} polls)`
  })
  throw new Error(`/livez took longer than ${limitMs} ms in each attempt: ${seen.join(', ')}`)
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
