import {
  createChunkReader,
  createDocumentSweeper,
  createDocumentWatch,
  createDocuments,
  deleteBlobJob,
  processDocumentJob,
  processSmallDocumentJob,
  renameDocumentJob,
} from '../documents/index.ts'
import {
  chunkingFor,
  createExtractorPool,
  createIndexKeeper,
  createPipeline,
  detectFormat,
  followDocuments,
} from '../ingestion/index.ts'
import type { Job } from '../jobs/index.ts'
import { describeError } from '../kernel/index.ts'
import type { Files } from './files.ts'
import type { Foundation } from './foundation.ts'
import type { Search } from './search.ts'
import type { OpenSpaces } from './spaces.ts'

export type OpenDocuments = ReturnType<typeof openDocuments>

/** What may be uploaded, and what the background work makes of it. */
export function openDocuments(foundation: Foundation, files: Files, { embedder }: Search, { spaces }: OpenSpaces) {
  const { config, corpus, metrics, clock, log, onStop } = foundation
  const { settings } = config
  const { index, jobs, blobs, documentStore } = files
  const extractors = createExtractorPool({
    size: extractorProcesses(settings.ingestion.workers),
    chunking: chunkingFor(embedder),
    readableFolders: blobs.localFolders,
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
  const indexKeeper = createIndexKeeper({ database: corpus, jobs, index, embedder, clock, log })
  const sweeper = createDocumentSweeper({
    store: documentStore,
    blobs,
    soleOwner: corpus.engine === 'embedded',
    clock,
    log,
  })
  onStop(() => sweeper.close())
  const documents = createDocuments({
    store: documentStore,
    blobs,
    hasSpace: (organisation, spaceId) => spaces.get(spaceId)?.organisationId === organisation.id,
    detectFormat,
    maximumUploadBytes: settings.documents.maximumUploadBytes,
    log,
  })
  const watch = createDocumentWatch({ documents: documentStore, clock })
  let stopFollowing = async () => {}

  return {
    documents,
    watch,
    chunks: createChunkReader(corpus),
    work: { start, beginStop, end },
  }

  async function start(): Promise<void> {
    if (settings.ingestion.workers > 0) {
      const onExhausted = pipeline.giveUp
      const options = { maximumAttempts: 12, backoffMs: 1_000, onExhausted }
      const processes = extractorProcesses(settings.ingestion.workers)
      // Large documents leave one process to small ones; small ones may have all that are free.
      jobs.work(processDocumentJob, { ...options, concurrency: processes - 1 }, (job) => pipeline.process(job))
      jobs.work(processSmallDocumentJob, { ...options, concurrency: processes }, pipeline.processSmall)
      await indexKeeper.start()
    } else await index.generations.prepare(embedder)
    stopFollowing = await followDocuments({ index, documents: documentStore, log })
    jobs.work(
      renameDocumentJob,
      { concurrency: 1, maximumAttempts: 12, backoffMs: 1_000, onExhausted: giveUpRename },
      (job) => index.rename(String(job.payload.documentId), job.signal),
    )
    jobs.work(
      deleteBlobJob,
      { concurrency: 2, maximumAttempts: 50, backoffMs: 1_000, onExhausted: async () => {} },
      (job) => blobs.delete(String(job.payload.blobKey)),
    )
  }

  async function giveUpRename({ payload }: Job, error: unknown): Promise<void> {
    const { documentId } = payload
    log.error({ documentId, error: describeError(error) }, 'a renamed document is still found by its former name')
  }

  /** Begins no new maintenance and ends what clients wait for, so that the server can close. */
  function beginStop(): void {
    indexKeeper.close()
    watch.close()
  }

  /** Jobs return to the queue. */
  async function end(): Promise<void> {
    await stopFollowing()
    await jobs.close()
  }
}

/** At least two: a large document must leave one to small ones. */
function extractorProcesses(workers: number): number {
  return workers === 1 ? 2 : workers
}
