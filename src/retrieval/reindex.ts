import type { Generation } from './corpus/embedding-versions.store.ts'
import type { IndexStore } from './search-index.ts'
import type { Embedder } from './port.ts'
import type { MissingChunk } from './corpus/reindex.store.ts'

/** Chunks embedded by one step: some seconds of a local model, one or two calls of a provider. */
const chunksPerStep = 64

export type ReindexProgress = { state: 'complete' } | { state: 'building'; embeddedChunks: number }

/**
 * One step towards the index of a new embedding model: embeds the next chunks, or, when none is left, builds the indexes of
 * large Spaces and switches searches over, all at once. Idempotent and resumable: call it from a job until it says `complete`.
 */
export async function reindexStep({
  index,
  embedder,
  signal,
}: {
  index: IndexStore
  embedder: Embedder
  signal: AbortSignal
}): Promise<ReindexProgress> {
  const generation = await loadBuilding(index, embedder)
  if (!generation) return { state: 'complete' }
  const chunks = await index.reindex.loadMissing(generation, chunksPerStep)
  if (chunks.length > 0) {
    const { organisationId, spaceId } = chunks[0]!
    const texts = chunks.map(composeEmbeddingText)
    const vectors = await embedder.embed({ texts, purpose: 'document', organisationId, spaceId, signal })
    await index.reindex.storeVectors(generation, chunks, vectors)
    return { state: 'building', embeddedChunks: chunks.length }
  }
  await index.maintain({ signal })
  if (await index.generations.activate(generation)) return { state: 'complete' }
  // Chunks whose keys lie behind the position came in meanwhile.
  await index.reindex.rewind(generation)
  return { state: 'building', embeddedChunks: 0 }
}

async function loadBuilding(index: IndexStore, embedder: Embedder): Promise<Generation | undefined> {
  const live = await index.generations.load()
  return live.find((generation) => generation.state === 'building' && generation.embedderId === embedder.id)
}

/**
 * The text that is embedded for a chunk: where it stands, then what it says. Ingestion calls it as well, so that a vector made
 * anew is made of the same words.
 */
export function composeEmbeddingText(
  chunk: Pick<MissingChunk, 'documentName' | 'headingPath' | 'tableHeader' | 'text'>,
): string {
  const place = [chunk.documentName, ...chunk.headingPath].filter((part) => part !== '').join(' › ')
  return [place, chunk.tableHeader, chunk.text].filter((part) => part !== null && part !== '').join('\n')
}
