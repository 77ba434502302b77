import { AsyncResource } from 'node:async_hooks'
import type { SearchEngine } from '../engine.ts'

/** Counts published chunks, and calls back after so many of them, which may need an index. */
export function createNewChunks(chunksPerSignal: number): Pick<SearchEngine, 'publish' | 'onNewChunks'> {
  let newChunks = 0
  let signal = () => {}
  return {
    publish(_run, chunks) {
      newChunks += chunks
      if (newChunks < chunksPerSignal) return
      newChunks = 0
      signal()
    },
    onNewChunks(callback) {
      // Not in the context of the transaction that publishes: the callback makes its own.
      signal = AsyncResource.bind(callback)
    },
  }
}
