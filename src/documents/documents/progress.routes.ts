import type { z } from 'zod'
import { supportedFileTypes } from '../../contract/documents.ts'
import { errorResponses } from '../../contract/errors.ts'
import { eventStream } from '../../contract/event-stream.ts'
import {
  chunkPageSchema,
  chunkQuerySchema,
  documentEventSchema,
  documentProgressPageSchema,
  documentProgressQuerySchema,
  type ChunkPageBody,
  type DocumentProgressPageBody,
} from '../../contract/document-progress.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { type App, describeRoutes, followAccess, type Routes, startEventStream } from '../../platform/http/index.ts'
import { anySignal, type Clock, describeError, isAppError, isUuid, type Log } from '../../platform/kernel/index.ts'
import { decodePosition, type DocumentLists, encodePosition } from './document-list.ts'
import { loadOnce, membersBy, membersOf, noDocument, noSpace } from './document-members.ts'
import type { DocumentOperations } from './document-operations.ts'
import type { DocumentEvent, DocumentWatch } from './document-watch.ts'
import { renderOperation, renderProgress } from './render-progress.ts'

export interface ProgressRoutesDependencies {
  documents: Pick<DocumentLists, 'loadList'> & Pick<DocumentOperations, 'loadOperations'>
  maximumUploadBytes: number
  watch: DocumentWatch
  chunks: {
    /** The organisation of a document; undefined if there is no such document. */
    findOrganisation(documentId: string): Promise<string | undefined>
    /** Undefined if there is no such document. */
    loadChunks(
      document: { organisationId: string; documentId: string },
      page: { limit: number; offset: number },
    ): Promise<Pick<ChunkPageBody, 'total' | 'items'> | undefined>
  }
  /** Undefined if there is no such Space. */
  findSpace: (id: string) => { id: string; organisationId: string; settings: { ocr: 'auto' | 'off' } } | undefined
  isTextRecognitionInstalled: () => boolean
  clock: Pick<Clock, 'every'>
  log: Log
}

const tag = 'Operator: Documents'
const params = idParamsSchema

/** `/api/spaces/{id}/documents`, its event stream, and `/api/documents/{id}/chunks`. */
export function documentProgressRoutes(dependencies: ProgressRoutesDependencies): Routes {
  const { findSpace } = dependencies
  const forMembers = describeRoutes(
    membersOf((id) => findSpace(id)?.organisationId, noSpace),
    tag,
  )
  return (app) => {
    addProgress(app, dependencies, forMembers)
    addEvents(app, dependencies, forMembers)
    addChunks(app, dependencies)
  }
}

type Described = ReturnType<typeof describeRoutes>

function addProgress(
  app: App,
  { documents, findSpace, maximumUploadBytes, isTextRecognitionInstalled }: ProgressRoutesDependencies,
  forMembers: Described,
) {
  app.get(
    '/api/spaces/:id/documents',
    forMembers('listSpaceDocuments', 'List the documents of a Space with their progress', {
      description:
        'With stage, parts done, warnings, and the error of a failed document. Any place of a list can be read.',
      params,
      querystring: documentProgressQuerySchema,
      response: { 200: documentProgressPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    ({ params: { id }, query }) => loadPage(id, query),
  )

  async function loadPage(
    spaceId: string,
    query: z.output<typeof documentProgressQuerySchema>,
  ): Promise<DocumentProgressPageBody> {
    const space = findSpace(spaceId)
    if (!space) throw noSpace()
    const { limit, offset, sort, after, ...filter } = query
    const position = after === undefined ? undefined : decodePosition(sort, after)
    const listed = { filter, sort, after: position, offset, limit }
    const [page, operations] = await Promise.all([
      documents.loadList(space.organisationId, space.id, listed),
      documents.loadOperations(space.organisationId, space.id),
    ])
    const { counts, failures, formats } = page.contents
    return {
      total: page.total,
      limit,
      offset,
      next: page.last ? encodePosition(sort, page.last) : null,
      counts,
      failures,
      formats,
      operations: operations.map(renderOperation),
      uploads: {
        maximumBytes: maximumUploadBytes,
        ...supportedFileTypes[2],
        recognisesText: space.settings.ocr === 'auto' && isTextRecognitionInstalled(),
      },
      items: page.items.map(renderProgress),
    }
  }
}

function addEvents(app: App, { watch, findSpace, clock, log }: ProgressRoutesDependencies, forMembers: Described) {
  app.get(
    '/api/spaces/:id/documents/events',
    forMembers('followSpaceDocuments', 'Follow the documents of a Space', {
      description:
        'Server-sent events. First `snapshot` ({counts, items}: the newest 100), which is repeated if changes may have been missed. Then `document` (new or changed), `removed` ({id}), `counts` and `operations` ({items}). A comment line after every 15 s without an event.',
      params,
      response: { 200: eventStream(documentEventSchema), ...errorResponses(401, 403, 404, 503) },
    }),
    async (request, reply) => {
      const space = findSpace(request.params.id)
      if (!space) throw noSpace()
      const access = followAccess(request, clock)
      const signal = anySignal(request.clientSignal, access.ended)
      const events = watch.watch({ organisationId: space.organisationId, spaceId: space.id }, signal)
      // An error before the first event is sent with its status.
      const first = await events.next().catch((error: unknown) => {
        access.stop()
        throw error
      })
      const stream = startEventStream(reply, request.clientSignal)
      try {
        if (!first.done) await stream.write(writeEvent(first.value))
        for await (const event of events) await stream.write(writeEvent(event))
      } catch (error) {
        if (!isAppError(error, 'client_closed'))
          log.warn({ error: describeError(error) }, 'an event stream ended early')
      } finally {
        access.stop()
        await events.return(undefined)
        stream.end()
      }
    },
  )
}

function addChunks(app: App, { chunks }: ProgressRoutesDependencies) {
  const findOrganisation = loadOnce(async (id) => (isUuid(id) ? chunks.findOrganisation(id) : undefined))
  app.get(
    '/api/documents/:id/chunks',
    describeRoutes(membersBy(findOrganisation, noDocument), tag)('listChunks', 'Read the chunks of a document', {
      description: 'The extracted text in order, as it is searched and cited. Empty until the document is ready.',
      params,
      querystring: chunkQuerySchema,
      response: { 200: chunkPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => findOrganisation(request).then((found) => loadPage(found, request.params.id, request.query)),
  )

  async function loadPage(
    organisationId: string | undefined,
    documentId: string,
    { limit, offset }: z.output<typeof chunkQuerySchema>,
  ) {
    const page = organisationId && (await chunks.loadChunks({ organisationId, documentId }, { limit, offset }))
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
    case 'operations':
      return { items: event.operations.map(renderOperation) }
  }
}
