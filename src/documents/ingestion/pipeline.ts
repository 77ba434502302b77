import type { Database } from '../../platform/database/index.ts'
import {
  type BlobStore,
  type DocumentFormat,
  type DocumentProgress,
  type DocumentStore,
  processDocumentJob,
  processSlowDocumentJob,
  type ProcessingRow,
  readingOf,
} from '../documents/index.ts'
import type { Job, JobMove } from '../../platform/jobs/index.ts'
import {
  AppError,
  type Clock,
  type DocumentId,
  describeError,
  isAppError,
  type Log,
} from '../../platform/kernel/index.ts'
import {
  composeEmbeddingText,
  type Embedder,
  IndexRunEndedError,
  type IndexRun,
  type IndexWriter,
} from '../retrieval/index.ts'
import { ExtractionError, type ExtractionWarning } from './extraction.ts'
import { ExtractorCrashError, MemoryPressureError } from './isolation/extraction-run.ts'
import { createSlice, mustYield, openRun } from './interrupted-runs.ts'
import type { ExtractorPool } from './isolation/extractor-pool.ts'
import type { ExtractionRequest } from './isolation/extraction-run.ts'
import { RecognitionServiceError } from './ocr/recognition-service.ts'
import { createRecognisedPages, type RecognisedPages } from './recognised-pages.store.ts'
import { type Lane, SlowReadingError, watchReading, type WatchedReading } from './slow-reading.ts'

export interface PipelineDependencies {
  database: Database
  documents: DocumentStore
  blobs: BlobStore
  extractors: ExtractorPool
  index: IndexWriter
  /** Another one may be chosen while a document is processed, which keeps its own. */
  embedder: () => Embedder
  /** How pictures of text are read in a Space; undefined for one that does not exist. */
  recognition?(spaceId: string): { ocr: 'auto' | 'off'; ocrLanguages: readonly string[] } | undefined
  clock: Clock
  log: Log
  observer: { processed(status: 'ready' | 'failed', code: string, durationMs: number): void }
}

type RunParts = Omit<PipelineDependencies, 'embedder'> & { embedder: Embedder }

/** A file that ends its reader this often fails sooner than, for example, an embedding model that is unavailable. */
const maximumCrashes = 4
const unreachable = (what: string) =>
  `The ${what} could not be reached for a long time. Upload the document again later, or contact the operator.`
const internalFailure =
  'Processing failed several times for a reason on our side. Upload the document again, or contact the operator.'
/** Progress is displayed to people, who do not notice more frequent changes. */
const progressEveryMs = 400

/**
 * Detect → extract → chunk → embed → index, as the handler of one job. Repeatable at every point: a run starts by removing the
 * rest of an earlier one, and search finds its chunks only after the transaction that sets `ready`. Faults of the file end in `failed`
 * at once; other errors are thrown, so that the queue retries.
 */
export function createPipeline(given: PipelineDependencies) {
  const { documents, database, index, clock, log, observer } = given

  async function process(job: Job, lane: Lane = 'any'): Promise<void | JobMove> {
    const loaded = await documents.loadForProcessing(job.organisationId, String(job.payload.documentId))
    if (!loaded || loaded.status !== 'processing') return
    const dependencies: RunParts = { ...given, embedder: given.embedder() }
    const opened = await openRun(dependencies, loaded, job)
    if (!opened) return
    const { run, staged, saved } = opened
    const document = { ...loaded, name: saved.documentName }
    const keptPages = createRecognisedPages(database, document, recognitionOf(given, document)?.ocrLanguages ?? [])
    try {
      const result = await dependencies.blobs.withFile(document.blobKey, job.signal, (filePath) =>
        indexFile(dependencies, { document, run, staged, filePath, lane, job, keptPages }),
      )
      if (result === 'interrupted') return { moveTo: job.kind, payload: { interrupted: saved } }
      const ready = await database.for(document.organisationId).transaction(async (transaction) => {
        if (!(await documents.lockProcessing(transaction, document.id))) return false
        const chunkCount = await index.publish(transaction, run)
        await documents.markReady(transaction, document.id, {
          name: document.name,
          chunkCount,
          pageCount: result.pageCount,
          warnings: result.warnings,
        })
        await keptPages.remove(transaction)
        return true
      })
      if (ready) report(document, 'ready', 'none')
    } catch (error) {
      if (error instanceof IndexRunEndedError) return
      if (error instanceof SlowReadingError || error instanceof MemoryPressureError) {
        log.info({ documentId: document.id, lane }, 'a document takes long or much memory and moves on')
        return { moveTo: slowerKinds[lane], payload: { interrupted: saved } }
      }
      if (lane === 'small' && isCostly(error)) {
        log.info(
          { documentId: document.id, reason: describeError(error) },
          'a small file takes long and waits for a worker of large ones',
        )
        return { moveTo: processDocumentJob }
      }
      const failure = failureOf(error, job.attempt)
      if (!failure || job.signal.aborted) throw error
      if (!(await documents.markFailed(document.organisationId, document.id, failure))) return
      report(document, 'failed', failure.code)
      await keptPages.remove()
    }
  }

  function report(document: ProcessingRow, status: 'ready' | 'failed', code: string) {
    const durationMs = Math.max(0, clock.now() - document.createdAt.getTime())
    observer.processed(status, code, durationMs)
    log.info({ documentId: document.id, status, code, durationMs }, 'document processed')
  }

  return {
    process,
    /** Of the queue of small documents: one that turns out to be costly moves to the other queue. */
    processSmall: (job: Job) => process(job, 'small'),
    /** Of the queue of documents that take long to read. */
    processSlow: (job: Job) => process(job, 'slow'),
    /** The job failed again and again for reasons other than the file: the document must not stay in processing without end. */
    async giveUp(job: Job, error: unknown): Promise<void> {
      const documentId = String(job.payload.documentId) as DocumentId
      log.error({ documentId, error: describeError(error) }, 'a document could not be processed')
      await documents.markFailed(job.organisationId, documentId, lastFailureOf(error))
    },
  }
}

/**
 * What a small document may take of its worker; about ten times what files of its size usually take. One that takes more is
 * started again by a worker of large documents.
 */
const smallLimits = { timeLimitMs: 6_000, maximumChunks: 2_000 }

/** Where a document goes that takes long in its lane. */
const slowerKinds: Record<Lane, string> = {
  small: processDocumentJob,
  any: processSlowDocumentJob,
  slow: processSlowDocumentJob,
}

/** The file takes more than a small one may, or it ends its reader: both cost as much again at each try. */
function isCostly(error: unknown): boolean {
  if (error instanceof ExtractorCrashError) return true
  return error instanceof ExtractionError && (error.code === 'processing_timeout' || error.code === 'too_complex')
}

interface FileRun {
  lane: Lane
  document: ProcessingRow
  run: IndexRun
  /** Chunks that an interrupted run has left. */
  staged: number
  filePath: string
  job: Job
  keptPages: RecognisedPages
}

/**
 * Reads the file chunk by chunk into the index, invisible until it is published. Ends early if it has run for a while and documents of other
 * organisations wait for its worker.
 */
async function indexFile(dependencies: RunParts, fileRun: FileRun) {
  const reading = watchReading(dependencies.clock, fileRun.lane, fileRun.job)
  try {
    return await indexChunks(dependencies, fileRun, reading)
  } finally {
    reading.stop()
    await fileRun.keptPages.saved()
  }
}

async function indexChunks(
  dependencies: RunParts,
  { document, run, staged, filePath, lane, job, keptPages }: FileRun,
  reading: WatchedReading,
) {
  const { embedder, index, extractors, clock } = dependencies
  const { signal } = job
  const progress = createProgress(dependencies, document)
  let isReadingPages = false
  let isRecognised = false
  const request = {
    filePath,
    format: document.format as DocumentFormat,
    sizeBytes: Number(document.sizeBytes),
    limits: lane === 'small' ? smallLimits : undefined,
    ...readingOf(document),
    signal: reading.signal,
    isLong: lane !== 'small',
    mayMove: lane !== 'slow',
    onStart: reading.started,
    recognition: await requestRecognition(dependencies, document, lane, keptPages),
  }
  const isContinued = staged > 0
  if (isContinued) progress.report({ stage: 'indexing', partsDone: staged, partsTotal: null })
  else progress.report({ stage: 'extracting', partsDone: null, partsTotal: null })
  if (lane !== 'small' && !isContinued && !hasPages(document)) await assertChunks(extractors, request)
  const slice = createSlice(clock)
  const extraction = extractors.extract({
    ...request,
    fromChunk: staged,
    onRecognised(page) {
      isRecognised = true
      const kept = page ? keptPages.keep(page) : Promise.resolve(false)
      kept.then(reading.recognised, () => {})
    },
    onProgress: (pagesDone, pagesTotal) => {
      // Progress counts pages until all are read, then chunks; pages that are read again are not counted again.
      if (isContinued) return
      isReadingPages = pagesTotal !== null && pagesDone < pagesTotal
      progress.report({ stage: 'extracting', partsDone: pagesDone, partsTotal: pagesTotal })
    },
  })
  let written = staged
  for await (const batch of reading.watch(extraction.chunks)) {
    const vectors = await embedder.embed({
      texts: batch.map((chunk) => composeEmbeddingText({ ...chunk, documentName: document.name })),
      purpose: 'document',
      organisationId: document.organisationId,
      spaceId: document.spaceId,
      signal,
    })
    signal.throwIfAborted()
    await index.stageChunks({
      run,
      documentName: document.name,
      embedderId: embedder.id,
      chunks: batch,
      vectors,
    })
    written += batch.length
    if (!isReadingPages) progress.report({ stage: 'indexing', partsDone: written, partsTotal: null })
    // A scan that takes long moves to the worker of slow documents, which interrupts it between its pages.
    if (!isRecognised && (await mustYield(slice, job, lane === 'slow'))) {
      await progress.done()
      return 'interrupted'
    }
  }
  const { pages, warnings } = await extraction.summary
  await progress.done()
  if (written === 0)
    throw new ExtractionError(
      'no_text',
      'No text was found in the file. If it is a scan, run text recognition over it and upload the result.',
    )
  return { warnings, pageCount: hasPages(document) ? pages : null }
}

/** The file itself has pages, which can be recognised. */
const hasPages = ({ format }: ProcessingRow) => format === 'pdf' || format === 'image'

/** The settings of the Space if it has pictures of text read. */
function recognitionOf({ recognition }: Pick<PipelineDependencies, 'recognition'>, { spaceId }: ProcessingRow) {
  const settings = recognition?.(spaceId)
  return settings?.ocr === 'auto' ? settings : undefined
}

/** A worker of small documents leaves pictures of text to the others. */
async function requestRecognition(
  dependencies: Pick<PipelineDependencies, 'recognition'>,
  document: ProcessingRow,
  lane: Lane,
  pages: RecognisedPages,
) {
  const settings = recognitionOf(dependencies, document)
  if (!settings) return undefined
  const isDeferred = lane === 'small'
  const keptPages = isDeferred || !hasPages(document) ? [] : await pages.load()
  return { languages: settings.ocrLanguages, isDeferred, keptPages }
}

/**
 * Reads the file without embedding it, so that one of too many chunks fails within seconds and costs nothing. Pages of a pdf have few chunks, and
 * take longer to read.
 */
async function assertChunks({ extract }: ExtractorPool, request: ExtractionRequest): Promise<void> {
  for await (const _ of extract({ ...request, recognition: undefined, fromChunk: Infinity }).chunks);
}

/** What a document ends with whose tries are used up. */
function lastFailureOf(error: unknown): Pick<ExtractionError, 'code' | 'message'> {
  if (error instanceof AppError) return { code: 'embedding_failed', message: unreachable('embedding model') }
  const isUnrecognised = error instanceof RecognitionServiceError
  return { code: 'internal_error', message: isUnrecognised ? unreachable('text recognition service') : internalFailure }
}

/** The codes that a document ends with for good; undefined where another try may help. */
function failureOf(
  error: unknown,
  attempt: number,
): (Pick<ExtractionError, 'code' | 'message'> & { warnings?: readonly ExtractionWarning[] }) | undefined {
  if (error instanceof ExtractionError) return error
  if (error instanceof ExtractorCrashError && attempt >= maximumCrashes) {
    return { code: 'internal_error', message: internalFailure }
  }
  if (isAppError(error, 'insufficient_quota') || isAppError(error, 'subscription_required')) {
    return {
      code: 'insufficient_quota',
      message: `The document could not be embedded: ${error.message} Upload it again then.`,
    }
  }
  return undefined
}

/** Writes the latest progress now and then; a failed write is not worth a retry. */
function createProgress(
  { documents, clock }: Pick<PipelineDependencies, 'documents' | 'clock'>,
  document: ProcessingRow,
) {
  let lastMs = -Infinity
  let lastStage: DocumentProgress['stage'] | undefined
  let pending: Promise<void> = Promise.resolve()
  return {
    report(progress: DocumentProgress) {
      // A new stage is reported at once.
      if (progress.stage === lastStage && clock.monotonicMs() - lastMs < progressEveryMs) return
      lastStage = progress.stage
      lastMs = clock.monotonicMs()
      pending = pending.then(() => documents.saveProgress(document, progress)).catch(() => {})
    },
    done: () => pending,
  }
}
