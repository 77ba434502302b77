/** What waits, by owner: owners take turns, and the items of one keep their order. */
export class Turns<Item> {
  /** The owner whose turn is next comes first. */
  readonly #queues = new Map<string, Item[]>()

  add(owner: string, item: Item): void {
    const queue = this.#queues.get(owner)
    if (queue) queue.push(item)
    else this.#queues.set(owner, [item])
  }

  /** Removes the next item that is ready. The next turn of its owner comes after those of the others. */
  takeNext(isReady: (item: Item) => boolean = () => true): { owner: string; item: Item } | undefined {
    for (const [owner, queue] of this.#queues) {
      const place = queue.findIndex(isReady)
      if (place < 0) continue
      this.#queues.delete(owner)
      const [item] = queue.splice(place, 1)
      if (queue.length > 0) this.#queues.set(owner, queue)
      return { owner, item: item! }
    }
    return undefined
  }

  /** The item must be there. */
  remove(owner: string, item: Item): void {
    const queue = this.#queues.get(owner)!
    queue.splice(queue.indexOf(item), 1)
    if (queue.length === 0) this.#queues.delete(owner)
  }
}
