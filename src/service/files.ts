import type { Config } from '../config.ts'
import type { Database } from '../database/index.ts'
import { createDocumentStore } from '../documents/index.ts'
import { createJobQueue } from '../jobs/index.ts'
import { createIndexStore } from '../retrieval/index.ts'
import type { PartContext } from './foundation.ts'
import { openBlobStore } from './resources.ts'

/** Where documents lie: their rows, their bytes, what is found in them, and the jobs about them. */
export async function openFiles({ config, corpus, clock, log, onStop }: PartContext & { corpus: Database }) {
  const index = createIndexStore({ database: corpus, ...searchMemory(config.settings.search, corpus.engine), log })
  onStop(() => index.close())
  const jobs = createJobQueue({ database: corpus, clock, log })
  const blobs = await openBlobStore(config)
  onStop(() => blobs.close())
  const documentStore = createDocumentStore({ database: corpus, jobs, removeFromIndex: index.deleteDocument })
  return { index, jobs, blobs, documentStore }
}

/** A server searches its Spaces itself; the one connection of the embedded engine is too busy for it. */
function searchMemory({ memoryMegabytes }: Config['settings']['search'], engine: Database['engine']) {
  return engine === 'embedded' && memoryMegabytes > 0 ? { memory: { maximumBytes: memoryMegabytes * 2 ** 20 } } : {}
}
