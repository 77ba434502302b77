import { z } from 'zod'

/** The error body of the Messages API. */
const messagesErrorSchema = z
  .object({
    type: z.literal('error'),
    error: z.object({
      type: z.string().describe('Class of the error, for instance `invalid_request_error`.'),
      message: z.string().describe('What is wrong and what to do.'),
    }),
    request_id: z.string(),
  })
  .meta({ id: 'MessagesError' })

export type MessagesErrorBody = z.infer<typeof messagesErrorSchema>
