import { errorResponses } from '../../contract/errors.ts'
import type { MetadataFilter } from '../../contract/metadata-filter.ts'
import { jsonOrEvents } from '../../contract/event-stream.ts'
import { emptySchema } from '../../contract/operator.ts'
import {
  siteParamsSchema,
  visitAnswerSchema,
  visitChatSchema,
  visitEventSchema,
  visitLimits,
  visitRatingSchema,
  type VisitReference,
} from '../../contract/site-visits.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError, invalidField } from '../../platform/kernel/index.ts'
import { chatBody, type DocumentReference, type ReadChat, sendAnswer, type SendDependencies } from '../chat/index.ts'
import type { Conversations } from '../conversations/index.ts'
import { describeSpendingError, type SiteSpending } from './site-spending.ts'
import type { OpenVisitAccess } from './visit-access.routes.ts'
import type { VisitLimits } from './visit-limits.ts'
import type { VisitSession, VisitSessions } from './visit-sessions.ts'
import type { Site } from './site.ts'
import type { Sites } from './sites.ts'

export interface VisitChatDependencies extends SendDependencies {
  access: OpenVisitAccess
  sites: Pick<Sites, 'isCurrent'>
  sessions: Pick<VisitSessions, 'ticket'>
  limits: VisitLimits
  spending: Pick<SiteSpending, 'begin'>
  conversations: Pick<Conversations, 'rate'>
}

const params = siteParamsSchema

/** The chat of visitors, and what they think of its answers. */
export function visitChatRoutes(dependencies: VisitChatDependencies): Routes {
  const { access, sites, sessions, limits, spending, conversations } = dependencies
  const described = describeRoutes(access.auth, 'Visitors')
  return (app) => {
    app.post(
      '/s/:name/chat',
      {
        ...described('chatAsVisitor', 'Ask a question as a visitor', {
          config: { limited: 'call', body: chatBody },
          description:
            'As the chat of a published Space, with inline sources, passage references and finish reasons. Answers count towards the daily cap of the chat page.',
          params,
          body: visitChatSchema,
          response: {
            200: jsonOrEvents(visitAnswerSchema, visitEventSchema),
            ...errorResponses(400, 401, 402, 403, 404, 413, 429, 502, 503, 504),
          },
        }),
        bodyLimit: visitLimits.bodyBytes,
        // chatBody has validated the body; the schema only documents it in OpenAPI.
        validatorCompiler: () => (value) => ({ value }),
      },
      async (request, reply) => {
        const { site, space, session } = await access.enter(request)
        const body = request.body as unknown as ReadChat
        assertSize(body)
        limits.enterMessage(site, request.ip, session.visitorId)
        const { organisation, requestId, clientSignal } = request
        const allowance = await spending.begin(site, organisation, requestId)
        try {
          return await sendAnswer(
            dependencies,
            { headers: headersOf(site, session), requestId, organisation, clientSignal, body: plainBody(body) },
            reply,
            {
              space,
              spending: allowance,
              isOffered: () => sites.isCurrent(space.id, site.generation),
              isPreview: false,
              isAdministrator: false,
              visitor: {
                describeReference: (reference) => describeReference(sessions, site, session, reference),
                describeError: (error) => describeSpendingError(error, allowance),
              },
            },
          )
        } finally {
          allowance.end()
        }
      },
    )
    app.post(
      '/s/:name/ratings',
      {
        ...described('rateAsVisitor', 'Rate an answer as a visitor', {
          description: 'Replaces an earlier rating. Only stored answers of the same visitor can be rated.',
          params,
          body: visitRatingSchema,
          response: { 204: emptySchema, ...errorResponses(400, 401, 403, 404, 429) },
        }),
        bodyLimit: visitLimits.sessionBytes,
      },
      async (request, reply) => {
        const { site, space, session } = await access.enter(request)
        limits.enterRead(site, request.ip)
        const { requestId, ...rating } = request.body
        const isRated =
          space.settings.keepConversations && (await conversations.rate(space.id, requestId, rating, userOf(session)))
        if (!isRated)
          throw new AppError('not_found', 'This answer is not stored, so it cannot be rated.', { param: 'requestId' })
        return reply.code(204).send(null)
      },
    )
  }
}

/** Visitors choose no filter of documents: that of the site is used. */
const plainBody = ({ messages, streaming, ignored }: ReadChat) => ({ messages, streaming, ignored })

/** The visitor in stored conversations. */
const userOf = ({ visitorId }: VisitSession) => `web:${visitorId}`

/** What a client of the published chat would send. The headers of the visitor's browser do not count. */
function headersOf({ settings }: Site, session: VisitSession) {
  return {
    'service-enable-inline-sources': 'true',
    'service-enable-passage-references': 'true',
    'service-enable-finish-reason': 'true',
    ...(settings.filter && { 'service-document-filter': toHeader(settings.filter) }),
    ...(settings.agentic && { 'service-enable-agentic-workflow': 'true' }),
    'service-user': userOf(session),
  }
}

/** Bytes of UTF-8 as Node.js reads them from a header. */
const toHeader = (filter: MetadataFilter) => Buffer.from(JSON.stringify(filter)).toString('latin1')

function assertSize({ messages }: ReadChat): void {
  if (messages.length > visitLimits.messages)
    throw invalidField('messages', `\`messages\` must have at most ${visitLimits.messages} entries.`)
  const { content } = messages.at(-1)!
  // Long texts of a large body are kept as bytes.
  const characters = typeof content === 'string' ? content.length : content.maximumCharacters
  if (characters <= visitLimits.question) return
  const param = `messages.${messages.length - 1}.content`
  throw invalidField(param, `\`${param}\` must have at most ${visitLimits.question} characters.`)
}

function describeReference(
  sessions: Pick<VisitSessions, 'ticket'>,
  { settings }: Site,
  session: VisitSession,
  { passages, documentId, ...reference }: DocumentReference,
): VisitReference {
  if (settings.citations === 'title') return reference
  const quoted = { ...reference, ...(passages && { passages }) }
  // A document that was removed meanwhile has no passages.
  if (settings.citations === 'quote' || passages?.length === 0) return quoted
  return { ...quoted, documentId, ticket: sessions.ticket(session, documentId) }
}
