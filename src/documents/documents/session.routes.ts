import { addOperations, type DocumentSessionRoutesDependencies } from './operations.routes.ts'
import type { FastifyReply } from 'fastify'
import { documentDetailSchema } from '../../contract/document-progress.ts'
import {
  documentParamsSchema,
  documentSummarySchema,
  spaceUploadQuerySchema,
  updateDocumentSchema,
  uploadBodySchema,
} from '../../contract/documents.ts'
import { errorResponses } from '../../contract/errors.ts'
import { emptySchema, idParamsSchema } from '../../contract/operator.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { isUuid } from '../../platform/kernel/index.ts'
import { actingMembersOf, noDocument, noSpace } from './document-members.ts'
import {
  acceptBodyTexts,
  acceptUpload,
  acceptUploads,
  applyUpdate,
  renderSummary,
  sendJsonText,
} from './document-requests.routes.ts'
import type { Document } from './document.ts'
import { renderProgress } from './render-progress.ts'

const tag = 'Operator: Documents'
const params = documentParamsSchema

/**
 * Documents for signed-in people: `/api/documents/{id}`, and uploads and work on many documents below `/api/spaces/{id}/documents`.
 * They use the code of `/v1/documents`, act for the organisation and count in its limits. Each change is in the admin log.
 */
export function documentSessionRoutes(dependencies: DocumentSessionRoutesDependencies): Routes {
  const { findSpace, findOrganisation } = dependencies
  const ofSpace = describeRoutes(
    actingMembersOf((id) => findSpace(id)?.organisationId, noSpace),
    tag,
  )
  const ofDocument = describeRoutes(
    actingMembersOf((id) => (isUuid(id) ? findOrganisation(id) : undefined), noDocument),
    tag,
  )
  return (app) => {
    void app.register(async (scope: unknown) => addUpload(scope as App, dependencies, ofSpace))
    void app.register(async (scope: unknown) => addOperations(scope as App, dependencies, ofSpace))
    void app.register(async (scope: unknown) => {
      acceptBodyTexts(scope as App)
      addReads(scope as App, dependencies, ofDocument)
      addChanges(scope as App, dependencies, ofDocument)
    })
  }
}

type Described = ReturnType<typeof describeRoutes>

function addUpload(
  app: App,
  { documents, findSpace, authorOf }: DocumentSessionRoutesDependencies,
  forMembers: Described,
) {
  acceptUploads(app)
  app.post(
    '/api/spaces/:id/documents',
    forMembers('uploadSpaceDocument', 'Upload a document to a Space', {
      config: { limited: 'upload' },
      description: 'As `POST /v2/documents`.',
      consumes: ['multipart/form-data'],
      params: idParamsSchema,
      querystring: spaceUploadQuerySchema,
      body: uploadBodySchema,
      response: {
        200: documentSummarySchema.describe('With `onDuplicate=skip`: the existing document.'),
        201: documentSummarySchema,
        ...errorResponses(400, 401, 403, 404, 409, 413, 415, 429, 503),
      },
    }),
    async (request, reply) => {
      const space = findSpace(request.params.id)
      if (!space) throw noSpace()
      const { onDuplicate } = request.query
      const upload = { version: 2 as const, spaceId: space.id, onDuplicate, author: authorOf(request) }
      return renderSummary(await acceptUpload(documents, request, reply, upload))
    },
  )
}

function addReads(app: App, dependencies: DocumentSessionRoutesDependencies, forMembers: Described) {
  const { documents } = dependencies
  app.get(
    '/api/documents/:id',
    forMembers('getSpaceDocument', 'Get a document with its progress and metadata', {
      params,
      response: { 200: documentDetailSchema, ...errorResponses(401, 403, 404) },
    }),
    async (request, reply) =>
      sendDetail(dependencies, await documents.get(request.organisation, request.params.id), reply),
  )
}

function addChanges(app: App, dependencies: DocumentSessionRoutesDependencies, forMembers: Described) {
  const { documents, store, authorOf } = dependencies
  app.patch(
    '/api/documents/:id',
    forMembers('updateSpaceDocument', 'Rename a document or change its metadata, in the console', {
      description: 'As `PATCH /v1/documents/{id}`; returns the whole document.',
      params,
      body: updateDocumentSchema,
      response: { 200: documentDetailSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    async (request, reply) => {
      const after = await applyUpdate(documents, request, request.params.id, request.body, authorOf(request))
      return sendDetail(dependencies, after, reply)
    },
  )
  app.delete(
    '/api/documents/:id',
    forMembers('deleteSpaceDocument', 'Delete a document, in the console', {
      description: 'As `DELETE /v1/documents/{id}`.',
      params,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => documents.remove(request.organisation, request.params.id, authorOf(request)),
  )
  app.post(
    '/api/documents/:id/retry',
    forMembers('retryDocument', 'Process a failed document again', {
      description: 'From its stored file. A document that is not failed stays as it is.',
      params,
      response: { 200: documentDetailSchema, ...errorResponses(401, 403, 404) },
    }),
    async (request, reply) => {
      const { id } = request.params
      if (isUuid(id)) await store.retry(request.organisation.id, id, authorOf(request))
      return sendDetail(dependencies, await documents.get(request.organisation, id), reply)
    },
  )
}

async function sendDetail({ store }: DocumentSessionRoutesDependencies, document: Document, reply: FastifyReply) {
  const [row] = await store.loadProgressOf(document.organisationId, document.spaceId, [document.id])
  if (!row) throw noDocument()
  const progress = JSON.stringify(renderProgress(row)).slice(0, -1)
  return sendJsonText(reply, `${progress},"metadata":${document.metadataJson ?? 'null'}}`)
}
