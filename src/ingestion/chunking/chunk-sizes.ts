import type { Embedder } from '../../retrieval/index.ts'
import type { ChunkingSettings } from '../isolation/protocol.ts'

/** What a chunk is filled up to: the best excerpt recall of 150 to 500 on the shared excerpt set (bench/retrieval.ts). */
const targetTokens = 250
const maximumTokens = 400
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
