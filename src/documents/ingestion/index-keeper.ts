import type { OwnedDatabase } from '../../platform/database/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import type { Clock, Log } from '../../platform/kernel/index.ts'
import { checkDueSpaces, type Embedders, type MaintenanceReport, type SearchIndex } from '../retrieval/index.ts'
import { reindex } from './reindex-round.ts'

const maintainJob = 'maintain-index'
const indexNewJob = 'index-new'
const reindexJob = 'reindex'
const updateTermsJob = 'update-terms'
const checkVectorsJob = 'check-vectors'
const fillFilterFieldsJob = 'fill-filter-fields'
/** How often the indexes of large Spaces are looked at. During imports, `indexNewJob` runs more often. */
const maintainEveryMs = 60_000
/** How often an index for another embedding model that could not be completed is continued. */
const reindexAgainEveryMs = 10 * 60_000
/** A retired model's vectors stay a while, so that searches in flight on other instances end well. */
const retiredAgeMs = 10 * 60_000

/** Keeps the index in shape by durable jobs: indexes of large Spaces, the share of vectors, and the change to another embedding model. */
export function createIndexKeeper({
  database,
  jobs,
  index,
  embedders,
  clock,
  log,
}: {
  database: OwnedDatabase
  jobs: JobQueue
  index: SearchIndex
  embedders: Embedders
  clock: Clock
  log: Log
}) {
  const enqueue = (kind: string) =>
    database.transaction((transaction) => jobs.enqueue(transaction, { kind, key: kind, payload: {} }))
  const options = jobOptions(log)
  let known = embedders.current().id
  /** Begins or continues the change to the current embedder where its index is not complete. */
  async function followEmbedder() {
    const embedder = embedders.current()
    const isOther = embedder.id !== known
    known = embedder.id
    const version = await index.embeddingVersions.prepare(embedder)
    if (isOther || version.state === 'building') await enqueue(reindexJob)
  }
  embedders.onUse(followEmbedder)
  async function continueReindex() {
    if ((await index.embeddingVersions.load()).some(({ state }) => state === 'building')) await enqueue(reindexJob)
  }
  let stop = () => {}
  const report = ({ built, dropped }: MaintenanceReport) => {
    if (built.length + dropped.length > 0) log.info({ built, dropped }, 'indexes of large Spaces changed')
  }
  return {
    async start() {
      await followEmbedder()
      // Separate, so that new documents do not wait for the merge of large indexes.
      jobs.work(indexNewJob, options, async ({ signal }) => report(await index.engine.indexNew({ signal })))
      jobs.work(maintainJob, options, async ({ signal }) => {
        report(await index.engine.maintain({ signal }))
        await index.embeddingVersions.dropRetired(retiredAgeMs)
      })
      jobs.work(reindexJob, options, ({ signal }) => reindex({ index, embedders, log, signal }))
      jobs.work(checkVectorsJob, options, async ({ signal }) => {
        const spaces = await checkDueSpaces({ index, embedder: embedders.current(), log, signal })
        if (spaces > 0) log.info({ spaces }, 'the share of vectors in searches was chosen')
      })
      workOnOldDocuments({ jobs, index, log })
      await enqueue(updateTermsJob)
      await enqueue(fillFilterFieldsJob)
      const warn = (error: unknown) => log.warn({ error: String(error) }, 'could not plan index maintenance')
      const plan = (kind: string) => void enqueue(kind).catch(warn)
      const planAll = () => {
        plan(indexNewJob)
        plan(maintainJob)
        if (embedders.current().semantics !== false) plan(checkVectorsJob)
      }
      planAll()
      const stops = [
        clock.every(maintainEveryMs, planAll),
        clock.every(reindexAgainEveryMs, () => void continueReindex().catch(warn)),
      ]
      stop = () => stops.forEach((end) => end())
      index.engine.onNewChunks(() => plan(indexNewJob))
    },
    close() {
      stop()
      index.engine.onNewChunks(() => {})
    },
  }
}

function jobOptions(log: Log) {
  return {
    concurrency: 1,
    maximumAttempts: 5,
    backoffMs: 5_000,
    onExhausted: (job: { kind: string }, error: unknown) => {
      log.error({ kind: job.kind, error: String(error) }, 'the index could not be kept; it is tried again later')
      return Promise.resolve()
    },
  }
}

/** Documents that an earlier version has indexed. */
function workOnOldDocuments({ jobs, index, log }: { jobs: JobQueue; index: SearchIndex; log: Log }): void {
  jobs.work(updateTermsJob, jobOptions(log), async ({ signal }) => {
    const documents = await index.updateTerms(signal)
    if (documents > 0) log.info({ documents }, 'the words of older documents were analysed again')
  })
  jobs.work(fillFilterFieldsJob, jobOptions(log), async ({ signal }) => {
    const documents = await index.fillFilterFields(signal)
    if (documents > 0) log.info({ documents }, 'older documents can be found by filters')
  })
}
