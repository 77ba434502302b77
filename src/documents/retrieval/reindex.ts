import { composeEmbeddingText } from './corpus/chunks.ts'
import { loadMissingChunks, resetPosition, skipSpace, storeVectors } from './corpus/reindex.store.ts'
import type { Embedder } from './embedders/embedder.ts'
import type { SearchIndex } from './search-index.ts'
import { type AppError, isAppError, type OrganisationId, sharedOwner } from '../../platform/kernel/index.ts'

/** Chunks embedded by one step: some seconds of a local model, one or two calls of a provider. */
const chunksPerStep = 64

export type ReindexProgress =
  | { state: 'complete' }
  | { state: 'building'; embeddedChunks: number }
  /** The provider's model is not called for this organisation, such as one without a budget: the rest of the Space waits for the next round. */
  | { state: 'refused'; organisationId: OrganisationId; reason: string }
  /** The round is over, and chunks have no vector: they were refused, or inserted meanwhile. */
  | { state: 'incomplete' }

export interface ReindexRequest {
  index: SearchIndex
  embedder: Embedder
  signal: AbortSignal
}

/**
 * One step of the change to another embedding model: embeds the next chunks or, when none is left, builds the indexes of large
 * Spaces and switches all searches over at once. Idempotent and resumable: call it from a job until it returns `complete`. Where the model
 * answers searches already, it embeds what was inserted for another model.
 */
export async function reindexStep({ index, embedder, signal }: ReindexRequest): Promise<ReindexProgress> {
  const { embeddingVersions } = index
  const database = index.database.for(sharedOwner)
  const live = await embeddingVersions.load()
  const version = live.find(({ embedderId }) => embedderId === embedder.id)
  if (!version) return { state: 'complete' }
  const chunks = await loadMissingChunks(database, version, chunksPerStep)
  if (chunks.length > 0) {
    const { organisationId, spaceId } = chunks[0]!
    const texts = chunks.map(composeEmbeddingText)
    try {
      const vectors = await embedder.embed({ texts, purpose: 'document', organisationId, spaceId, signal })
      await storeVectors(database, version, chunks, vectors)
    } catch (error) {
      signal.throwIfAborted()
      if (!isRefusal(error)) throw error
      await skipSpace(database, version, spaceId)
      return { state: 'refused', organisationId, reason: error.message }
    }
    return { state: 'building', embeddedChunks: chunks.length }
  }
  if (version.state === 'active') return { state: 'complete' }
  await index.engine.indexNew({ signal })
  await index.engine.maintain({ signal })
  if (await embeddingVersions.activate(version)) return { state: 'complete' }
  await resetPosition(database, version)
  return { state: 'incomplete' }
}

/** Of one organisation only. */
function isRefusal(error: unknown): error is AppError {
  const codes = ['insufficient_quota', 'subscription_required', 'model_not_found', 'organisation_not_found'] as const
  return codes.some((code) => isAppError(error, code))
}
