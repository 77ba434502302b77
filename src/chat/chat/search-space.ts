import type { ExplainSearch, Passage, Retrieval } from '../../documents/retrieval/index.ts'
import type { AnswerCall } from './port.ts'
import type { SearchQuery } from './queries/conversation-query.ts'
import { scopeOf } from './read-scope.ts'

/** Who searches, and what. */
export type SearchCall = Pick<AnswerCall, 'organisation' | 'space' | 'filter' | 'spending' | 'signal'>

interface SearchOptions {
  explain?: ExplainSearch
  documentIds?: readonly string[]
  /** Passages beyond those of the Space's setting. */
  more?: number
  /** As many as the reranker compares, in the order of the search: they are reranked together with those of other searches. */
  forReranking?: boolean
}

/** Every search of an answer, and of the retrieval tester. */
export function searchSpace(
  retrieval: Retrieval,
  call: SearchCall,
  { text, context, standalone = text }: SearchQuery,
  { explain, documentIds, more = 0, forReranking = false }: SearchOptions = {},
): Promise<Passage[]> {
  const { maximumPassages } = call.space.settings
  return retrieval.search({
    ...scopeOf(call),
    query: text,
    context,
    ...(forReranking
      ? { limit: Math.max(maximumPassages, retrieval.rerankSize), rerankText: null }
      : { limit: maximumPassages + more, rerankText: standalone }),
    ...(documentIds && { documentIds }),
    ...(explain && { explain }),
    spending: call.spending,
    signal: call.signal,
  })
}

/** Orders the passages of several searches by how well they answer a question. */
export function rerankPassages(
  retrieval: Retrieval,
  { organisation, space, spending, signal }: Pick<AnswerCall, 'organisation' | 'space' | 'spending' | 'signal'>,
  text: string,
  passages: readonly Passage[],
): Promise<Passage[]> {
  return retrieval.rerank(passages, {
    organisationId: organisation.id,
    spaceId: space.id,
    text,
    limit: space.settings.maximumPassages,
    spending,
    signal,
  })
}
