import { z } from 'zod'
import { errorResponses } from '../../contract/errors.ts'
import { type FoundPassage, publishedSearchResultSchema, publishedSearchSchema } from '../../contract/space-search.ts'
import type { Passage, Retrieval } from '../../documents/retrieval/index.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { findPublishedSpace, type Space } from '../spaces/index.ts'
import { allFilters, readFilterHeader, scopeOf } from './read-scope.ts'

export interface PublishedSearchDependencies {
  retrieval: Retrieval
  /** The Space that is published under an endpoint id; undefined where there is none at the moment. */
  getPublishedSpace: (endpointId: string) => Space | undefined
}

/** `POST /v2/endpoints/{endpointId}/search`: the passages of a published Space, without an answer. */
export function publishedSearchRoutes({ retrieval, getPublishedSpace }: PublishedSearchDependencies): Routes {
  const described = describeRoutes('organisation', 'Space chat')
  return (app) => {
    app.post(
      '/v2/endpoints/:endpointId/search',
      described(
        'searchPublishedSpace',
        'Search a published Space',
        {
          description:
            'The best passages of the files, without an answer. The embedding of the query is billed; nothing else is. The header `service-document-filter` and `filter` must both hold.',
          params: z.object({ endpointId: z.string() }),
          body: publishedSearchSchema,
          response: { 200: publishedSearchResultSchema, ...errorResponses(400, 401, 404, 408, 429, 503) },
        },
        undefined,
        { limited: 'call' },
      ),
      (request) => {
        const { organisation, params, body, headers, clientSignal: signal } = request
        const space = findPublishedSpace(getPublishedSpace, params.endpointId, organisation)
        const filter = allFilters(body.filter ?? null, readFilterHeader(headers))
        const { query, limit } = body
        return retrieval
          .search({ ...scopeOf({ organisation, space, filter }), query, limit, signal })
          .then((passages) => ({ passages: passages.map(render) }))
      },
    )
  }
}

function render(passage: Passage): FoundPassage {
  const { documentId, documentName, url, text, headingPath, tableHeader, characterFrom, characterTo, score } = passage
  const pages = range(passage.pageFrom, passage.pageTo)
  const rows = range(passage.rowFrom, passage.rowTo)
  return {
    documentId,
    title: documentName,
    ...(url !== null && { url }),
    text,
    ...(headingPath.length > 0 && { heading: headingPath.join(' > ') }),
    ...(tableHeader !== null && { tableHeader }),
    ...(pages && { pages }),
    ...(rows && { rows }),
    start: characterFrom,
    end: characterTo,
    score,
  }
}

const range = (from: number | null, to: number | null) => (from === null ? undefined : { from, to: to ?? from })
