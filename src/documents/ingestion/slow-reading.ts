import type { Job } from '../../platform/jobs/index.ts'
import type { Clock } from '../../platform/kernel/index.ts'
import { createSlice, shortSliceMs, sliceMs } from './interrupted-runs.ts'

/** Whose worker reads a document. `small`: large ones must not hold it. `slow`: of documents that take long to read. */
export type Lane = 'small' | 'any' | 'slow'

const checkEveryMs = 1_000

/** A file has given no chunk for a slice, or its pages are recognised, while documents of other organisations wait for its worker. */
export class SlowReadingError extends Error {}

export type WatchedReading = ReturnType<typeof watchReading>

/**
 * Ends the extraction of a large document that keeps its worker without giving chunks, or by the recognition of pages, which takes seconds for each;
 * `createSlice` bounds one that gives many. The worker of slow documents ends one after a page that was recognised, which is kept.
 */
export function watchReading(clock: Clock, lane: Lane, job: Pick<Job, 'signal' | 'othersWait' | 'lighterWait'>) {
  const slow = new AbortController()
  /** Since when the file is read without a chunk; Infinity: it is not read now. */
  let sinceMs = Infinity
  /** Since when pages are recognised; chunks in between make it no faster. */
  let recognisedSinceMs = Infinity
  let slice: ReturnType<typeof createSlice> | undefined
  /** Since when a small file is read or indexed. */
  let startedMs = Infinity
  const hasTaken = (ms: number) => {
    const fromMs = lane === 'small' ? startedMs : Math.min(sinceMs, recognisedSinceMs)
    return clock.monotonicMs() - fromMs >= ms
  }
  const isSlow = async () =>
    (lane === 'any' && hasTaken(sliceMs) && (await job.othersWait()) && hasTaken(sliceMs)) ||
    (lane !== 'slow' && hasTaken(shortSliceMs) && (await job.lighterWait()) && hasTaken(shortSliceMs))
  const check = async () => {
    if (await isSlow()) slow.abort(new SlowReadingError())
  }
  return {
    /** Aborts with SlowReadingError, or as the job's signal. */
    signal: AbortSignal.any([job.signal, slow.signal]),
    started() {
      sinceMs = clock.monotonicMs()
      startedMs = Math.min(startedMs, sinceMs)
      slice = createSlice(clock)
    },
    /** Called when a page was recognised. `isKept`: another run need not read it again. */
    recognised(isKept: boolean) {
      recognisedSinceMs = Math.min(recognisedSinceMs, clock.monotonicMs())
      if (isKept && lane === 'slow' && slice?.isOver())
        job.othersWait().then(
          (wait) => wait && slow.abort(new SlowReadingError()),
          () => {},
        )
    },
    async *watch<Batch>(batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
      for await (const batch of batches) {
        sinceMs = Infinity
        yield batch
        sinceMs = clock.monotonicMs()
      }
      sinceMs = Infinity
    },
    // A database that is away is looked at again a second later.
    stop: clock.every(checkEveryMs, () => void check().catch(() => {})),
  }
}
