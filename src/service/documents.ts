import type { Database } from '../database/index.ts'
import {
  type BlobStore,
  createChunkReader,
  createDocumentSweeper,
  createDocuments,
  createDocumentWatch,
  createViewerStore,
  type DocumentStore,
} from '../documents/index.ts'
import { detectFormat } from '../ingestion/index.ts'
import type { Spaces } from '../spaces/index.ts'
import type { PartContext } from './foundation.ts'

interface DocumentsDependencies extends PartContext {
  corpus: Database
  documentStore: DocumentStore
  blobs: BlobStore
  spaces: Pick<Spaces, 'get'>
}

/** Uploads, changes and progress of documents, and the repair after a crash. */
export function openDocuments({
  config,
  corpus,
  documentStore,
  blobs,
  spaces,
  clock,
  log,
  onStop,
}: DocumentsDependencies) {
  const sweeper = createDocumentSweeper({
    store: documentStore,
    blobs,
    soleOwner: corpus.engine === 'embedded',
    clock,
    log,
  })
  onStop(() => sweeper.close())
  const { maximumUploadBytes } = config.settings.documents
  const documents = createDocuments({
    store: documentStore,
    blobs,
    hasSpace: (organisation, spaceId) => spaces.get(spaceId)?.organisationId === organisation.id,
    detectFormat,
    maximumUploadBytes,
    log,
  })
  const chunks = createChunkReader(corpus)
  return {
    documents,
    maximumUploadBytes,
    watch: createDocumentWatch({ documents: documentStore, clock }),
    chunks,
    viewer: createViewerStore({ database: corpus, store: documentStore, chunks }),
  }
}
