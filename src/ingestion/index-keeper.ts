import type { Database } from '../database/index.ts'
import type { JobQueue } from '../jobs/index.ts'
import type { Clock, Log } from '../kernel/index.ts'
import { type Embedder, type SearchIndex, reindexStep } from '../retrieval/index.ts'

const maintainJob = 'maintain-index'
const reindexJob = 'reindex'
const updateTermsJob = 'update-terms'
/** How often large Spaces are looked for; an index is wanted from 20,000 chunks on, which takes longer to ingest. */
const maintainEveryMs = 60_000
/** A retired model's vectors stay a while, so that searches in flight on other instances end well. */
const retiredAgeMs = 10 * 60_000

/** Keeps the index in shape by durable jobs: indexes of large Spaces, and the change to another embedding model. */
export function createIndexKeeper({
  database,
  jobs,
  index,
  embedder,
  clock,
  log,
}: {
  database: Database
  jobs: JobQueue
  index: SearchIndex
  embedder: Embedder
  clock: Clock
  log: Log
}) {
  const enqueue = (kind: string) =>
    database.transaction((transaction) => jobs.enqueue(transaction, { kind, key: kind, payload: {} }))
  const options = {
    concurrency: 1,
    maximumAttempts: 5,
    backoffMs: 5_000,
    onExhausted: (job: { kind: string }, error: unknown) => {
      log.error({ kind: job.kind, error: String(error) }, 'the index could not be kept; it is tried again later')
      return Promise.resolve()
    },
  }
  let stop = () => {}
  return {
    async start() {
      const version = await index.embeddingVersions.prepare(embedder)
      jobs.work(maintainJob, options, async ({ signal }) => {
        const { built, dropped } = await index.engine.maintain({ signal })
        if (built.length + dropped.length > 0) log.info({ built, dropped }, 'indexes of large Spaces changed')
        await index.embeddingVersions.dropRetired(retiredAgeMs)
      })
      jobs.work(reindexJob, options, async ({ signal }) => {
        for (;;) {
          const progress = await reindexStep({ index, embedder, signal })
          if (progress.state === 'complete') break
          log.info(
            { embedder: embedder.id, embeddedChunks: progress.embeddedChunks },
            're-indexing for another embedding model',
          )
        }
      })
      jobs.work(updateTermsJob, options, async ({ signal }) => {
        const documents = await index.updateTerms(signal)
        if (documents > 0) log.info({ documents }, 'the words of older documents were analysed again')
      })
      await enqueue(updateTermsJob)
      if (version.state === 'building') await enqueue(reindexJob)
      const tick = () =>
        void enqueue(maintainJob).catch((error: unknown) =>
          log.warn({ error: String(error) }, 'could not plan index maintenance'),
        )
      tick()
      stop = clock.every(maintainEveryMs, tick)
    },
    close: () => stop(),
  }
}
