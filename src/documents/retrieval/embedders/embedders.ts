import type { Embedder } from './embedder.ts'

/** The embedder of new vectors, which may be replaced while the process runs, and those of earlier ones. */
export interface Embedders {
  current(): Embedder
  /** Every embedder that this process can use for queries; more are added. */
  readonly all: Iterable<Embedder>
  /** `listener` is awaited after each call of `use`. */
  onUse(listener: () => Promise<void>): void
  /** Makes new vectors with this one from now on. */
  use(embedder: Embedder): Promise<void>
}

export function createEmbedders(first: Embedder, former: Iterable<Embedder> = []): Embedders {
  const all = new Set([...former, first])
  let current = first
  let listener = async () => {}
  return {
    current: () => current,
    all,
    onUse: (given) => void (listener = given),
    async use(embedder) {
      all.add(embedder)
      current = embedder
      await listener()
    },
  }
}
