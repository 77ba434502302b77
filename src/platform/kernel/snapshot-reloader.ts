/** Notifies about changes of rows that are held in memory; src/platform/database/change-feed.ts implements it. */
export interface ChangeSource {
  /** `onChange` receives the ids that changed since the last call, or 'all' when changes may have been missed. */
  subscribe(topic: string, onChange: (ids: string[] | 'all') => Promise<void>): () => void
  /** Resolves when every change committed before the call has been delivered here. */
  caughtUp(): Promise<void>
}

export interface SnapshotSource<Row> {
  changeFeed: ChangeSource
  topic: string
  loadAll(): Promise<Row[]>
  loadMany(ids: readonly string[]): Promise<Row[]>
  replaceAll(rows: Row[]): void
  /** An id without a row in `rows` was removed. */
  replaceMany(ids: readonly string[], rows: Row[]): void
}

/**
 * Fills a snapshot and reloads what changes. Reloads run one after the other, so that an older read never overwrites a newer one. The
 * snapshot is replaced in one synchronous step. The subscription precedes the first load, so that no change is missed.
 */
export async function createSnapshotReloader<Row>(source: SnapshotSource<Row>): Promise<{ close(): void }> {
  let last: Promise<void> = Promise.resolve()

  function reload(ids: readonly string[] | 'all'): Promise<void> {
    const next = last.then(async () => {
      if (ids === 'all') source.replaceAll(await source.loadAll())
      else source.replaceMany(ids, await source.loadMany(ids))
    })
    last = next.catch(() => {})
    // The change feed receives the rejection of a failed load and delivers again.
    return next
  }

  const unsubscribe = source.changeFeed.subscribe(source.topic, reload)
  try {
    await reload('all')
  } catch (error) {
    unsubscribe()
    throw error
  }
  return { close: unsubscribe }
}
