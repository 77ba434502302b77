import type { Embedder } from '../../retrieval/index.ts'
import type { ChunkingSettings } from '../isolation/protocol.ts'
import type { CountTokens } from '../../../gateway/tokens/index.ts'

export interface ChunkingOptions {
  /** The embedder's own count. */
  countTokens: CountTokens
  /** What a chunk is filled up to, unless its structure ends it earlier. */
  targetTokens: number
  /** No chunk holds more, its table header included. */
  maximumTokens: number
  /** How much of a chunk's end is repeated at the start of the next one, where a size limit and not the structure separates them. */
  overlapTokens: number
}

/** What a chunk is filled up to: decided by measurement in docs/decisions/0033-chunk-size.md. */
const targetTokens = 350
const maximumTokens = 500
const overlapTokens = 30
/** Tokens of a model's input that its context (document name, headings) may take, and the share of a small model's input. */
const contextTokens = 96
const contextShare = 1 / 4

/** Chunks that leave room for their context in the embedder's input, however small it is. */
export function chunkingFor(embedder: Pick<Embedder, 'maximumTokens' | 'counter'>): ChunkingSettings {
  const room = Math.ceil(embedder.maximumTokens - Math.min(contextTokens, embedder.maximumTokens * contextShare))
  return {
    counter: embedder.counter,
    targetTokens: Math.min(targetTokens, room),
    maximumTokens: Math.min(maximumTokens, room),
    overlapTokens: Math.min(overlapTokens, Math.floor(room / 8)),
  }
}
