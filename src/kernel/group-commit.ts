export interface GroupCommitOptions<Item> {
  /** Writes one batch durably. Rejecting fails every item of the batch. */
  flush(items: Item[]): Promise<void>
  /** Most items in one flush. */
  maximumBatch: number
  /** Most items waiting; `add` rejects with `full()` beyond it. */
  maximumQueue: number
  full(): Error
}

export interface GroupCommit<Item> {
  /** Resolves when the batch that holds the item is durable. */
  add(item: Item): Promise<void>
  /** Items waiting or being written. */
  size(): number
  /** Resolves when nothing waits and nothing is being written. */
  drained(): Promise<void>
}

/**
 * Gathers single writes into batches: a flush starts as soon as the previous one has ended, so a single write does not wait
 * and many writes share one commit. docs/performance.md has the rates of single commits and batches.
 */
export function createGroupCommit<Item>(options: GroupCommitOptions<Item>): GroupCommit<Item> {
  let waiting: { item: Item; resolve: () => void; reject: (error: unknown) => void }[] = []
  let inFlight = 0
  let running = false
  let idle: (() => void)[] = []

  async function run() {
    // One microtask turn lets the writes of the same event-loop turn share the first batch.
    await Promise.resolve()
    while (waiting.length > 0) {
      const batch = waiting.slice(0, options.maximumBatch)
      waiting = waiting.slice(options.maximumBatch)
      inFlight = batch.length
      try {
        await options.flush(batch.map((entry) => entry.item))
        for (const entry of batch) entry.resolve()
      } catch (error) {
        for (const entry of batch) entry.reject(error)
      }
      inFlight = 0
    }
    running = false
    const resolvers = idle
    idle = []
    for (const resolve of resolvers) resolve()
  }

  return {
    add(item) {
      if (waiting.length >= options.maximumQueue) return Promise.reject(options.full())
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        if (!running) {
          running = true
          void run()
        }
      })
    },
    size: () => waiting.length + inFlight,
    drained: () => (running ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()),
  }
}
