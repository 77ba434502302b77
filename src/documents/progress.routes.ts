import type { z } from 'zod'
import { errorResponses } from '../contract/errors.ts'
import { eventStream } from '../contract/event-stream.ts'
import {
  chunkPageSchema,
  chunkQuerySchema,
  documentEventSchema,
  documentProgressPageSchema,
  documentProgressQuerySchema,
  type ChunkPageBody,
} from '../contract/document-progress.ts'
import { idParamsSchema } from '../contract/operator.ts'
import { type App, describeRoutes, type Routes, startEventStream } from '../http/index.ts'
import { AppError, describeError, isAppError, isUuid, type Log } from '../kernel/index.ts'
import type { DocumentProgressPage, DocumentStatus } from './document.ts'
import type { DocumentEvent, DocumentWatch } from './document-watch.ts'
import { renderProgress } from './render-progress.ts'

export interface ProgressRoutesDependencies {
  documents: {
    loadProgressPage(
      organisationId: string,
      spaceId: string,
      filter: { status: DocumentStatus | undefined; limit: number; offset: number },
    ): Promise<DocumentProgressPage>
  }
  watch: DocumentWatch
  chunks: {
    /** The organisation of a document; undefined if there is no such document. */
    findOrganisation(documentId: string): Promise<string | undefined>
    /** Undefined if there is no such document. */
    loadChunks(
      documentId: string,
      page: { limit: number; offset: number },
    ): Promise<Pick<ChunkPageBody, 'total' | 'items'> | undefined>
  }
  /** Undefined if there is no such Space. */
  findSpace: (id: string) => { id: string; organisationId: string } | undefined
  log: Log
}

const described = describeRoutes({ role: 'operator' }, 'Operator: Documents')
const params = idParamsSchema

/** Members of the organisation that owns the resource in the path. */
function membersOf(find: (id: string) => Promise<string | undefined> | string | undefined, missing: () => AppError) {
  const organisation = ({ params }: { params: unknown }) => find((params as { id: string }).id)
  return { role: 'member', organisation, missing } as const
}

/** `/api/spaces/{id}/documents`, its event stream, and `/api/documents/{id}/chunks`. */
export function documentProgressRoutes(dependencies: ProgressRoutesDependencies): Routes {
  return (app) => {
    addProgress(app, dependencies)
    addEvents(app, dependencies)
    addChunks(app, dependencies)
  }
}

function addProgress(app: App, { documents, findSpace }: ProgressRoutesDependencies) {
  app.get(
    '/api/spaces/:id/documents',
    described(
      'listSpaceDocuments',
      'List the documents of a Space with their progress',
      {
        description: 'Newest first: stage, parts done, warnings, and the error of a failed document.',
        params,
        querystring: documentProgressQuerySchema,
        response: { 200: documentProgressPageSchema, ...errorResponses(400, 401, 403, 404) },
      },
      membersOf((id) => findSpace(id)?.organisationId, noSpace),
    ),
    ({ params: { id }, query }) => loadPage(id, query),
  )

  async function loadPage(spaceId: string, query: z.output<typeof documentProgressQuerySchema>) {
    const space = findSpace(spaceId)
    if (!space) throw noSpace()
    const { status, limit, offset } = query
    const page = await documents.loadProgressPage(space.organisationId, space.id, { status, limit, offset })
    return { total: page.total, limit, offset, counts: page.counts, items: page.items.map(renderProgress) }
  }
}

function addEvents(app: App, { watch, findSpace, log }: ProgressRoutesDependencies) {
  app.get(
    '/api/spaces/:id/documents/events',
    described(
      'followSpaceDocuments',
      'Follow the documents of a Space',
      {
        description:
          'Server-sent events. First `snapshot` ({counts, items}: the newest 100), which is repeated if changes may have been missed. Then `document` (new or changed), `removed` ({id}) and `counts`. A comment line after every 15 s without an event.',
        params,
        response: { 200: eventStream(documentEventSchema), ...errorResponses(401, 403, 404, 503) },
      },
      membersOf((id) => findSpace(id)?.organisationId, noSpace),
    ),
    async (request, reply) => {
      const space = findSpace(request.params.id)
      if (!space) throw noSpace()
      const events = watch.watch({ organisationId: space.organisationId, spaceId: space.id }, request.clientSignal)
      // An error before the first event is sent with its status.
      const first = await events.next()
      const stream = startEventStream(reply, request.clientSignal)
      try {
        if (!first.done) await stream.write(writeEvent(first.value))
        for await (const event of events) await stream.write(writeEvent(event))
      } catch (error) {
        if (!isAppError(error, 'client_closed'))
          log.warn({ error: describeError(error) }, 'an event stream ended early')
      } finally {
        await events.return(undefined)
        stream.end()
      }
    },
  )
}

function addChunks(app: App, { chunks }: ProgressRoutesDependencies) {
  app.get(
    '/api/documents/:id/chunks',
    described(
      'listChunks',
      'Read the chunks of a document',
      {
        description: 'The extracted text in order, as it is searched and cited. Empty until the document is ready.',
        params,
        querystring: chunkQuerySchema,
        response: { 200: chunkPageSchema, ...errorResponses(400, 401, 403, 404) },
      },
      membersOf((id) => (isUuid(id) ? chunks.findOrganisation(id) : undefined), noDocument),
    ),
    ({ params: { id }, query }) => loadPage(id, query),
  )

  async function loadPage(id: string, { limit, offset }: z.output<typeof chunkQuerySchema>) {
    const page = isUuid(id) ? await chunks.loadChunks(id, { limit, offset }) : undefined
    if (!page) throw noDocument()
    return { ...page, limit, offset }
  }
}

function writeEvent(event: DocumentEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(renderEvent(event))}\n\n`
}

function renderEvent(event: DocumentEvent): unknown {
  switch (event.type) {
    case 'snapshot':
      return { counts: event.counts, items: event.items.map(renderProgress) }
    case 'document':
      return renderProgress(event.document)
    case 'removed':
      return { id: event.id }
    case 'counts':
      return event.counts
  }
}

function noSpace(): AppError {
  return new AppError('space_not_found', 'There is no Space with this id.', { param: 'id' })
}

function noDocument(): AppError {
  return new AppError('document_not_found', 'There is no document with this id.', { param: 'id' })
}
