import type { ExplainSearch, Passage, Retrieval } from '../retrieval/index.ts'
import { maximumPassageBytes } from './context/context-window.ts'
import type { AnswerCall } from './prepare-answer.ts'
import type { SearchQuery } from './queries/conversation-query.ts'

/** Every search of an answer, and of the retrieval tester. */
export function searchSpace(
  retrieval: Retrieval,
  { organisation, space, signal }: Pick<AnswerCall, 'organisation' | 'space' | 'signal'>,
  { text, context }: SearchQuery,
  { explain, documentIds }: { explain?: ExplainSearch; documentIds?: readonly string[] } = {},
): Promise<Passage[]> {
  return retrieval.search({
    organisationId: organisation.id,
    spaceId: space.id,
    query: text,
    context,
    limit: space.settings.maximumPassages,
    maximumBytes: maximumPassageBytes,
    ...(documentIds && { documentIds }),
    ...(explain && { explain }),
    signal,
  })
}
