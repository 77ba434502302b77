import { createChunkReader, createDocumentSweeper, createDocuments, createDocumentWatch } from '../documents/index.ts'
import { detectFormat } from '../ingestion/index.ts'
import type { Files } from './files.ts'
import type { Foundation } from './foundation.ts'
import type { OpenedSpaces } from './spaces.ts'

export type OpenedDocuments = ReturnType<typeof openDocuments>

/** Uploads, changes and progress of documents, and the repair after a crash. */
export function openDocuments(parts: Foundation & Files & OpenedSpaces) {
  const { config, corpus, documentStore, blobs, spaces, clock, log, onStop } = parts
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
    maximumUploadBytes: config.settings.documents.maximumUploadBytes,
    log,
  })
  return {
    documents,
    watch: createDocumentWatch({ documents: documentStore, clock }),
    chunks: createChunkReader(corpus),
  }
}
