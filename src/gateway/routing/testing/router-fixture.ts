import { createFakeClock } from '../../../../test/harness/fake-clock.ts'
import { type EndSignal, type LogFields, silentLog } from '../../../platform/kernel/index.ts'
import type { Deployment } from '../../models/index.ts'
import { createRouter } from '../router.ts'

/** A router on a fake clock. `called` lists the deployments that its calls reached, `warnings` what it logged. */
export function createRouterKit({ random = () => 0 }: { random?: () => number } = {}) {
  const clock = createFakeClock()
  const warnings: LogFields[] = []
  const log = { ...silentLog, warn: (fields: LogFields) => void warnings.push(fields) }
  const router = createRouter({ clock, random, log })
  const called: string[] = []
  /** Runs one call to its end and advances the clock over pauses; `attempt` defines the outcome of each deployment. */
  async function run(
    candidates: Deployment[],
    attempt: (deployment: Deployment, signal: EndSignal) => Promise<string>,
    options: {
      maximumAttempts?: number
      perAttemptTimeoutMs?: number
      totalTimeoutMs?: number
      streamed?: boolean
      signal?: EndSignal
    } = {},
  ) {
    const { signal = new AbortController().signal, ...limits } = options
    const startedMs = clock.monotonicMs()
    const state = { ended: false }
    const promise = router
      .run({ candidates, signal, ...limits }, (deployment, attemptSignal) => {
        called.push(deployment.id)
        return attempt(deployment, attemptSignal)
      })
      .finally(() => (state.ended = true))
    promise.catch(() => {})
    for (let rounds = 0; rounds < 50 && !state.ended; rounds++) {
      await clock.advance(0)
      if (!state.ended) await clock.advance(clock.nextMs() ?? 0)
    }
    const outcome = await promise.then(
      (value) => ({ ok: true as const, ...value }),
      (error: unknown) => ({ ok: false as const, error }),
    )
    return { ...outcome, tookMs: clock.monotonicMs() - startedMs }
  }
  const failing = (makeError: () => Error) => async () => {
    throw makeError()
  }
  return { clock, router, called, run, failing, warnings }
}
