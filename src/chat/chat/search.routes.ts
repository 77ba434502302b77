import { z } from 'zod'
import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import {
  type FoundPassage,
  publishedSearchResultSchema,
  publishedSearchSchema,
  spaceSearchResultSchema,
  spaceSearchSchema,
} from '../../contract/space-search.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { findPublishedSpace, routesOfSpace, type Space } from '../spaces/index.ts'
import { explainSearch } from './explain-search.ts'
import type { AnswerDependencies } from './port.ts'
import type { Passage, Retrieval } from '../../documents/retrieval/index.ts'
import { allFilters, readFilterHeader, scopeOf } from './find-passages.ts'

export interface SpaceSearchDependencies extends AnswerDependencies {
  getSpace: (id: string) => Space | undefined
}

/** `POST /api/spaces/{id}/search`: the retrieval tester, for members who act for their organisation. */
export function spaceSearchRoutes(dependencies: SpaceSearchDependencies): Routes {
  const { forActingMembers, spaceOf } = routesOfSpace(dependencies.getSpace, 'Spaces in the console')
  return (app) => {
    app.post(
      '/api/spaces/:id/search',
      forActingMembers('searchSpace', 'Search a Space as its chat does', {
        config: { limited: 'call' },
        description:
          'Makes the first search of an answer, without the answer, and explains each candidate. Counts towards the limits of the organisation as a chat does. The embedding of the query is billed; nothing else is.',
        params: idParamsSchema,
        body: spaceSearchSchema,
        response: { 200: spaceSearchResultSchema, ...errorResponses(400, 401, 402, 403, 404, 408, 429, 503) },
      }),
      (request) => {
        const space = spaceOf(request.params.id)
        const { messages, candidates, filter = null } = request.body
        const call = {
          requestId: request.requestId,
          organisation: request.organisation,
          space,
          messages,
          filter,
          inlineSources: true,
          passageReferences: false,
          agentic: false,
          signal: request.clientSignal,
        }
        return explainSearch(dependencies, call, candidates)
      },
    )
  }
}

interface PublishedSearchDependencies {
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
      described('searchPublishedSpace', 'Search a published Space', {
        config: { limited: 'call' },
        description:
          'The best passages of the files, without an answer. The embedding of the query is billed; nothing else is. The header `service-document-filter` and `filter` must both hold.',
        params: z.object({ endpointId: z.string() }),
        body: publishedSearchSchema,
        response: { 200: publishedSearchResultSchema, ...errorResponses(400, 401, 404, 408, 429, 503) },
      }),
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
