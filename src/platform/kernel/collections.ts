/** Collections in memory: things that come and go with each request, and rows that follow the database. */

interface Entry<Item> {
  item: Item
  /** -1: it was removed. */
  place: number
}

/**
 * Things that come and go with each request. A Set replaces its table every few removals; V8 lets each former table refer to the next one, so that
 * the tables and all that was in them stay until it collects the whole heap. In no order.
 */
export class Bag<Item> {
  readonly #entries: Entry<Item>[] = []

  get size(): number {
    return this.#entries.length
  }

  /** Returns a function that removes it. */
  add(item: Item): () => void {
    const entry = { item, place: this.#entries.length }
    this.#entries.push(entry)
    return () => this.#remove(entry)
  }

  /** Those of now. */
  items(): Item[] {
    return this.#entries.map(({ item }) => item)
  }

  /** Removes each for which `isOver` is true. */
  removeIf(isOver: (item: Item) => boolean): void {
    for (const entry of this.#entries.slice()) if (entry.place >= 0 && isOver(entry.item)) this.#remove(entry)
  }

  #remove(entry: Entry<Item>): void {
    if (entry.place < 0) return
    const last = this.#entries.pop()!
    if (last !== entry) this.#entries[entry.place] = last
    last.place = entry.place
    entry.place = -1
  }
}

/** Notifies about changes of rows that are held in memory; src/platform/database/change-feed.ts implements it. */
export interface ChangeSource {
  /** `onChange` receives the ids that changed since the last call, or 'all' when changes may have been missed. */
  subscribe(topic: string, onChange: (ids: string[] | 'all') => Promise<void>): () => void
  /** Resolves when every change committed before the call has been delivered here. */
  caughtUp(): Promise<void>
}

/** Rows that are held in memory. */
interface ReplacedRows<Row> {
  replaceAll(rows: Row[]): void
  /** An id without a row in `rows` was removed. */
  replaceMany(ids: readonly string[], rows: Row[]): void
}

/** Rows in memory by their id and, for each name of `keysOf`, by another key; null: the row has none. A key that two rows had belongs to the later one. */
export function createSnapshot<Row, Key extends string>(
  idOf: (row: Row) => string,
  keysOf: Readonly<Record<Key, (row: Row) => string | null>>,
) {
  const keys = Object.entries(keysOf) as [Key, (row: Row) => string | null][]
  const noRows = () => Object.fromEntries(keys.map(([key]) => [key, new Map()])) as Record<Key, Map<string, Row>>
  let byId = new Map<string, Row>()
  let byKey = noRows()

  function put(row: Row) {
    byId.set(idOf(row), row)
    for (const [key, valueOf] of keys) {
      const value = valueOf(row)
      if (value !== null) byKey[key].set(value, row)
    }
  }
  function drop(id: string) {
    const row = byId.get(id)
    if (row === undefined) return
    byId.delete(id)
    for (const [key, valueOf] of keys) {
      const value = valueOf(row)
      if (value !== null && byKey[key].get(value) === row) byKey[key].delete(value)
    }
  }
  return {
    get: (id: string) => byId.get(id),
    find: (key: Key, value: string) => byKey[key].get(value),
    all: () => byId.values(),
    size: () => byId.size,
    replaceAll(rows: Row[]) {
      byId = new Map()
      byKey = noRows()
      for (const row of rows) put(row)
    },
    replaceMany(ids: readonly string[], rows: Row[]) {
      for (const id of ids) drop(id)
      for (const row of rows) put(row)
    },
  }
}

interface SnapshotSource<Row> {
  changeFeed: ChangeSource
  topic: string
  loadAll(): Promise<Row[]>
  loadMany(ids: readonly string[]): Promise<Row[]>
  snapshot: ReplacedRows<Row>
}

/**
 * Fills a snapshot and reloads what changes. Reloads run one after the other, so that an older read never overwrites a newer one. The
 * snapshot is replaced in one synchronous step. The subscription precedes the first load, so that no change is missed.
 */
export async function createSnapshotReloader<Row>(source: SnapshotSource<Row>): Promise<{ close(): void }> {
  let last: Promise<void> = Promise.resolve()

  function reload(ids: readonly string[] | 'all'): Promise<void> {
    const next = last.then(async () => {
      if (ids === 'all') source.snapshot.replaceAll(await source.loadAll())
      else source.snapshot.replaceMany(ids, await source.loadMany(ids))
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
