import type { DocumentReader, Passage, ReadScope } from '../../../documents/retrieval/index.ts'
import { estimateTokens } from '../../../gateway/tokens/index.ts'

/**
 * Share of the room for passages that neighbours may take. `npm run eval:answers -- --only Passages` measures it: from 2,000 tokens on, an answer
 * near the border of a chunk is worth more than the last passage of the search; in less room it is not.
 */
const neighbourShare = 0.25

/**
 * The chunks of a search with the neighbours of the best one directly behind it, the following one first, as far as they take a quarter of
 * `room` (tokens). More chunks with neighbours, such as the best two or three, gave no better figures.
 */
export async function addNeighbours(
  documents: Pick<DocumentReader, 'loadNeighbours'>,
  scope: ReadScope,
  { found, room }: { found: readonly Passage[]; room: number },
  signal: AbortSignal,
): Promise<Passage[]> {
  const [best, ...others] = found
  if (!best) return []
  const loaded = await documents.loadNeighbours(scope, best.chunkId, signal)
  const near: Passage[] = []
  let tokens = 0
  for (const chunk of loaded.toSorted((left, right) => right.chunkIndex - left.chunkIndex)) {
    tokens += estimateTokens(chunk.text).estimate
    if (tokens <= room * neighbourShare) near.push({ ...chunk, score: 0 })
  }
  const ids = new Set(near.map(({ chunkId }) => chunkId))
  return [
    best,
    ...near.map((one) => found.find(({ chunkId }) => chunkId === one.chunkId) ?? one),
    ...others.filter(({ chunkId }) => !ids.has(chunkId)),
  ]
}
