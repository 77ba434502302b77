import { answerRatingParamsSchema, answerRatingSchema, type AnswerRatingBody } from '../../contract/answer-ratings.ts'
import { errorResponses } from '../../contract/errors.ts'
import { emptySchema } from '../../contract/operator.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import { findPublishedSpace, type Space } from '../spaces/index.ts'
import type { Conversations } from './conversation-access.ts'

export interface RatingRoutesDependencies {
  conversations: Pick<Conversations, 'rate'>
  getPublishedSpace: (endpointId: string) => Space | undefined
}

const path = '/v2/endpoints/:endpointId/answers/:requestId/rating'

/** Visitors rate the answers of a published Space; only stored answers have a rating. */
export function ratingRoutes({ conversations, getPublishedSpace }: RatingRoutesDependencies): Routes {
  const described = describeRoutes('organisation', 'Space chat')

  /** Throws `conflict` where the Space stores no answers, and `not_found`. */
  async function rate(space: Space, requestId: string, given: AnswerRatingBody | null) {
    if (!space.settings.keepConversations)
      throw new AppError(
        'conflict',
        'The Space stores no answers, so none can be rated. An administrator turns on keepConversations in its settings.',
      )
    if (!(await conversations.rate(space.id, requestId, given)))
      throw new AppError(
        'not_found',
        `The Space has stored no answer with the request id ${requestId}. An answer is stored within some seconds after its end.`,
        { param: 'requestId' },
      )
  }

  return (app) => {
    app.put(
      path,
      described('rateAnswer', 'Rate an answer', {
        description:
          'Replaces an earlier rating. The Space must keep conversations; the rating is deleted with the stored answer.',
        params: answerRatingParamsSchema,
        body: answerRatingSchema,
        response: { 204: emptySchema, ...errorResponses(400, 401, 404, 409) },
      }),
      ({ params, organisation, body }) =>
        rate(findPublishedSpace(getPublishedSpace, params.endpointId, organisation), params.requestId, body),
    )
    app.delete(
      path,
      described('removeAnswerRating', 'Remove the rating of an answer', {
        params: answerRatingParamsSchema,
        response: { 204: emptySchema, ...errorResponses(401, 404, 409) },
      }),
      ({ params, organisation }) =>
        rate(findPublishedSpace(getPublishedSpace, params.endpointId, organisation), params.requestId, null),
    )
  }
}
