import { type Clock, percentile } from '../../../platform/kernel/index.ts'
import type { RerankOutcome } from './rerank-stage.ts'

export interface RerankerState {
  /** `unused`: no passages were compared since the start of this instance. */
  state: 'unused' | 'ready' | 'failing'
  /** Of the last comparison; null: none. */
  outcome: RerankOutcome | null
  atMs: number | null
  /** Of the last comparisons with an order, milliseconds; null: none. */
  latencyP50Ms: number | null
  latencyP95Ms: number | null
}

export type RerankerHealth = ReturnType<typeof createRerankerHealth>

/** Comparisons whose latency is kept. */
const keptLatencies = 100

/** How the last comparisons of this instance ended, for operators. */
export function createRerankerHealth(clock: Pick<Clock, 'now'>) {
  const latencies: number[] = []
  let last: { outcome: RerankOutcome; atMs: number } | undefined
  return {
    /** Too few passages to compare mean nothing for the reranker. */
    observe(outcome: RerankOutcome, seconds: number): void {
      if (outcome === 'skipped') return
      last = { outcome, atMs: clock.now() }
      if (outcome !== 'reranked') return
      latencies.push(Math.round(seconds * 1000))
      if (latencies.length > keptLatencies) latencies.shift()
    },
    current(): RerankerState {
      const ascending = latencies.toSorted((left, right) => left - right)
      return {
        state: last === undefined ? 'unused' : last.outcome === 'reranked' ? 'ready' : 'failing',
        outcome: last?.outcome ?? null,
        atMs: last?.atMs ?? null,
        latencyP50Ms: percentile(ascending, 0.5),
        latencyP95Ms: percentile(ascending, 0.95),
      }
    },
  }
}
