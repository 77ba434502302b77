import type { DocumentWarning } from '../../contract/documents.ts'
import type { Database, OwnedDatabase } from '../../platform/database/index.ts'
import {
  type BlobStore,
  type DocumentFormat,
  type DocumentStore,
  type ProcessingRow,
  readingOf,
} from '../documents/index.ts'
import type { Job, JobQueue } from '../../platform/jobs/index.ts'
import { type DocumentId, type Log, toStorable } from '../../platform/kernel/index.ts'
import type { ChunkBatch, IndexedChunk, IndexRun, IndexWriter } from '../retrieval/index.ts'
import { ExtractionError } from './extraction.ts'
import { loadStoredChunks } from './imported-chunks.store.ts'
import type { ExtractorPool } from './isolation/extractor-pool.ts'
import { createWarningList } from './warning-list.ts'

/** The job that compares an imported document with its file. Its payload has the `documentId`. It moves to the worker of slow documents. */
export const checkImportedJob = 'check-imported-document'

export const isCheckOfImported = ({ key }: Pick<Job, 'key'>): boolean => key.startsWith(`${checkImportedJob}:`)

export interface ImportedChunksDependencies {
  database: Database
  documents: Pick<DocumentStore, 'lockProcessing' | 'markReady'>
  jobs: JobQueue
  index: IndexWriter
}

/** Adds chunks with their vectors from the archive of a Space. Nothing of a document is found until `publish`. */
export function createImportedChunks({ database, documents, jobs, index }: ImportedChunksDependencies) {
  return {
    async beginRun(document: Omit<IndexRun, 'runId'>): Promise<IndexRun> {
      const run = await database
        .for(document.organisationId)
        .transaction((transaction) => index.beginRun(transaction, document))
      if (!run) throw new Error('an imported document was removed during its import')
      return run
    },
    stage: (batch: ChunkBatch) => index.stageChunks(batch),
    async publish(
      run: IndexRun,
      { name, pageCount, warnings }: { name: string; pageCount: number | null; warnings: readonly DocumentWarning[] },
    ): Promise<void> {
      await database.for(run.organisationId).transaction(async (transaction) => {
        const { documentId, organisationId, spaceId } = run
        if (!(await documents.lockProcessing(transaction, documentId)))
          throw new Error('an imported document was removed during its import')
        const chunkCount = await index.publish(transaction, run)
        await documents.markReady(transaction, documentId, {
          name,
          chunkCount,
          pageCount,
          warnings: boundWarnings(warnings),
        })
        await jobs.enqueue(transaction, {
          kind: checkImportedJob,
          key: `${checkImportedJob}:${documentId}`,
          payload: { documentId },
          fairnessKeys: { organisationId, spaceId },
        })
      })
    },
  }
}

function boundWarnings(warnings: readonly DocumentWarning[]): DocumentWarning[] {
  const list = createWarningList()
  for (const warning of warnings) list.add(warning)
  return toStorable(list.toArray())
}

export interface ImportedCheckDependencies {
  database: Database
  documents: Pick<DocumentStore, 'loadForProcessing' | 'saveImportedWarnings' | 'reprocessImported'>
  blobs: Pick<BlobStore, 'withFile'>
  extractors: Pick<ExtractorPool, 'extract'>
  log: Log
}

/**
 * Reads the file of an imported document again, in a separate process. The warnings are those that this installation finds, in addition to those of
 * the archive. A document whose chunks are not those of its file is processed as an upload is: an archive cannot add text that its files do not have.
 */
export function createImportedCheck({ database, documents, blobs, extractors, log }: ImportedCheckDependencies) {
  async function reprocess(document: ProcessingRow, reason: string) {
    log.warn({ documentId: document.id, reason }, 'an imported document is processed again')
    await documents.reprocessImported(document.organisationId, document.id)
  }

  return {
    async run(job: Job): Promise<void> {
      const document = await documents.loadForProcessing(job.organisationId, String(job.payload.documentId))
      if (!document || document.status !== 'ready') return
      try {
        const warnings = await blobs.withFile(document.blobKey, job.signal, (filePath) =>
          compareFile(database.for(document.organisationId), extractors, document, filePath, job.signal),
        )
        if (!warnings) return await reprocess(document, 'its chunks are not those of its file')
        await documents.saveImportedWarnings(document, (present) => boundWarnings([...present, ...warnings]))
      } catch (error) {
        if (!(error instanceof ExtractionError)) throw error
        await reprocess(document, error.code)
      }
    },
    /** The file could not be read for reasons other than its content. */
    async giveUp(job: Job): Promise<void> {
      await documents.reprocessImported(job.organisationId, String(job.payload.documentId) as DocumentId)
    },
  }
}

/** The warnings of the file; undefined: it has other chunks than the index. */
async function compareFile(
  database: OwnedDatabase,
  extractors: Pick<ExtractorPool, 'extract'>,
  document: ProcessingRow,
  filePath: string,
  signal: AbortSignal,
): Promise<readonly DocumentWarning[] | undefined> {
  const extraction = extractors.extract({
    filePath,
    format: document.format as DocumentFormat,
    sizeBytes: Number(document.sizeBytes),
    limits: undefined,
    ...readingOf(document),
    signal,
    onProgress() {},
  })
  let compared = 0
  let isEqual = true
  for await (const batch of extraction.chunks) {
    if (!isEqual) continue
    const stored = await loadStoredChunks(database, document.id, compared, batch.length)
    isEqual =
      stored.length === batch.length && stored.every((chunk, at) => comparable(chunk) === comparable(batch[at]!))
    compared += batch.length
  }
  const { warnings } = await extraction.summary
  const [more] = await loadStoredChunks(database, document.id, compared, 1)
  return isEqual && !more ? warnings : undefined
}

function comparable({ index, text, headingPath, tableHeader, ...place }: IndexedChunk): string {
  const { pageFrom, pageTo, pageStarts = [], characterFrom, characterTo, rowFrom, rowTo } = place
  return JSON.stringify([
    [index, text, headingPath, tableHeader],
    [pageFrom, pageTo, pageStarts, characterFrom, characterTo, rowFrom, rowTo],
  ])
}
