import type { GivenPassage } from '../src/chat/chat/context/prompt.ts'
import { addNeighbours } from '../src/chat/chat/find-passages.ts'
import { packPassages } from '../src/chat/chat/context/context-window.ts'
import type { DocumentReader, Passage, ReadScope } from '../src/documents/retrieval/index.ts'
import { estimateTokens } from '../src/gateway/tokens/index.ts'

/** Tokens of the passages of one search, of a new Space. */
export const defaultRoom = 8_000

/** The passages of a prompt with `room` tokens, from what a search found, as an answer packs them. */
export async function packForPrompt(
  reader: DocumentReader,
  scope: ReadScope,
  { found, room }: { found: readonly Passage[]; room: number },
  signal: AbortSignal,
): Promise<GivenPassage[]> {
  const chunks = await addNeighbours(reader, scope, { found, room }, signal)
  const count = (text: string) => Promise.resolve(estimateTokens(text).estimate)
  return (await packPassages(chunks, 1, { room, limit: room, count })).passages
}
