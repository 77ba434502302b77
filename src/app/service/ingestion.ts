import type { Database } from '../../platform/database/index.ts'
import {
  type BlobStore,
  createOperationWorker,
  adminLogEntryJob,
  createEntryWriter,
  deleteBlobJob,
  documentOperationJob,
  type DocumentStore,
  processDocumentJob,
  processSlowDocumentJob,
  processSmallDocumentJob,
  renameDocumentJob,
} from '../../documents/documents/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import {
  checkImportedJob,
  chunkingFor,
  createExtractorPool,
  createImportedCheck,
  createIndexKeeper,
  createPipeline,
  isCheckOfImported,
} from '../../documents/ingestion/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import { describeError, runsJobs } from '../../platform/kernel/index.ts'
import type { Embedder, SearchIndex } from '../../documents/retrieval/index.ts'
import type { PartContext } from './foundation.ts'

interface IngestionDependencies extends PartContext {
  control: Database
  corpus: Database
  documentStore: DocumentStore
  blobs: BlobStore
  index: SearchIndex
  jobs: JobQueue
  embedder: Embedder
  metrics: Metrics
}

/** The background work on documents: extraction, indexing, renames, and the removal of blobs. */
export function openIngestion(dependencies: IngestionDependencies) {
  const { config, corpus, documentStore, index, jobs, embedder, clock, log } = dependencies
  const works = runsJobs(config.settings.server.role)
  const workers = works ? config.settings.ingestion.workers : 0
  const { pipeline, extractors } = openPipeline(dependencies)
  const check = createImportedCheck({
    database: corpus,
    documents: documentStore,
    blobs: dependencies.blobs,
    extractors,
    log,
  })
  const indexKeeper = createIndexKeeper({ database: corpus, jobs, index, embedder, clock, log })

  return {
    async start(): Promise<void> {
      if (workers > 0) {
        workOnDocuments(jobs, { pipeline, check, processes: extractorProcesses(workers) })
        await indexKeeper.start()
      } else await index.embeddingVersions.prepare(embedder)
      await index.engine.start(documentStore.listenChanges)
      if (works) workOnChanges(dependencies)
    },

    /** What the processes that read documents do now; null without workers. */
    extractorLoad: () => (workers > 0 ? extractors.load() : null),

    /** Begins no new maintenance. */
    beginStop: () => indexKeeper.close(),

    /** Jobs return to the queue. */
    end: () => jobs.close(),
  }
}

/** `processes`: of the documents that are not slow. */
export function workOnDocuments(
  jobs: Pick<JobQueue, 'work'>,
  {
    pipeline,
    check,
    processes,
  }: {
    pipeline: ReturnType<typeof createPipeline>
    check: ReturnType<typeof createImportedCheck>
    processes: number
  },
): void {
  const options = { maximumAttempts: 12, backoffMs: 1_000, onExhausted: pipeline.giveUp }
  // One process is reserved for small documents; small documents may use all free processes.
  jobs.work(processDocumentJob, { ...options, concurrency: processes - 1 }, (job) => pipeline.process(job))
  jobs.work(processSmallDocumentJob, { ...options, concurrency: processes }, pipeline.processSmall)
  jobs.work(
    processSlowDocumentJob,
    {
      ...options,
      concurrency: slowProcesses,
      onExhausted: (job, error) => (isCheckOfImported(job) ? check.giveUp(job) : pipeline.giveUp(job, error)),
    },
    (job) => (isCheckOfImported(job) ? check.run(job) : pipeline.processSlow(job)),
  )
  // A check reads a whole file, as long as that takes. Until it is done the document is found.
  jobs.work(checkImportedJob, { ...options, concurrency: 1, onExhausted: check.giveUp }, async () => ({
    moveTo: processSlowDocumentJob,
  }))
}

function openPipeline({
  config,
  corpus,
  documentStore,
  blobs,
  index,
  embedder,
  metrics,
  clock,
  log,
  onStop,
}: IngestionDependencies) {
  const extractors = createExtractorPool({
    size: extractorProcesses(config.settings.ingestion.workers) + slowProcesses,
    chunking: chunkingFor(embedder),
    limits: { maximumChunks: config.settings.ingestion.maximumChunks },
    readableFolders: blobs.localFolders,
    clock,
    log,
  })
  onStop(() => extractors.close())
  const pipeline = createPipeline({
    database: corpus,
    documents: documentStore,
    blobs,
    extractors,
    index,
    embedder,
    clock,
    log,
    observer: {
      processed(status, code, durationMs) {
        metrics.documents.inc({ status, code })
        metrics.ingestionSeconds.observe(durationMs / 1000)
      },
    },
  })
  return { pipeline, extractors }
}

/** With pauses of up to an hour: more than a month, in which an operator can repair the control database. */
const entryAttempts = 1_000

/** Renames, deletions, entries of the admin log, and work on many documents, also on an instance that processes no documents. */
function workOnChanges({
  control,
  jobs,
  index,
  blobs,
  documentStore,
  log,
}: Pick<IngestionDependencies, 'control' | 'jobs' | 'index' | 'blobs' | 'documentStore' | 'log'>) {
  jobs.work(
    renameDocumentJob,
    {
      concurrency: 1,
      maximumAttempts: 12,
      backoffMs: 1_000,
      async onExhausted({ payload: { documentId } }, error) {
        log.error({ documentId, error: describeError(error) }, 'a renamed document is still found by its former name')
      },
    },
    (job) => index.rename(String(job.payload.documentId), job.signal),
  )
  jobs.work(
    deleteBlobJob,
    { concurrency: 2, maximumAttempts: 50, backoffMs: 1_000, onExhausted: async () => {} },
    (job) => blobs.delete(String(job.payload.blobKey)),
  )
  jobs.work(
    adminLogEntryJob,
    {
      concurrency: 2,
      maximumAttempts: entryAttempts,
      backoffMs: 1_000,
      async onExhausted({ payload }, error) {
        log.error({ entry: payload.entry, error: describeError(error) }, 'an entry of the admin log was not written')
      },
    },
    createEntryWriter(control),
  )
  const operations = createOperationWorker({ store: documentStore, log })
  jobs.work(
    documentOperationJob,
    { concurrency: 1, maximumAttempts: 20, backoffMs: 1_000, onExhausted: operations.giveUp },
    operations.run,
  )
}

/** Next to the others, so that what is slow delays only what is slow as well. It starts when such a document waits. */
const slowProcesses = 1

/** At least two, because one is reserved for small documents. */
function extractorProcesses(workers: number): number {
  return workers === 1 ? 2 : workers
}
