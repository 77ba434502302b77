import type { Clock, OrganisationId, SpaceId } from '../../platform/kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import type { DocumentStore } from './documents.store.ts'

/** The row of a document is inserted right after its blob: a younger blob may belong to a request in progress. */
export const lostBlobAgeMs = 60_000
const keysPerQuery = 500

interface LostBlobsDependencies {
  store: Pick<DocumentStore, 'findLostBlobs'>
  blobs: Pick<BlobStore, 'list' | 'delete'>
  clock: Clock
}

/**
 * Removes the blobs of a removed Space that have neither a document nor a job: the process that stored them was killed before it
 * inserted the row. Call it after the documents are removed.
 */
export async function removeLostBlobs(
  { store, blobs, clock }: LostBlobsDependencies,
  { organisationId, spaceId }: { organisationId: OrganisationId; spaceId: SpaceId },
  signal: AbortSignal,
): Promise<void> {
  let keys: string[] = []
  const flush = async () => {
    for (const key of await store.findLostBlobs(keys)) await blobs.delete(key)
    keys = []
  }
  for await (const { key, modifiedAt } of blobs.list(`${organisationId}/${spaceId}`)) {
    signal.throwIfAborted()
    if (clock.now() - modifiedAt.getTime() < lostBlobAgeMs) continue
    keys.push(key)
    if (keys.length === keysPerQuery) await flush()
  }
  if (keys.length > 0) await flush()
}
