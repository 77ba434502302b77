import type { Database, Queryable } from '../../platform/database/index.ts'
import { auditIndex, countDocumentRows, type DocumentRows, type IndexAudit } from './corpus/audit.store.ts'
import { type ChunkBatch, type IndexRun, searchableText } from './corpus/chunks.ts'
import { createEmbeddingVersions, type EmbeddingVersions } from './corpus/embedding-versions.store.ts'
import {
  beginRun,
  countStaged,
  deleteDocument,
  fillFilterFields,
  insertChunks,
  publishRun,
} from './corpus/index-writer.store.ts'
import { loadOutdatedDocuments, renameStep, updateTermsStep } from './corpus/terms.store.ts'
import type { ErasedDocuments, SearchEngine, StagingOptions } from './engine.ts'
import { analyseInSlices } from './lexical/analyse-text.ts'
import { sharedOwner } from '../../platform/kernel/index.ts'

/** Writes documents to the index. */
export type IndexWriter = Pick<SearchIndex, 'beginRun' | 'countStaged' | 'stageChunks' | 'publish' | 'deleteDocument'>

export type SearchIndex = ReturnType<typeof createSearchIndex>

/**
 * The chunks of all documents: the corpus tables, and the engine that searches them and is notified of each change. Batches are staged in
 * separate transactions before the document is published: nothing of it is found until `publish`, which updates one row whatever the size of the
 * document, so that it fits into the transaction that sets `ready`.
 */
export function createSearchIndex({ database, engine }: { database: Database; engine: SearchEngine }) {
  // Adapts to the cost of a row.
  let rowsPerTransaction = Math.min(8, engine.staging.maximumRows)
  return {
    engine,
    database,
    embeddingVersions: reporting(createEmbeddingVersions(database.for(sharedOwner)), engine),
    beginRun,
    /** Chunks that an interrupted run has staged; null if it has ended. */
    countStaged: (run: IndexRun): Promise<number | null> => countStaged(database, run),
    /**
     * Adds chunks in several short transactions, so that searches on the embedded engine's one connection wait little. Resolves
     * when the next batch may be staged. Throws IndexRunEndedError when the document is gone or a newer run has started.
     */
    async stageChunks(batch: ChunkBatch): Promise<void> {
      if (batch.chunks.length !== batch.vectors.length) {
        throw new Error(`${batch.chunks.length} chunks came with ${batch.vectors.length} vectors`)
      }
      for (let start = 0; start < batch.chunks.length;) {
        const end = start + rowsPerTransaction
        const part = { ...batch, chunks: batch.chunks.slice(start, end), vectors: batch.vectors.slice(start, end) }
        const writeMs = await stagePart(database, engine, part)
        start = end
        rowsPerTransaction = nextRows(engine.staging, part.chunks.length, writeMs)
      }
    },
    /** Makes the run's chunks searchable; returns how many there are. Throws IndexRunEndedError as `stageChunks` does. */
    async publish(transaction: Queryable, run: IndexRun): Promise<number> {
      const chunks = await publishRun(transaction, run)
      engine.publish(run, chunks)
      return chunks
    },
    deleteDocument,
    /** Rebuilds the terms of a searchable document under its present name; call it from a job. Resumable. */
    async rename(documentId: string, signal: AbortSignal): Promise<void> {
      let step = await renameStep(database.for(sharedOwner), documentId, signal)
      while (!step.isDone) step = await renameStep(database.for(sharedOwner), documentId, signal)
      if (step.renamed) engine.documentChanged(step.renamed, documentId)
    },
    /** Rebuilds terms of an older version of text analysis; call it from a job. Returns the number of documents. Resumable. */
    updateTerms: (signal: AbortSignal): Promise<number> => updateTerms(database, engine, signal),
    /** Lets filters find documents of an older version; call it from a job. Returns their number. Resumable. */
    fillFilterFields: (signal: AbortSignal): Promise<number> => fillFilterFields(database.for(sharedOwner), signal),
    audit: (): Promise<IndexAudit> => auditIndex(database.for(sharedOwner)),
    /** Stored rows of these documents, of every embedding version, with the copies of their vectors in indexes. */
    async countRows(documents: ErasedDocuments): Promise<DocumentRows> {
      const rows = await countDocumentRows(database.for(documents.organisationId), documents.documentIds)
      return { ...rows, vectors: rows.vectors + (await engine.countCopies(documents)) }
    },
    /** Removes the copies in indexes, of documents that are removed and committed. */
    removeCopies: (documents: ErasedDocuments): Promise<void> => engine.removeCopies(documents),
    /** Closes the engine; the database stays open. */
    close: (): Promise<void> => engine.close(),
  }
}

/** Returns how long the transaction took. */
async function stagePart(database: Database, engine: SearchEngine, batch: ChunkBatch): Promise<number> {
  // Outside the transaction: on the embedded engine everything else waits for it.
  const texts = batch.chunks.map((chunk) => searchableText(batch.documentName, chunk))
  const analysed = await analyseInSlices(batch.run.spaceId, texts)
  const { version, chunkIds, writeMs } = await insertChunks(database, batch, analysed, engine.staging.settings)
  await engine.stage({
    run: batch.run,
    version,
    chunks: analysed.map(({ terms }, at) => ({ chunkId: chunkIds[at]!, terms, vector: batch.vectors[at]! })),
    languages: analysed.flatMap((chunk) => chunk.languages),
    writeMs,
  })
  return writeMs
}

/** As many rows as fit into the target by the last transaction; at most twice as many as that had. */
function nextRows({ targetMs, maximumRows }: StagingOptions, rows: number, writeMs: number): number {
  const fitting = Math.floor((rows * targetMs) / Math.max(writeMs, 0.1))
  return Math.max(1, Math.min(fitting, rows * 2, maximumRows))
}

async function updateTerms(database: Database, engine: SearchEngine, signal: AbortSignal): Promise<number> {
  let done = 0
  for (;;) {
    const documents = await loadOutdatedDocuments(database.for(sharedOwner), signal)
    if (documents.length === 0) break
    for (const { documentId, spaceId } of documents) {
      let after: number | null = -1
      while (after !== null) after = await updateTermsStep(database.for(sharedOwner), documentId, after, signal)
      engine.documentChanged(spaceId, documentId)
    }
    done += documents.length
  }
  // Queries are no longer analysed by the older version as well.
  if (done > 0) engine.reset()
  return done
}

/** Reports to the engine when another embedding version may answer searches. */
function reporting(versions: EmbeddingVersions, engine: SearchEngine): EmbeddingVersions {
  return {
    ...versions,
    async prepare(embedder) {
      const version = await versions.prepare(embedder)
      engine.reset()
      return version
    },
    async activate(version) {
      const isActive = await versions.activate(version)
      engine.reset()
      return isActive
    },
  }
}
