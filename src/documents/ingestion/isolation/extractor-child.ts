import { type IsolatedChild, startIsolatedChild } from './isolated-child.ts'
import type { ChunkingSettings, FromChild, ToChild } from './protocol.ts'

/** A running process that reads files. */
export type ExtractorChild = IsolatedChild<ToChild, FromChild>

const file = new URL('extractor-process.ts', import.meta.url)

/** Starts a child that may read its own program and `readableFolders`, and nothing else of the machine. */
export function startExtractorChild(readableFolders: readonly string[], chunking: ChunkingSettings): ExtractorChild {
  return startIsolatedChild({ file, argument: JSON.stringify(chunking), readableFolders })
}
