import type { Retrieval } from '../../documents/retrieval/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import { runStep, type Telemetry } from '../../platform/kernel/index.ts'

/** Searches with their durations and spans. */
export function observeRetrieval(
  retrieval: Retrieval,
  { metrics, telemetry }: { metrics: Pick<Metrics, 'searchSeconds'>; telemetry: Telemetry | null },
): Retrieval {
  return {
    ...retrieval,
    async search(request) {
      const startMs = performance.now()
      try {
        const step = telemetry?.retrieval(request.spaceId)
        return await runStep(
          step,
          () => retrieval.search(request),
          (passages) => passages.length,
        )
      } finally {
        metrics.searchSeconds.observe((performance.now() - startMs) / 1000)
      }
    },
  }
}
