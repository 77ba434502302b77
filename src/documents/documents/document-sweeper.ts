import { type Clock, describeError, type Log } from '../../platform/kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import type { DocumentStore } from './documents.store.ts'

/**
 * Repairs the results of a crash: blobs without a row (the process was killed before it inserted the row), documents in processing
 * without a job, and expired upload keys. Runs at the start and every few hours.
 */

/** Older than the longest upload (requestTimeoutMs of src/platform/http/server.ts, 10 minutes) by a wide margin. */
export const orphanAgeMs = 60 * 60_000
const sweepEveryMs = 6 * 60 * 60_000
const keysPerQuery = 500

export function createDocumentSweeper({
  store,
  blobs,
  soleOwner,
  clock,
  log,
}: {
  store: DocumentStore
  blobs: BlobStore
  /** True if no other process accepts uploads (embedded): older blobs than this process then belong to no upload in progress. */
  soleOwner: boolean
  clock: Clock
  log: Log
}) {
  const startedAt = clock.now()
  let running: Promise<{ removedBlobs: number; requeued: number }> | undefined
  let closed = false

  const mayBeUploading = (modifiedAt: Date) =>
    clock.now() - modifiedAt.getTime() < orphanAgeMs && !(soleOwner && modifiedAt.getTime() < startedAt)

  async function removeOrphans(): Promise<number> {
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
      if (mayBeUploading(modifiedAt)) continue
      keys.push(key)
      if (keys.length === keysPerQuery) await flush()
    }
    if (keys.length > 0) await flush()
    return removed
  }

  async function sweepAll() {
    const requeued = await store.requeueStuck()
    if (requeued > 0) log.warn({ requeued }, 'enqueued jobs for documents in processing that had none')
    await store.pruneUploadKeys()
    await store.pruneOperations()
    const removedBlobs = await removeOrphans()
    if (removedBlobs > 0) log.info({ removedBlobs }, 'blobs without a document were removed')
    return { removedBlobs, requeued }
  }

  const sweep = () => (running ??= sweepAll().finally(() => (running = undefined)))
  const quietly = () =>
    void sweep().catch((error: unknown) => log.warn({ error: describeError(error) }, 'the sweep of documents failed'))
  const stop = clock.every(sweepEveryMs, quietly)
  quietly()
  return {
    /** Resolves to the repairs. */
    sweep,
    async close(): Promise<void> {
      closed = true
      stop()
      await running?.catch(() => {})
    },
  }
}
