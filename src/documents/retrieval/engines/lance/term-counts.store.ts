import type { Queryable } from '../../../../platform/database/index.ts'
import { raceSignal } from '../../../../platform/kernel/index.ts'
import { decodeCounts, type TermCounts } from './lance-segments.store.ts'

/** Of the segments that were searched last; a segment of 120,000 chunks has 1 to 3 MB. */
const maximumBytes = 64 * 2 ** 20
/** It does not end with the search that began it, because others wait for it as well. */
const timeoutMs = 15_000

/** In how many chunks of a segment each term occurs, kept in memory: a segment never changes. */
export function createTermCounts() {
  // Least recently used first.
  const kept = new Map<number, { counts: Promise<TermCounts>; bytes: number }>()
  let bytes = 0

  function forget(id: number): void {
    bytes -= kept.get(id)?.bytes ?? 0
    kept.delete(id)
  }

  async function read(queryable: Queryable, id: number): Promise<TermCounts> {
    const [row] = await queryable.query<{ counts: Uint8Array | null }>(
      'select term_counts as counts from vector_segments where id = $1',
      [id],
      { timeoutMs },
    )
    if (!row?.counts) throw new Error(`segment ${id} is gone`)
    const entry = kept.get(id)
    if (entry) entry.bytes = row.counts.byteLength
    bytes += entry ? row.counts.byteLength : 0
    for (const oldest of kept.keys()) {
      if (bytes <= maximumBytes || oldest === id) break
      forget(oldest)
    }
    return decodeCounts(row.counts)
  }

  return {
    load(queryable: Queryable, id: number, signal: AbortSignal | undefined): Promise<TermCounts> {
      const known = kept.get(id)
      const entry = known ?? { counts: read(queryable, id), bytes: 0 }
      kept.delete(id)
      kept.set(id, entry)
      if (!known) entry.counts.catch(() => kept.get(id) === entry && forget(id))
      return raceSignal(entry.counts, signal)
    },
  }
}
