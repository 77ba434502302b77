import { describeError, type Log } from '../../../platform/kernel/index.ts'
import type { BlobStore } from './blob-store.ts'

export interface HoldableBlobStore extends BlobStore {
  /** Until the returned function is called, `delete` only notes the key. */
  holdRemovals(): () => Promise<void>
}

/**
 * A blob store whose removals can be put off, so that a backup finds every blob that its copy of the database names. A process that is
 * killed meanwhile leaves blobs without a document, which the next start removes.
 */
export function withHeldRemovals(store: BlobStore, log: Log): HoldableBlobStore {
  let holds = 0
  let waiting = new Set<string>()

  async function removeWaiting() {
    const keys = waiting
    waiting = new Set()
    for (const key of keys) {
      await store
        .delete(key)
        .catch((error: unknown) => log.warn({ key, error: describeError(error) }, 'a blob could not be removed'))
    }
  }

  return {
    ...store,
    // A key is never used again: the blob of a removed document stays readable until the end of the hold, and nobody reads it.
    async delete(key) {
      if (holds > 0) waiting.add(key)
      else await store.delete(key)
    },
    holdRemovals() {
      let released = false
      holds++
      return async () => {
        if (released) return
        released = true
        holds--
        if (holds === 0) await removeWaiting()
      }
    },
  }
}
