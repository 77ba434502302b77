import { z } from 'zod'
import {
  chatAnswerSchema,
  chatEventSchema,
  chatPreviewEventSchema,
  chatPreviewSchema,
  chatRequestSchema,
  filteredChatRequestSchema,
} from '../../contract/chat.ts'
import { errorResponses } from '../../contract/errors.ts'
import { jsonOrEvents } from '../../contract/event-stream.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { chatHeader } from '../../contract/own-chats.ts'
import { type App, describeRoutes, isAdministratorOf, type Routes } from '../../platform/http/index.ts'
import { isUuid, invalidField } from '../../platform/kernel/index.ts'
import { findPublishedSpace, routesOfSpace, type Space } from '../spaces/index.ts'
import { chatBody, filteredChatBody } from './chat-body.ts'
import type { KeptAnswer } from './record-answer.ts'
import { sendAnswer, type SendDependencies } from './send-answer.routes.ts'

export interface ChatRoutesDependencies extends SendDependencies {
  /** The Space that is published under an endpoint id; undefined where there is none at the moment. */
  getPublishedSpace: (endpointId: string) => Space | undefined
  getSpace: (id: string) => Space | undefined
  /** Follows answers of people whose conversation is kept. */
  runningAnswers: {
    begin(
      place: { personId: string; spaceId: string; chatId: string },
      clientSignal: AbortSignal,
    ): Omit<KeptAnswer, 'chat'> & { end(): void }
  }
}

/** The chat of a published Space with an API key, and the chat of any Space of an organisation with a session. */
export function chatRoutes(dependencies: ChatRoutesDependencies): Routes {
  return (app) => {
    addPublishedChat(app, dependencies, 1)
    addPublishedChat(app, dependencies, 2)
    addPreview(app, dependencies)
  }
}

const described = describeRoutes('organisation', 'Space chat')

const switchHeader = (description: string) => z.string().optional().describe(description)
const headers = z.looseObject({
  'service-enable-inline-sources': switchHeader('`true` puts `[n]` markers into the answer.'),
  'service-enable-agentic-workflow': switchHeader(
    '`true` lets the model use tools: search, read documents, query tables, calculate. A model without tools answers without them; the response then has the header `x-agentic-workflow: unavailable`.',
  ),
  'service-enable-finish-reason': switchHeader(
    '`true` adds why the text ended: `finishReason` of the JSON answer, and the event `assistant_finish` before `references`.',
  ),
  'service-user': z
    .string()
    .optional()
    .describe(
      'A pseudonym of the visitor, 1 to 128 printable ASCII characters: where the Space keeps conversations, they can be found, exported and erased by it.',
    ),
  'service-document-filter': z
    .string()
    .optional()
    .describe(
      'A MetadataFilter as JSON, at most 8000 characters, such as `{"customer": "acme"}`: only documents with matching metadata exist for the answer.',
    ),
  'service-enable-passage-references': switchHeader(
    '`true` adds to each reference the passages that its markers name, and to streamed references `documentId`.',
  ),
})
const failures = errorResponses(400, 401, 402, 404, 429, 502, 503, 504)

const events =
  'Streamed events in order: `message_source`, `assistant_write` …, `references`, `done`; after `error` the stream ends without `done`. An unknown field, such as `stream` for `streaming`, is ignored and named in the header `x-ignored-params`.'

/** What the versions differ in. */
const publishedChats = {
  1: { operationId: 'chatWithSpace', description: events, schema: chatRequestSchema, body: chatBody },
  2: {
    operationId: 'chatWithSpaceV2',
    description: `As version 1, and the body may have a \`filter\`. The reason why the text ended is always there. ${events}`,
    schema: filteredChatRequestSchema,
    body: filteredChatBody,
  },
}

function addPublishedChat(app: App, dependencies: ChatRoutesDependencies, version: 1 | 2) {
  const { operationId, description, schema, body } = publishedChats[version]
  app.post(
    `/v${version}/endpoints/:endpointId/chat`,
    {
      ...described(operationId, 'Chat with a published Space', {
        config: { limited: 'call', body },
        description,
        params: z.object({ endpointId: z.string() }),
        headers,
        body: schema,
        response: { 200: jsonOrEvents(chatAnswerSchema, chatEventSchema), ...failures },
      }),
      // The reader has validated the body; the schema only documents it in OpenAPI.
      validatorCompiler: () => (value) => ({ value }),
    },
    (request, reply) => {
      const space = findPublishedSpace(dependencies.getPublishedSpace, request.params.endpointId, request.organisation)
      return sendAnswer(dependencies, request, reply, {
        space,
        isOffered: () => dependencies.getPublishedSpace(request.params.endpointId)?.id === space.id,
        isPreview: false,
        isAdministrator: false,
        finishReason: version === 2,
      })
    },
  )
}

const previewHeaders = headers.extend({
  [chatHeader]: z
    .string()
    .optional()
    .describe('The id of the conversation of the person, a UUID that the client chooses for its first question.'),
})

function addPreview(app: App, dependencies: ChatRoutesDependencies) {
  const { getSpace } = dependencies
  const { forActingMembers, spaceOf } = routesOfSpace(getSpace, 'Space chat')
  app.post(
    '/api/spaces/:id/chat',
    {
      ...forActingMembers('previewSpaceChat', 'Try a Space, published or not', {
        config: { limited: 'call', body: chatBody },
        description:
          'The same as the chat of a published Space, for people, with the same headers, limits and costs. In addition `message_source` has the query, the documents and the time of the search, and `error` has a code. Administrators receive the event `cost` before `done`, and the reason of a failure. With `service-conversation`, a Space that keeps conversations stores the answer for this person, also if the client leaves before its end.',
        params: idParamsSchema,
        headers: previewHeaders,
        body: chatRequestSchema,
        response: {
          200: jsonOrEvents(chatPreviewSchema, chatPreviewEventSchema),
          ...failures,
          ...errorResponses(403),
        },
      }),
      validatorCompiler: () => (value) => ({ value }),
    },
    async (request, reply) => {
      const space = spaceOf(request.params.id)
      const isAdministrator = isAdministratorOf(request, space.organisationId)
      const isOffered = () => getSpace(space.id) !== undefined
      const running = beginKept(dependencies, request, space)
      try {
        const place = { space, isOffered, isPreview: true, isAdministrator, kept: running }
        return await sendAnswer(dependencies, request, reply, place)
      } finally {
        running?.end()
      }
    },
  )
}

interface PersonRequest {
  headers: Readonly<Record<string, unknown>>
  person: { id: string } | undefined
  clientSignal: AbortSignal
}

/** Undefined where nothing is kept: without the header, for the operator token, and in a Space that keeps no conversations. Throws `invalid_request`. */
function beginKept({ runningAnswers }: ChatRoutesDependencies, request: PersonRequest, space: Space) {
  const given = request.headers[chatHeader]
  if (given === undefined) return undefined
  if (typeof given !== 'string' || !isUuid(given)) throw invalidField(chatHeader, `${chatHeader} must be a UUID.`)
  const { person } = request
  if (!person || !space.settings.keepConversations) return undefined
  const id = given.toLowerCase()
  const running = runningAnswers.begin({ personId: person.id, spaceId: space.id, chatId: id }, request.clientSignal)
  return { ...running, chat: { id, personId: person.id } }
}
