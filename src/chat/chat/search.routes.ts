import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { spaceSearchResultSchema, spaceSearchSchema } from '../../contract/space-search.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { actingMembersOfSpace, noSpace, type Space } from '../spaces/index.ts'
import { explainSearch } from './explain-search.ts'
import type { AnswerDependencies } from './port.ts'

export interface SpaceSearchDependencies extends AnswerDependencies {
  getSpace: (id: string) => Space | undefined
}

/** `POST /api/spaces/{id}/search`: the retrieval tester, for members who act for their organisation. */
export function spaceSearchRoutes(dependencies: SpaceSearchDependencies): Routes {
  const { getSpace } = dependencies
  const described = describeRoutes(actingMembersOfSpace({ get: getSpace }), 'Spaces in the console')
  return (app) => {
    app.post(
      '/api/spaces/:id/search',
      described(
        'searchSpace',
        'Search a Space as its chat does',
        {
          description:
            'Makes the first search of an answer, without the answer, and explains each candidate. Counts towards the limits of the organisation as a chat does. The embedding of the query is billed; nothing else is.',
          params: idParamsSchema,
          body: spaceSearchSchema,
          response: { 200: spaceSearchResultSchema, ...errorResponses(400, 401, 402, 403, 404, 408, 429, 503) },
        },
        undefined,
        { limited: 'call' },
      ),
      (request) => {
        const space = getSpace(request.params.id)
        if (!space) throw noSpace(request.params.id)
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
