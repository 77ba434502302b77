import { type Clock, describeError, type Log, repeatWork } from '../../platform/kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import type { DocumentStore } from './documents.store.ts'

const roundEveryMs = 5_000
const keysPerRound = 500
/** Further ones are left to the sweeper. */
const maximumWaiting = 100_000

export type UnusedBlobs = ReturnType<typeof createUnusedBlobs>

/** Removes the blobs of rejected uploads, also those that cannot be removed while the database or the blob store does not answer. */
export function createUnusedBlobs({
  store,
  blobs,
  clock,
  log,
}: {
  store: Pick<DocumentStore, 'findOrphanBlobs'>
  blobs: Pick<BlobStore, 'delete'>
  clock: Clock
  log: Log
}) {
  /** The keys, and whether the round before has found no document for them. */
  const waiting = new Map<string, { isUnnamed: boolean }>()

  function removeLater(key: string): void {
    if (waiting.size === 0)
      log.warn({ key }, 'files of rejected uploads are removed when database and blob store answer')
    if (waiting.size < maximumWaiting) waiting.set(key, { isUnnamed: false })
  }

  async function round(): Promise<void> {
    const keys = [...waiting.keys()].slice(0, keysPerRound)
    const unnamed = new Set(await store.findOrphanBlobs(keys))
    for (const key of keys) {
      // A server that was paused may commit the row after it has answered this query: the next round decides.
      if (unnamed.has(key) && !waiting.get(key)!.isUnnamed) waiting.set(key, { isUnnamed: true })
      else {
        if (unnamed.has(key)) await blobs.delete(key)
        waiting.delete(key)
      }
    }
  }

  const { close } = repeatWork({
    clock,
    everyMs: roundEveryMs,
    work: () => (waiting.size === 0 ? Promise.resolve() : round()),
    onFailed: (error) => log.debug({ error: describeError(error) }, 'files of rejected uploads could not be removed'),
  })

  return {
    /** Removes a blob that no document names, at once if the blob store answers. Never rejects. */
    async remove(key: string): Promise<void> {
      await blobs.delete(key).catch(() => removeLater(key))
    },
    /** Removes a blob unless a document names it: a commit may have succeeded although its answer was lost. */
    removeLater,
    /** What waits then is left to the sweeper of the next start. */
    /** What is left, the sweeper of the next start removes. */
    close,
  }
}
