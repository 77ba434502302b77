import type { Database } from '../../platform/database/index.ts'
import type { BlobStore, DocumentStore } from '../../documents/documents/index.ts'
import type { GoldenTransferStore } from '../../chat/golden-questions/index.ts'
import { createImportedChunks, detectFormat } from '../../documents/ingestion/index.ts'
import type { JobQueue } from '../../platform/jobs/index.ts'
import type { Embedder, IndexWriter } from '../../documents/retrieval/index.ts'
import {
  createExportedSpaceStore,
  createSpaceImportStore,
  type SpaceArchiveRoutesDependencies,
} from '../../chat/space-archives/index.ts'
import type { Spaces, SpaceStore } from '../../chat/spaces/index.ts'
import type { PartContext } from './foundation.ts'

interface SpaceArchivesDependencies extends PartContext {
  control: Database
  corpus: Database
  documentStore: DocumentStore
  blobs: BlobStore
  jobs: JobQueue
  index: IndexWriter
  embedder: Embedder
  spaces: Spaces
  spaceStore: SpaceStore
  goldenTransfers: GoldenTransferStore
}

/** Export and import of whole Spaces. */
export async function openSpaceArchives(
  dependencies: SpaceArchivesDependencies,
): Promise<SpaceArchiveRoutesDependencies> {
  const { config, control, corpus, documentStore, blobs, jobs, index, embedder, spaces, spaceStore } = dependencies
  const { goldenTransfers, clock, log } = dependencies
  const store = createSpaceImportStore(control, spaceStore, goldenTransfers)
  if (control.engine === 'embedded') {
    await store.abandonAll(clock.now())
    spaces.wakeRemovals()
  }
  const { maximumUploadBytes, maximumImportBytes } = config.settings.documents
  return {
    exports: { store: createExportedSpaceStore(corpus), blobs, questions: goldenTransfers, log },
    imports: {
      store,
      spaces,
      documents: documentStore,
      blobs,
      chunks: createImportedChunks({ database: corpus, documents: documentStore, jobs, index, embedder }),
      detectFormat,
      processImported: documentStore.processImported,
      embedder,
      maximumUploadBytes,
      maximumImportBytes,
      clock,
      log,
    },
    recordExport: store.recordExport,
    getSpace: (id) => spaces.get(id),
    clock,
  }
}
