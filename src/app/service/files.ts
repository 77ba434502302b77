import type { Config } from '../config/config.ts'
import type { Database } from '../../platform/database/index.ts'
import { createDocumentStore, withHeldRemovals } from '../../documents/documents/index.ts'
import { createJobQueue } from '../../platform/jobs/index.ts'
import type { Log, Telemetry } from '../../platform/kernel/index.ts'
import {
  createMemoryEngine,
  createPostgresEngine,
  createSearchIndex,
  type SearchEngine,
} from '../../documents/retrieval/index.ts'
import type { PartContext } from './foundation.ts'
import { openBlobStore } from './resources.ts'

/** The stores of documents: rows, blobs, the search index and the job queue. */
export async function openFiles({
  config,
  corpus,
  telemetry,
  clock,
  log,
  onStop,
}: PartContext & { corpus: Database; telemetry: Telemetry | null }) {
  const index = createSearchIndex({ database: corpus, engine: createEngine(config, corpus, log) })
  onStop(() => index.close())
  const jobs = createJobQueue({ database: corpus, telemetry, clock, log })
  const blobs = withHeldRemovals(await openBlobStore(config), log)
  onStop(() => blobs.close())
  const documentStore = createDocumentStore({ database: corpus, jobs, removeFromIndex: index.deleteDocument })
  return { index, jobs, blobs, documentStore }
}

/** PostgreSQL searches its indexes. The embedded engine has one connection, which is too busy for searches, so it uses memory. */
function createEngine({ settings }: Config, database: Database, log: Log): SearchEngine {
  if (database.engine === 'postgres') return createPostgresEngine({ database, log })
  return createMemoryEngine({ database, maximumBytes: settings.search.memoryMegabytes * 2 ** 20, log })
}
