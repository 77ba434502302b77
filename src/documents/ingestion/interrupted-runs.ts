import type { Database } from '../../platform/database/index.ts'
import type { ProcessingRow } from '../documents/index.ts'
import type { Job } from '../../platform/jobs/index.ts'
import { type Clock, isObject, version } from '../../platform/kernel/index.ts'
import type { Embedder, IndexRun, IndexWriter } from '../retrieval/index.ts'

/** Least time for which a document keeps its worker while documents of other organisations wait for one. */
export const sliceMs = 10_000

/** A run of a document. The chunks before `staged` are in the index. */
export interface DocumentRun {
  run: IndexRun
  staged: number
  /** Where an interrupted run continues: the payload of its job. */
  saved: SavedRun
}

interface SavedRun {
  runId: string
  /** All chunks of a run have the same name. */
  documentName: string
  /** What decides which chunks a file becomes. */
  maker: string
}

export interface RunDependencies {
  database: Database
  index: Pick<IndexWriter, 'beginRun' | 'countStaged'>
  embedder: Pick<Embedder, 'id'>
}

/** Continues the job's interrupted run if its chunks would be the same today. Otherwise begins one; null as `beginRun`. */
export async function openRun(
  { database, index, embedder }: RunDependencies,
  { organisationId, spaceId, id: documentId, name, blobKey }: ProcessingRow,
  job: Pick<Job, 'payload'>,
): Promise<DocumentRun | null> {
  const maker = `${version} ${embedder.id} ${blobKey}`
  const document = { organisationId, spaceId, documentId }
  const saved = readSaved(job.payload.interrupted)
  if (saved?.maker === maker) {
    const run = { ...document, runId: saved.runId }
    const staged = await index.countStaged(run)
    if (staged !== null) return { run, staged, saved }
  }
  const run = await database
    .for(document.organisationId)
    .transaction((transaction) => index.beginRun(transaction, document))
  return run && { run, staged: 0, saved: { runId: run.runId, documentName: name, maker } }
}

function readSaved(value: unknown): SavedRun | undefined {
  return isObject(value) ? (value as unknown as SavedRun) : undefined
}

/** The same while an organisation that has used clearly less time waits. A file that has no chunk by then moves to a slower lane. */
export const shortSliceMs = 2_000

/** The time of a run between two interruptions. */
export function createSlice(clock: Clock) {
  const openedMs = clock.monotonicMs()
  let firstMs: number | undefined
  return {
    /**
     * Called after each batch. A slice lasts at least as long as the file was read again before its first batch, so that at most half of the time is
     * lost.
     */
    isOver(): boolean {
      const nowMs = clock.monotonicMs()
      firstMs ??= nowMs
      return nowMs - firstMs >= Math.max(sliceMs, firstMs - openedMs)
    },
    /** The same for the sake of an organisation that has used clearly less time: after one batch, if the time is over then. */
    isShortOver: () => clock.monotonicMs() - openedMs >= shortSliceMs,
  }
}

type Slice = ReturnType<typeof createSlice>

/** True where a run has to give up its worker, after a batch. `isSlow`: it would lose what it has read in a long time. */
export async function mustYield(
  slice: Slice,
  job: Pick<Job, 'othersWait' | 'lighterWait'>,
  isSlow: boolean,
): Promise<boolean> {
  if (slice.isOver() && (await job.othersWait())) return true
  return !isSlow && slice.isShortOver() && (await job.lighterWait())
}
