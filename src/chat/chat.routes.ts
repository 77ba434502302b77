import { z } from 'zod'
import { type ChatAnswer, chatAnswerSchema, chatEventSchema, chatRequestSchema } from '../contract/chat.ts'
import { errorResponses } from '../contract/errors.ts'
import { jsonOrEvents } from '../contract/event-stream.ts'
import { headerList, type Routes, startEventStream } from '../http/index.ts'
import { AppError, formatSseEvent, type Log } from '../kernel/index.ts'
import type { Organisation } from '../organisations/index.ts'
import { type AnswerEvent, answer } from './answer.ts'
import { chatBody, type ReadChat } from './chat-body.ts'
import { type AnswerCall, type AnswerDependencies, prepareAnswer } from './prepare-answer.ts'
import type { Space } from '../spaces/index.ts'
import { toVisitorError } from './visitor-error.ts'

export interface ChatRoutesDependencies extends AnswerDependencies {
  /** The Space that is published under an endpoint id; undefined where there is none at the moment. */
  getPublishedSpace: (endpointId: string) => Space | undefined
  log: Log
}

/** `/v1/endpoints/{endpointId}/chat`: answers of a published Space, as one JSON object or as server-sent events. */
export function chatRoutes(dependencies: ChatRoutesDependencies): Routes {
  return (app) => {
    app.post(
      '/v1/endpoints/:endpointId/chat',
      {
        config: { auth: 'organisation', limited: 'call', body: chatBody },
        // chatBody has validated the body; this schema only documents it in OpenAPI.
        validatorCompiler: () => (value) => ({ value }),
        schema: {
          tags: ['Space chat'],
          summary: 'Chat with a published Space',
          operationId: 'chatWithSpace',
          description:
            'Streamed events in order: `message_source`, `assistant_write` …, `references`, `done`; after `error` the stream ends without `done`. An unknown field, such as `stream` for `streaming`, is ignored and named in the header `x-ignored-params`.',
          params: z.object({ endpointId: z.string() }),
          headers: z.looseObject({
            'service-enable-inline-sources': z
              .string()
              .optional()
              .describe('`true` puts `[n]` markers into the answer.'),
            'service-enable-agentic-workflow': z
              .string()
              .optional()
              .describe('`true` lets the model search several times.'),
          }),
          body: chatRequestSchema,
          response: {
            200: jsonOrEvents(chatAnswerSchema, chatEventSchema),
            ...errorResponses(400, 401, 402, 404, 429, 502, 503, 504),
          },
        },
      },
      async (request, reply) => {
        const body = request.body as unknown as ReadChat
        if (body.ignored.length > 0) reply.header('x-ignored-params', headerList(body.ignored))
        const space = findSpace(dependencies, request.params.endpointId, request.organisation)
        const call: AnswerCall = {
          requestId: request.requestId,
          organisation: request.organisation,
          space,
          messages: body.messages,
          inlineSources: isOn(request.headers['service-enable-inline-sources']),
          agentic: isOn(request.headers['service-enable-agentic-workflow']),
          signal: request.clientSignal,
        }
        const events = answer(dependencies, call, await prepareAnswer(dependencies, call))
        if (body.streaming !== true) return fold(events, `msg_${request.requestId.slice(4)}`)

        const stream = startEventStream(reply, request.clientSignal)
        let lastText = ''
        try {
          for await (const event of events) await stream.write(renderEvent(event))
          await stream.write(formatSseEvent(JSON.stringify({ done: true }), 'done'))
        } catch (thrown) {
          const error = toVisitorError(thrown)
          dependencies.log.warn(
            { requestId: request.requestId, code: error.code, internal: error.internal },
            'a streamed answer failed',
          )
          lastText = formatSseEvent(JSON.stringify({ error: error.message }), 'error')
        } finally {
          stream.end(lastText)
        }
        return reply
      },
    )
  }
}

/** Throws the same 404 for an endpoint that is unknown, not published, or of another organisation. */
function findSpace(
  { getPublishedSpace }: ChatRoutesDependencies,
  endpointId: string,
  organisation: Organisation,
): Space {
  const space = getPublishedSpace(endpointId)
  if (!space || space.organisationId !== organisation.id) {
    throw new AppError(
      'endpoint_not_found',
      'There is no published Space at this endpoint. A team administrator publishes it under Published Spaces.',
      {
        param: 'endpointId',
      },
    )
  }
  return space
}

function renderEvent(event: AnswerEvent): string {
  switch (event.type) {
    case 'message_source':
      return formatSseEvent(
        JSON.stringify({ source: event.source, status: event.status, count: event.count }),
        event.type,
      )
    case 'assistant_write':
      return formatSseEvent(JSON.stringify({ delta: event.delta }), event.type)
    case 'references': {
      // By the contract, only the JSON answer has documentId.
      const references = event.references.map(({ id, title, url }) => ({
        id,
        title,
        ...(url === undefined ? {} : { url }),
      }))
      return formatSseEvent(JSON.stringify({ references }), event.type)
    }
  }
}

async function fold(events: AsyncIterable<AnswerEvent>, id: string): Promise<ChatAnswer> {
  const folded: ChatAnswer = { id, role: 'assistant', content: '', references: [] }
  for await (const event of events) {
    if (event.type === 'assistant_write') folded.content += event.delta
    else if (event.type === 'references') folded.references = event.references
  }
  return folded
}

const isOn = (header: string | string[] | undefined) =>
  typeof header === 'string' && header.trim().toLowerCase() === 'true'
