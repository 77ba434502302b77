import type { Queryable } from '../../../../platform/database/index.ts'
import { raceSignal } from '../../../../platform/kernel/index.ts'
import { decodeCounts, type TermCounts } from './lance-segments.store.ts'

/** Of the segments that were searched last; a segment of 120,000 chunks has 1 to 3 MB. */
const maximumBytes = 64 * 2 ** 20
/** It does not end with the search that began it, because others wait for it as well. */
const timeoutMs = 15_000

interface Entry {
  counts: Promise<TermCounts>
  /** 0 until they are loaded. */
  bytes: number
}

/** In how many chunks of a segment each term occurs, kept in memory: a segment never changes. */
export function createTermCounts() {
  // Least recently used first.
  const kept = new Map<number, Entry>()
  let bytes = 0

  function forget(id: number): void {
    bytes -= kept.get(id)?.bytes ?? 0
    kept.delete(id)
  }

  /** An entry that was evicted while it was loaded does not count. */
  function note(id: number, entry: Entry, loadedBytes: number): void {
    if (kept.get(id) !== entry) return
    entry.bytes = loadedBytes
    bytes += loadedBytes
    for (const oldest of kept.keys()) {
      if (bytes <= maximumBytes || oldest === id) break
      forget(oldest)
    }
  }

  function open(queryable: Queryable, id: number): Entry {
    const entry: Entry = {
      bytes: 0,
      counts: read(queryable, id).then((stored) => {
        note(id, entry, stored.byteLength)
        return decodeCounts(stored)
      }),
    }
    entry.counts.catch(() => kept.get(id) === entry && forget(id))
    return entry
  }

  return {
    load(queryable: Queryable, id: number, signal: AbortSignal | undefined): Promise<TermCounts> {
      const entry = kept.get(id) ?? open(queryable, id)
      kept.delete(id)
      kept.set(id, entry)
      return raceSignal(entry.counts, signal)
    },
  }
}

async function read(queryable: Queryable, id: number): Promise<Uint8Array> {
  const [row] = await queryable.query<{ counts: Uint8Array | null }>(
    'select term_counts as counts from vector_segments where id = $1',
    [id],
    { timeoutMs },
  )
  if (!row?.counts) throw new Error(`segment ${id} is gone`)
  return row.counts
}
