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
import type { Config } from '../config/index.ts'
import {
  checkImportedJob,
  type createImportedCheck,
  type createPipeline,
  createRecognitionService,
  isCheckOfImported,
} from '../../documents/ingestion/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import { describeError, type Log, notMetadata, runsJobs } from '../../platform/kernel/index.ts'
import type { SearchIndex } from '../../documents/retrieval/index.ts'
import { openFetch } from './settings-of-parts.ts'

const recognitionConnectMs = 5_000
/** Longest recognition of a picture by another program; a page takes seconds. */
const recognitionMs = 120_000

/** The operator's service that recognises text; undefined: none is configured. */
export function openRecognitionService(config: Config, onStop: (close: () => Promise<void>) => void) {
  const { service: kind, url } = config.settings.ocr
  if (kind === undefined || url === undefined) return undefined
  // Each process of extraction reads one picture at a time.
  const limits = { connectTimeoutMs: recognitionConnectMs, maximumConnections: extractorPoolSize(config) }
  const { fetch, close } = openFetch(config, { limits, rule: notMetadata, proxies: config.proxies })
  onStop(close)
  return createRecognitionService({ kind, url, fetch, timeoutMs: recognitionMs })
}

/** Extraction and indexing in the background. */
export function workOnDocuments(
  jobs: Pick<JobQueue, 'work'>,
  {
    pipeline,
    check,
    workers,
  }: {
    pipeline: ReturnType<typeof createPipeline>
    check: ReturnType<typeof createImportedCheck>
    workers: number
  },
): void {
  const processes = extractorProcesses(workers)
  const options = { maximumAttempts: 12, backoffMs: 1_000, onExhausted: pipeline.giveUp, isMeasured: true }
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

interface ChangeDependencies {
  control: Database
  jobs: Pick<JobQueue, 'work'>
  index: Pick<SearchIndex, 'rename'>
  blobs: Pick<BlobStore, 'delete'>
  documentStore: DocumentStore
  log: Log
}

/** With pauses of up to an hour: more than a month, in which an operator can repair the control database. */
const entryAttempts = 1_000

/** Renames, deletions, entries of the admin log, and work on many documents, also on an instance that processes no documents. */
export function workOnChanges({ control, jobs, index, blobs, documentStore, log }: ChangeDependencies) {
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

/** 0: this process reads no documents. */
export function documentWorkers({ settings }: Config): number {
  return runsJobs(settings.server.role) ? settings.ingestion.workers : 0
}

/** Most processes that read documents at the same time. */
export function extractorPoolSize({ settings }: Config): number {
  return extractorProcesses(settings.ingestion.workers) + slowProcesses
}
