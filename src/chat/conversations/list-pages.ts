/** Pages of lists of conversations, newest first: those of a Space and those of a person. */

/** After this conversation, in the order of the list. */
export interface ListPlace {
  lastAtMs: number
  id: string
}

export interface ListPage<Item> {
  items: Item[]
  /** Null at the end. */
  next: ListPlace | null
  /** A search ended before the page was full: older conversations than this were not read. */
  searchedTo: Date | null
}

/** `cursor` as `renderEnd` makes it. */
export function readPlace({ cursor, limit }: { cursor?: string | undefined; limit: number }) {
  const [lastAtMs, id] = cursor?.split('.') ?? []
  return { limit, after: id === undefined ? null : { lastAtMs: Number(lastAtMs), id } }
}

export function renderEnd({ next, searchedTo }: Pick<ListPage<unknown>, 'next' | 'searchedTo'>) {
  return { nextCursor: next && `${next.lastAtMs}.${next.id}`, searchedTo: searchedTo && searchedTo.toISOString() }
}

const placeOf = ({ lastAt, id }: { lastAt: Date; id: string }): ListPlace => ({ lastAtMs: lastAt.getTime(), id })

/** `rows`: one more than `limit` where the list continues. */
export function pageOf<Item extends { lastAt: Date; id: string }>(
  rows: readonly Item[],
  limit: number,
): ListPage<Item> {
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? placeOf(items.at(-1)!) : null, searchedTo: null }
}

/**
 * A search reads texts. One statement reads conversations of at most this many bytes, and one page at most `ms` milliseconds and `most`
 * conversations, so that a page takes less than 300 ms; the next page continues.
 */
export const searchBounds = { conversations: 50, bytes: 1024 ** 2, ms: 100, most: 5_000 } as const

/** A page of those that match. `readChunk` reads the conversations after a place, at least one while there are any. */
export async function searchInChunks<Item extends { lastAt: Date; id: string }>(
  { after, limit }: { after: ListPlace | null; limit: number },
  readChunk: (after: ListPlace | null) => Promise<(Item & { matches: boolean })[]>,
): Promise<ListPage<Item>> {
  const startMs = performance.now()
  const items: Item[] = []
  let place = after
  for (let searched = 0; searched < searchBounds.most && performance.now() - startMs < searchBounds.ms;) {
    const chunk = await readChunk(place)
    if (chunk.length === 0) return { items, next: null, searchedTo: null }
    searched += chunk.length
    for (const { matches, ...item } of chunk) {
      place = placeOf(item)
      if (matches) items.push(item as unknown as Item)
      if (items.length === limit) return { items, next: place, searchedTo: null }
    }
  }
  return { items, next: place, searchedTo: place && new Date(place.lastAtMs) }
}
