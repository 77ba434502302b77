import { errorResponses } from '../../contract/errors.ts'
import {
  createGoldenProposalsSchema,
  goldenProposalsOfferSchema,
  goldenProposalsSchema,
} from '../../contract/golden-proposals.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import type { Routes } from '../../platform/http/index.ts'
import { routesOfSpace, type Space } from '../spaces/index.ts'
import type { GoldenProposals } from './propose-questions.ts'

const path = '/api/spaces/:id/golden-questions/proposals'

/** Golden questions from the documents of a Space, to be reviewed. */
export function goldenProposalRoutes({
  proposals,
  getSpace,
}: {
  proposals: GoldenProposals
  getSpace: (id: string) => Space | undefined
}): Routes {
  const { forMembers, forActingMembers, spaceOf } = routesOfSpace(getSpace, 'Golden questions')
  return (app) => {
    app.get(
      path,
      forMembers('getGoldenProposalsOffer', 'What golden questions from documents cost', {
        params: idParamsSchema,
        response: { 200: goldenProposalsOfferSchema, ...errorResponses(401, 403, 404) },
      }),
      (request) => proposals.offer(spaceOf(request.params.id)),
    )
    app.post(
      path,
      forActingMembers('makeGoldenProposals', 'Make golden questions from documents', {
        config: { limited: 'call' },
        description:
          'The model of the Space writes questions about passages of its documents, billed as `space_chat`. They are not stored: add those that are right.',
        params: idParamsSchema,
        body: createGoldenProposalsSchema,
        response: { 200: goldenProposalsSchema, ...errorResponses(400, 401, 402, 403, 404, 409, 429, 502, 503, 504) },
      }),
      (request) => proposals.make(spaceOf(request.params.id), request.body.count, request.clientSignal),
    )
  }
}
