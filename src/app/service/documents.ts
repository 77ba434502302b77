import type { Database } from '../../platform/database/index.ts'
import {
  createChunkReader,
  createDocumentSweeper,
  createDocuments,
  createDocumentWatch,
  createUnusedBlobs,
  createViewerStore,
} from '../../documents/documents/index.ts'
import { detectFormat } from '../../documents/ingestion/index.ts'
import { runsJobs } from '../../platform/kernel/index.ts'
import type { Spaces } from '../../chat/spaces/index.ts'
import { type ErasuresDependencies, openErasures } from './erasures.ts'

interface DocumentsDependencies extends ErasuresDependencies {
  corpus: Database
  spaces: Pick<Spaces, 'get'>
}

/** Uploads, changes, progress and erasure of documents, and the repair after a crash. */
export function openDocuments(dependencies: DocumentsDependencies) {
  const { config, corpus, documentStore, blobs, spaces, clock, log, onStop } = dependencies
  if (runsJobs(config.settings.server.role)) {
    const soleOwner = corpus.engine === 'embedded'
    const sweeper = createDocumentSweeper({ store: documentStore, blobs, soleOwner, clock, log })
    onStop(() => sweeper.close())
  }
  const { maximumUploadBytes } = config.settings.documents
  const unusedBlobs = createUnusedBlobs({ store: documentStore, blobs, clock, log })
  onStop(() => unusedBlobs.close())
  const documents = createDocuments({
    store: documentStore,
    blobs,
    hasSpace: (organisation, spaceId) => spaces.get(spaceId)?.organisationId === organisation.id,
    detectFormat,
    maximumUploadBytes,
    unusedBlobs,
  })
  const chunks = createChunkReader(corpus)
  return {
    documents,
    maximumUploadBytes,
    watch: createDocumentWatch({ documents: documentStore, clock }),
    chunks,
    erasures: openErasures(dependencies),
    viewer: createViewerStore({ database: corpus, store: documentStore, chunks }),
  }
}
