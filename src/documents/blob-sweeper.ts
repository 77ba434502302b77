import { type Clock, describeError, type Log } from '../kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import type { DocumentStore } from './documents.store.ts'

/**
 * A blob without a row is left only by a process killed between the two; the sweep removes those that are old enough not to
 * belong to an upload in progress.
 */
export interface BlobSweeper {
  /** Resolves to the number of blobs removed. */
  sweep(): Promise<number>
  close(): Promise<void>
}

/** Older than the longest upload (requestTimeoutMs of src/http/server.ts, 10 minutes) by a wide margin. */
const orphanAgeMs = 60 * 60_000
const sweepEveryMs = 6 * 60 * 60_000
const keysPerQuery = 500

export function createBlobSweeper({
  store,
  blobs,
  clock,
  log,
}: {
  store: DocumentStore
  blobs: BlobStore
  clock: Clock
  log: Log
}): BlobSweeper {
  let running: Promise<number> | undefined
  let closed = false

  async function sweepAll(): Promise<number> {
    let removed = 0
    let keys: string[] = []
    const flush = async () => {
      for (const key of await store.findOrphanBlobs(keys)) {
        await blobs.delete(key)
        removed++
      }
      keys = []
    }
    for await (const { key, modifiedAt } of blobs.list()) {
      if (closed) return removed
      if (clock.now() - modifiedAt.getTime() < orphanAgeMs) continue
      keys.push(key)
      if (keys.length === keysPerQuery) await flush()
    }
    if (keys.length > 0) await flush()
    await store.pruneUploadKeys()
    if (removed > 0) log.info({ removed }, 'blobs without a document were removed')
    return removed
  }

  const sweep = () => (running ??= sweepAll().finally(() => (running = undefined)))
  const quietly = () =>
    void sweep().catch((error: unknown) => log.warn({ error: describeError(error) }, 'the blob sweep failed'))
  const stop = clock.every(sweepEveryMs, quietly)
  quietly()
  return {
    sweep,
    async close() {
      closed = true
      stop()
      await running?.catch(() => {})
    },
  }
}
