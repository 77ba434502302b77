import { z } from 'zod'

/** The error body of every endpoint: the standard format of the compatible API, so that its SDKs raise their typed errors. */
export const errorBodySchema = z
  .object({
    error: z.object({
      message: z.string().describe('What is wrong and what to do.'),
      type: z.string().describe('Class of the error, for instance `invalid_request_error`.'),
      param: z.string().nullable().describe('The request field with the error.'),
      code: z.string().nullable().describe('Machine-readable code, for instance `model_not_found`.'),
    }),
  })
  .meta({ id: 'Error' })

export type ErrorBody = z.infer<typeof errorBodySchema>

/** The statuses of `codes` with the error body, for a route's `response` schema. */
export function errorResponses<Status extends number>(...codes: Status[]): Record<Status, typeof errorBodySchema> {
  return Object.fromEntries(codes.map((status) => [status, errorBodySchema])) as Record<Status, typeof errorBodySchema>
}
