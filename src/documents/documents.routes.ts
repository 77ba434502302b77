import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  type DocumentSummaryBody,
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
} from '../contract/documents.ts'
import { errorResponses } from '../contract/errors.ts'
import { type App, describeRoutes, type Routes } from '../http/index.ts'
import { type Clock, readJson, type SpaceId } from '../kernel/index.ts'
import { memberText } from './document-metadata.ts'
import type { Document } from './document.ts'
import type { Documents } from './documents.ts'

const tags = ['Documents']
const config = { auth: 'organisation' } as const
const described = describeRoutes('organisation', 'Documents')

/** A PATCH body: metadata of 16 KiB with every character written as an escape, and the name. */
const maximumPatchBytes = 256 * 1024
/** Metadata of 16 KiB has at most half of this. */
const maximumPatchValues = 20_000

declare module 'fastify' {
  interface FastifyRequest {
    /** The text of the JSON body, on routes of single documents. */
    bodyText: string | undefined
  }
}

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
        return sendJson(reply, `${counts},"items":[${page.items.map(writeDocument).join(',')}]}`)
      },
    )
    addUpload(app, documents)
    addSingleDocument(app, documents)
  }
}

function addUpload(app: App, documents: Documents) {
  void app.register(async (scope: unknown) => {
    const uploads = scope as App
    // receiveUpload reads the body as a stream, with any content type.
    uploads.removeAllContentTypeParsers()
    uploads.addContentTypeParser('*', async () => ({}))
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
        const key = request.headers['idempotency-key']
        const upload = {
          spaceId: request.query.spaceId as SpaceId,
          request: request.raw,
          uploadKey: Array.isArray(key) ? key[0] : key,
          onDuplicate: request.query.onDuplicate,
          signal: request.clientSignal,
        }
        const result = await documents.upload(request.organisation, upload)
        if (result.duplicateOf !== undefined) reply.header('x-duplicate-of', result.duplicateOf)
        if (result.repeated) reply.header('idempotent-replayed', 'true')
        reply.code(result.skipped ? 200 : 201)
        return { id: result.id, spaceId: result.spaceId, name: result.name, status: result.status }
      },
    )
  })
}

function addSingleDocument(parent: App, documents: Documents) {
  void parent.register(async (scope: unknown) => addSingleDocumentRoutes(scope as App, documents))
}

function addSingleDocumentRoutes(app: App, documents: Documents) {
  const params = documentParamsSchema
  app.decorateRequest('bodyText', undefined)
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: maximumPatchBytes },
    async (request: FastifyRequest, text: string) => {
      // Some clients send a content-type without a body, for example with DELETE.
      if (text.trim() === '') return undefined
      request.bodyText = text
      return readJson(Buffer.from(text), { shape: {}, maximumValues: maximumPatchValues, read: (value) => value })
    },
  )
  app.get(
    '/v1/documents/:id',
    described('getDocument', 'Get a document', {
      params,
      response: { 200: documentSchema, ...errorResponses(401, 404) },
    }),
    async (request, reply) =>
      sendJson(reply, writeDocument(await documents.get(request.organisation, request.params.id))),
  )
  app.patch(
    '/v1/documents/:id',
    described('updateDocument', 'Rename a document or change its metadata', {
      params,
      body: updateDocumentSchema,
      response: { 200: documentSummarySchema, ...errorResponses(400, 401, 404) },
    }),
    (request) => {
      const { name, metadata } = request.body
      const metadataText = metadata && memberText(request.bodyText ?? '', 'metadata')
      return documents.update(request.organisation, request.params.id, { name, metadataText }).then(renderSummary)
    },
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

function renderSummary({ id, spaceId, name, status }: Document): DocumentSummaryBody {
  return { id, spaceId, name, status }
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

function sendJson(reply: FastifyReply, text: string) {
  return reply.type('application/json; charset=utf-8').send(text as never)
}
