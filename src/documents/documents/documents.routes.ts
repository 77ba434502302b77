import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  type DocumentsVersion,
  documentPageSchema,
  documentParamsSchema,
  documentSchema,
  documentSummarySchema,
  documentV2Schema,
  healthSchema,
  listQuerySchema,
  supportedFileTypes,
  supportedFileTypesSchema,
  updateDocumentSchema,
  uploadBodySchema,
  uploadQuerySchema,
  uploadV2BodySchema,
  uploadV2QuerySchema,
} from '../../contract/documents.ts'
import { filteredDocumentPageSchema, filteredListQuerySchema } from '../../contract/document-list-query.ts'
import { readValue } from '../../contract/validation.ts'
import { newWebSourceSchema, webSourceSchema } from '../../contract/web-sources.ts'
import { errorResponses } from '../../contract/errors.ts'
import { type App, describeRoutes, headerList, type Routes } from '../../platform/http/index.ts'
import type { QueuePlace } from '../../platform/jobs/index.ts'
import { AppError, type Clock, type SpaceId } from '../../platform/kernel/index.ts'
import {
  acceptBodyTexts,
  acceptUpload,
  acceptUploads,
  applyUpdate,
  renderSummary,
  sendJsonText,
} from './document-requests.routes.ts'
import type { Document } from './document.ts'
import { encodePosition } from './document-list.ts'
import { memberTexts } from './document-metadata.ts'
import type { Documents } from './documents.ts'
import { readListQuery } from './list-query.ts'
import { renderPlace } from './queue-places.ts'
import { renderWebSource } from './web-sources/web-source.ts'
import type { WebSources } from './web-sources/web-sources.ts'

const versions: readonly DocumentsVersion[] = [1, 2]

export interface DocumentRoutesDependencies {
  documents: Documents
  webSources: Pick<WebSources, 'add'>
  clock: Clock
}

/** The health check, `/v1/documents` and `/v2/documents`. */
export function documentRoutes({ documents, webSources, clock }: DocumentRoutesDependencies): Routes {
  return (app) => {
    app.get(
      '/',
      {
        ...describeRoutes('organisation', 'Health')('getHealth', 'Health check', {
          response: { 200: healthSchema, ...errorResponses(401) },
        }),
        // A person who types the address has no key. API clients accept JSON or anything.
        errorHandler(error, request, reply) {
          if (!request.headers.accept?.includes('text/html')) throw error
          return reply.redirect('/console')
        },
      },
      () => ({ status: 'ok' as const, timestamp: new Date(clock.now()).toISOString() }),
    )
    for (const version of versions) {
      const routes = describeVersion(version)
      addLists(app, documents, routes)
      addUpload(app, { documents, webSources }, routes)
      addSingleDocument(app, documents, routes)
    }
  }
}

/** What the routes of a version differ in. The versions accept different types, and each of them serves the documents of both. */
function describeVersion(version: DocumentsVersion) {
  const isFirst = version === 1
  const described = describeRoutes('organisation', isFirst ? 'Documents' : 'Documents, version 2')
  return {
    version,
    path: `/v${version}/documents` as const,
    documentSchema: isFirst ? documentSchema : documentV2Schema,
    uploadQuery: isFirst ? uploadQuerySchema : uploadV2QuerySchema,
    described: <Schema extends object>(name: string, summary: string, schema: Schema) =>
      described(isFirst ? name : `${name}V2`, summary, schema),
  }
}

type VersionRoutes = ReturnType<typeof describeVersion>

function addLists(app: App, documents: Documents, { version, path, described }: VersionRoutes) {
  app.get(
    `${path}/supported-file-types`,
    described('listSupportedFileTypes', 'Supported file types', {
      response: { 200: supportedFileTypesSchema, ...errorResponses(401) },
    }),
    () => supportedFileTypes[version],
  )
  if (version === 1) addList(app, documents, path, described)
  else addFilteredList(app, documents, path, described)
}

type Described = VersionRoutes['described']

function addList(app: App, documents: Documents, path: string, described: Described) {
  const write = writerOf(1)
  app.get(
    path,
    described('listDocuments', 'List the documents of a Space', {
      description: 'Newest first.',
      querystring: listQuerySchema,
      response: { 200: documentPageSchema, ...errorResponses(400, 401, 404) },
    }),
    async (request, reply) => {
      const { spaceId, limit, offset } = request.query
      const page = await documents.list(request.organisation, spaceId as SpaceId, { limit, offset })
      const counts = JSON.stringify({ total: page.total, limit, offset }).slice(0, -1)
      return sendJsonText(reply, `${counts},"items":[${page.items.map((item) => write(item)).join(',')}]}`)
    },
  )
}

function addFilteredList(app: App, documents: Documents, path: string, described: Described) {
  const write = writerOf(2)
  app.get(
    path,
    described('listDocuments', 'List the documents of a Space', {
      description:
        'With filters; all must match. `metadata.FIELD=VALUE` restricts by a field of the metadata, repeated for one of several values; `metadata.FIELD.gte=VALUE` (`gt`, `gte`, `lt`, `lte`) by a range. `2024` means the number and the string. Unknown parameters are ignored and named in the header `x-ignored-params`.',
      querystring: filteredListQuerySchema,
      response: { 200: filteredDocumentPageSchema, ...errorResponses(400, 401, 404) },
    }),
    async (request, reply) => {
      const { list, ignored } = readListQuery(request.query)
      const { limit, offset, sort } = list
      const page = await documents.listMatching(request.organisation, request.query.spaceId as SpaceId, list)
      if (ignored.length > 0) reply.header('x-ignored-params', headerList(ignored))
      const next = page.last ? encodePosition(sort, page.last) : null
      const queue = await documents.loadQueue(request.organisation, page.items)
      const counts = JSON.stringify({ total: page.total, limit, offset, next }).slice(0, -1)
      const items = page.items.map((item) => write(item, queue.get(item.id)))
      return sendJsonText(reply, `${counts},"items":[${items.join(',')}]}`)
    },
  )
}

const webDescription =
  ' A JSON body (`application/json`) with `url` or `sitemap` adds documents from web addresses, which are read in the background.'

function addUpload(
  app: App,
  { documents, webSources }: Pick<DocumentRoutesDependencies, 'documents' | 'webSources'>,
  routes: VersionRoutes,
) {
  const { version, path, described, uploadQuery } = routes
  const isFirst = version === 1
  void app.register(async (scope: unknown) => {
    const uploads = scope as App
    acceptUploads(uploads)
    if (!isFirst) acceptBodyTexts(uploads)
    uploads.post(
      path,
      described('uploadDocument', 'Upload a document', {
        config: { limited: 'upload' },
        description:
          'multipart/form-data with `file`, and optionally `name` and `metadata` (a JSON object). Processing continues in the background. `Idempotency-Key` makes a repeated upload safe for a day. `x-duplicate-of` names an older document with the same content.' +
          (isFirst ? '' : webDescription),
        consumes: isFirst ? ['multipart/form-data'] : ['multipart/form-data', 'application/json'],
        querystring: uploadQuery,
        body: isFirst ? uploadBodySchema : uploadV2BodySchema,
        response: {
          200: documentSummarySchema.describe('With `onDuplicate=skip`: the existing document.'),
          201: documentSummarySchema,
          ...(!isFirst && { 202: webSourceSchema.describe('With a JSON body.') }),
          ...errorResponses(400, 401, 404, 409, 413, 415, 503),
        },
      }),
      async (request, reply) => {
        if (!isFirst && request.bodyText !== undefined) {
          reply.code(202)
          return renderWebSource(await addWebSource(webSources, request, request.query.spaceId as SpaceId)) as never
        }
        return renderSummary(await acceptUpload(documents, request, reply, { version, ...request.query }))
      },
    )
  })
}

function addWebSource(webSources: Pick<WebSources, 'add'>, request: FastifyRequest, spaceId: SpaceId) {
  const text = request.bodyText ?? ''
  const read = readValue(newWebSourceSchema, JSON.parse(text), 'the request body')
  if ('problem' in read) {
    throw new AppError(
      'invalid_request',
      read.problem.message,
      read.problem.param === '' ? {} : { param: read.problem.param },
    )
  }
  return webSources.add(request.organisation, spaceId, read.value, memberTexts(text).get('metadata'))
}

function addSingleDocument(parent: App, documents: Documents, routes: VersionRoutes) {
  void parent.register(async (scope: unknown) => addSingleDocumentRoutes(scope as App, documents, routes))
}

function addSingleDocumentRoutes(app: App, documents: Documents, routes: VersionRoutes) {
  const { version, path, described } = routes
  const params = documentParamsSchema
  const write = writerOf(version)
  acceptBodyTexts(app)
  app.get(
    `${path}/:id`,
    described('getDocument', 'Get a document', {
      params,
      response: { 200: routes.documentSchema, ...errorResponses(401, 404) },
    }),
    async (request, reply) => {
      const document = await documents.get(request.organisation, request.params.id)
      const queue = version === 1 ? undefined : await documents.loadQueue(request.organisation, [document])
      return sendJsonText(reply, write(document, queue?.get(document.id)))
    },
  )
  app.patch(
    `${path}/:id`,
    described('updateDocument', 'Rename a document or change its metadata', {
      params,
      body: updateDocumentSchema,
      response: { 200: documentSummarySchema, ...errorResponses(400, 401, 404) },
    }),
    (request) => applyUpdate(documents, request, request.params.id, request.body).then(renderSummary),
  )
  app.delete(
    `${path}/:id`,
    described('deleteDocument', 'Delete a document', {
      description: 'Stops its processing and removes the file, chunks and vectors.',
      params,
      response: { 204: z.null().describe('No body.'), ...errorResponses(401, 404) },
    }),
    (request) => documents.remove(request.organisation, request.params.id),
  )
}

/** A document as JSON text, because its metadata is JSON text that must not be parsed and written again. */
function writerOf(version: DocumentsVersion) {
  return (document: Document, place?: QueuePlace): string => {
    const { error, sizeBytes, mimeType, createdAt, updatedAt } = document
    const warnings = document.warnings.length > 0 ? document.warnings : undefined
    const contentSha256 = version === 1 ? undefined : document.contentSha256
    const queue = place && renderPlace(place)
    const summary = JSON.stringify(renderSummary(document)).slice(0, -1)
    const facts = {
      error: error ?? undefined,
      warnings,
      sizeBytes,
      mimeType,
      createdAt,
      updatedAt,
      contentSha256,
      queue,
    }
    return `${summary},"metadata":${document.metadataJson ?? 'null'},${JSON.stringify(facts).slice(1)}`
  }
}
