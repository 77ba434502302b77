import { z } from 'zod'
import {
  documentPageSchema,
  documentParamsSchema,
  documentSchema,
  documentSummarySchema,
  healthSchema,
  listQuerySchema,
  supportedExtensions,
  supportedFileTypesSchema,
  supportedMimeTypes,
  updateDocumentSchema,
  uploadBodySchema,
  uploadQuerySchema,
} from '../../contract/documents.ts'
import { errorResponses } from '../../contract/errors.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import type { Clock, SpaceId } from '../../platform/kernel/index.ts'
import {
  acceptBodyTexts,
  acceptUpload,
  acceptUploads,
  applyUpdate,
  renderSummary,
  sendJsonText,
} from './document-requests.routes.ts'
import type { Document } from './document.ts'
import type { Documents } from './documents.ts'

const tags = ['Documents']
const config = { auth: 'organisation' } as const
const described = describeRoutes('organisation', 'Documents')

/** The health check and `/v1/documents`. */
export function documentRoutes({ documents, clock }: { documents: Documents; clock: Clock }): Routes {
  return (app) => {
    app.get(
      '/',
      {
        config,
        schema: {
          tags: ['Health'],
          summary: 'Health check',
          operationId: 'getHealth',
          response: { 200: healthSchema, ...errorResponses(401) },
        },
      },
      () => ({ status: 'ok' as const, timestamp: new Date(clock.now()).toISOString() }),
    )
    app.get(
      '/v1/documents/supported-file-types',
      described('listSupportedFileTypes', 'Supported file types', {
        response: { 200: supportedFileTypesSchema, ...errorResponses(401) },
      }),
      () => ({ supportedMimeTypes: [...supportedMimeTypes], supportedExtensions: [...supportedExtensions] }),
    )
    app.get(
      '/v1/documents',
      described('listDocuments', 'List the documents of a Space', {
        description: 'Newest first.',
        querystring: listQuerySchema,
        response: { 200: documentPageSchema, ...errorResponses(400, 401, 404) },
      }),
      async (request, reply) => {
        const { spaceId, limit, offset } = request.query
        const page = await documents.list(request.organisation, spaceId as SpaceId, { limit, offset })
        const counts = JSON.stringify({ total: page.total, limit, offset }).slice(0, -1)
        return sendJsonText(reply, `${counts},"items":[${page.items.map(writeDocument).join(',')}]}`)
      },
    )
    addUpload(app, documents)
    addSingleDocument(app, documents)
  }
}

function addUpload(app: App, documents: Documents) {
  void app.register(async (scope: unknown) => {
    const uploads = scope as App
    acceptUploads(uploads)
    uploads.post(
      '/v1/documents',
      {
        config: { ...config, limited: 'upload' },
        schema: {
          tags,
          summary: 'Upload a document',
          operationId: 'uploadDocument',
          description:
            'multipart/form-data with `file`, and optionally `name` and `metadata` (a JSON object). Processing continues in the background. `Idempotency-Key` makes a repeated upload safe for a day. `x-duplicate-of` names an older document with the same content.',
          consumes: ['multipart/form-data'],
          querystring: uploadQuerySchema,
          body: uploadBodySchema,
          response: {
            200: documentSummarySchema.describe('With `onDuplicate=skip`: the existing document.'),
            201: documentSummarySchema,
            ...errorResponses(400, 401, 404, 409, 413, 415, 503),
          },
        },
      },
      async (request, reply) => {
        return renderSummary(await acceptUpload(documents, request, reply, request.query))
      },
    )
  })
}

function addSingleDocument(parent: App, documents: Documents) {
  void parent.register(async (scope: unknown) => addSingleDocumentRoutes(scope as App, documents))
}

function addSingleDocumentRoutes(app: App, documents: Documents) {
  const params = documentParamsSchema
  acceptBodyTexts(app)
  app.get(
    '/v1/documents/:id',
    described('getDocument', 'Get a document', {
      params,
      response: { 200: documentSchema, ...errorResponses(401, 404) },
    }),
    async (request, reply) =>
      sendJsonText(reply, writeDocument(await documents.get(request.organisation, request.params.id))),
  )
  app.patch(
    '/v1/documents/:id',
    described('updateDocument', 'Rename a document or change its metadata', {
      params,
      body: updateDocumentSchema,
      response: { 200: documentSummarySchema, ...errorResponses(400, 401, 404) },
    }),
    (request) => applyUpdate(documents, request, request.params.id, request.body).then(renderSummary),
  )
  app.delete(
    '/v1/documents/:id',
    described('deleteDocument', 'Delete a document', {
      description: 'Stops its processing and removes the file, chunks and vectors.',
      params,
      response: { 204: z.null().describe('No body.'), ...errorResponses(401, 404) },
    }),
    async (request, reply) => {
      await documents.remove(request.organisation, request.params.id)
      return reply.code(204).send(null)
    },
  )
}

/** A document as JSON text, because its metadata is JSON text that must not be parsed and written again. */
function writeDocument(document: Document): string {
  const { error, sizeBytes, mimeType, createdAt, updatedAt } = document
  const warnings = document.warnings.length > 0 ? document.warnings : undefined
  const summary = JSON.stringify(renderSummary(document)).slice(0, -1)
  const rest = JSON.stringify({ error: error ?? undefined, warnings, sizeBytes, mimeType, createdAt, updatedAt }).slice(
    1,
  )
  return `${summary},"metadata":${document.metadataJson ?? 'null'},${rest}`
}
