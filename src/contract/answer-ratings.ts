import { z } from 'zod'

/** What a visitor thinks of an answer of a published Space. */

const maximumReasonCharacters = 1_000

export const answerRatingParamsSchema = z.object({
  endpointId: z.string(),
  requestId: z.string().max(100).describe('The header `x-request-id` of the answer.'),
})

export const answerRatingSchema = z
  .strictObject({
    rating: z.enum(['up', 'down']),
    reason: z
      .string()
      .max(maximumReasonCharacters)
      .nullable()
      .default(null)
      .describe('In the words of the visitor; UTF-16 units.'),
  })
  .meta({ id: 'AnswerRating' })

export type AnswerRatingBody = z.output<typeof answerRatingSchema>
