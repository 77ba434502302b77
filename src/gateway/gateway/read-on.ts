import type { Clock } from '../../platform/kernel/index.ts'

/** Longest time that a provider's answer is read after its client has left, to learn what it costs. */
const readOnMs = 30_000
/** Most answers that are read on at the same time, in total and of one organisation; others are estimated at once. */
const maximumReadings = { together: 512, perOrganisation: 32 }
/** Output tokens per second of a deployment without measurements: typical for large models. */
const typicalTokensPerSecond = 50
/** Share of the newest call in a deployment's measured rate. */
const newestShare = 0.2
/** Shorter calls measure the network rather than the model. */
const shortestMeasuredMs = 200

/** Reads on answers whose client has left, and measures how fast deployments generate, to estimate answers without usage. */
export type ReadOn = ReturnType<typeof createReadOn>

export function createReadOn({ clock }: { clock: Clock }) {
  const running = new Map<Promise<void>, string>()
  const perSecond = new Map<string, number>()
  const closing = new AbortController()

  async function runWithin(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const over = new AbortController()
    const stop = () => over.abort(new Error('the answer of a client that has left is read no longer'))
    closing.signal.addEventListener('abort', stop, { once: true })
    void clock.sleep(readOnMs, over.signal).then(stop, () => {})
    try {
      await work(over.signal)
    } finally {
      closing.signal.removeEventListener('abort', stop)
      // Ends the sleep.
      stop()
    }
  }

  return {
    /**
     * Starts `work` in the background with a signal that aborts after 30 s and at `close`. False: too many run already, and nothing
     * was started. `work` must not reject.
     */
    start(organisationId: string, work: (signal: AbortSignal) => Promise<void>): boolean {
      const own = [...running.values()].filter((id) => id === organisationId).length
      if (closing.signal.aborted || running.size >= maximumReadings.together) return false
      if (own >= maximumReadings.perOrganisation) return false
      const reading = runWithin(work).finally(() => running.delete(reading))
      running.set(reading, organisationId)
      return true
    },
    /** Output tokens, hidden ones included, that a deployment has generated in a whole call of this length. */
    measure(deploymentId: string, tokens: number, durationMs: number): void {
      if (durationMs < shortestMeasuredMs || tokens <= 0) return
      const rate = (tokens * 1000) / durationMs
      const before = perSecond.get(deploymentId)
      perSecond.set(deploymentId, before === undefined ? rate : before + (rate - before) * newestShare)
    },
    /** Output tokens that a deployment generates in this time, as measured. */
    estimate(deploymentId: string, durationMs: number): number {
      return Math.ceil(((perSecond.get(deploymentId) ?? typicalTokensPerSecond) * durationMs) / 1000)
    },
    /** Ends all reads and waits until their calls are settled. */
    async close(): Promise<void> {
      closing.abort()
      await Promise.all(running.keys())
    },
  }
}
