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
