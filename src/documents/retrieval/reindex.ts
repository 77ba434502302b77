import { composeEmbeddingText } from './corpus/chunks.ts'
import { loadMissingChunks, resetPosition, storeVectors } from './corpus/reindex.store.ts'
import type { Embedder } from './embedders/embedder.ts'
import type { SearchIndex } from './search-index.ts'
import { sharedOwner } from '../../platform/kernel/index.ts'

/** Chunks embedded by one step: some seconds of a local model, one or two calls of a provider. */
const chunksPerStep = 64

export type ReindexProgress = { state: 'complete' } | { state: 'building'; embeddedChunks: number }

export interface ReindexRequest {
  index: SearchIndex
  embedder: Embedder
  signal: AbortSignal
}

/**
 * One step of the change to another embedding model: embeds the next chunks or, when none is left, builds the indexes of large
 * Spaces and switches all searches over at once. Idempotent and resumable: call it from a job until it returns `complete`.
 */
export async function reindexStep({ index, embedder, signal }: ReindexRequest): Promise<ReindexProgress> {
  const { embeddingVersions } = index
  const database = index.database.for(sharedOwner)
  const live = await embeddingVersions.load()
  const version = live.find(({ state, embedderId }) => state === 'building' && embedderId === embedder.id)
  if (!version) return { state: 'complete' }
  const chunks = await loadMissingChunks(database, version, chunksPerStep)
  if (chunks.length > 0) {
    const { organisationId, spaceId } = chunks[0]!
    const texts = chunks.map(composeEmbeddingText)
    const vectors = await embedder.embed({ texts, purpose: 'document', organisationId, spaceId, signal })
    await storeVectors(database, version, chunks, vectors)
    return { state: 'building', embeddedChunks: chunks.length }
  }
  await index.engine.indexNew({ signal })
  await index.engine.maintain({ signal })
  if (await embeddingVersions.activate(version)) return { state: 'complete' }
  // Chunks whose keys are before the position were inserted meanwhile.
  await resetPosition(database, version)
  return { state: 'building', embeddedChunks: 0 }
}
