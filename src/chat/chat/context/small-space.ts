import type { DocumentReader, Passage, ReadScope } from '../../../documents/retrieval/index.ts'

/** A document has at least so many tokens with its title and the lines around it. */
const leastDocumentTokens = 15
/** Text of a language has fewer characters in a token. Texts with more of them, such as long runs of blanks, are found by a search. */
const charactersPerToken = 8

/** All chunks of a scope of at most about `maximumTokens`, in reading order; empty where it is empty or larger. */
export async function loadSmallSpace(
  documents: Pick<DocumentReader, 'loadSpace'>,
  scope: ReadScope,
  maximumTokens: number,
  signal: AbortSignal,
): Promise<Passage[]> {
  if (maximumTokens === 0) return []
  const maximum = {
    documents: Math.floor(maximumTokens / leastDocumentTokens),
    characters: maximumTokens * charactersPerToken,
  }
  const chunks = await documents.loadSpace(scope, maximum, signal)
  return chunks.map((chunk) => ({ ...chunk, score: 0 }))
}
