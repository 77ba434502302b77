import type { FastifyRequest } from 'fastify'
import { contentSchema, documentTextSchema, maximumTextWindow } from '../../contract/document-viewer.ts'
import { errorResponses } from '../../contract/errors.ts'
import {
  visitDocumentParamsSchema,
  visitDocumentQuerySchema,
  visitDocumentSchema,
  visitTextQuerySchema,
} from '../../contract/site-visits.ts'
import { type BlobStore, sendFile, type StoredFile, type Viewer } from '../../documents/documents/index.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError, isUuid } from '../../platform/kernel/index.ts'
import type { OpenVisitAccess } from './visit-access.routes.ts'
import type { VisitLimits } from './visit-limits.ts'
import type { VisitSessions } from './visit-sessions.ts'

export interface VisitDocumentDependencies {
  access: OpenVisitAccess
  sessions: Pick<VisitSessions, 'isTicket'>
  limits: Pick<VisitLimits, 'enterRead'>
  viewer: Viewer
  blobs: Pick<BlobStore, 'open' | 'exists'>
}

const path = '/s/:name/documents/:documentId'
const params = visitDocumentParamsSchema
const failures = errorResponses(400, 401, 403, 404, 429)

interface DocumentRequest extends Pick<FastifyRequest, 'headers' | 'ip'> {
  params: { name: string; documentId: string }
  query: { ticket: string }
}

/** Documents that an answer to this visitor has cited, where the site shows pages. */
export function visitDocumentRoutes(dependencies: VisitDocumentDependencies): Routes {
  const { access, viewer, blobs } = dependencies
  const described = describeRoutes(access.auth, 'Visitors')
  return (app) => {
    app.get(
      path,
      described('getCitedDocument', 'Get a cited document', {
        params,
        querystring: visitDocumentQuerySchema,
        response: { 200: visitDocumentSchema, ...failures },
      }),
      (request) =>
        findFile(dependencies, request).then((file) => describeFile(viewer, request.params.documentId, file)),
    )
    app.get(
      `${path}/text`,
      described('readCitedDocumentText', 'Read the extracted text of a cited document', {
        description: 'A window by Unicode code points, as in `start` and `end` of a quote.',
        params,
        querystring: visitTextQuerySchema,
        response: { 200: documentTextSchema, ...failures },
      }),
      async (request) => {
        const file = await findFile(dependencies, request)
        const { from, to = from + maximumTextWindow } = request.query
        return viewer.loadText(file, { from, to })
      },
    )
    app.get(
      `${path}/content`,
      described('downloadCitedDocument', 'Read the file of a cited document', {
        description: 'Accepts one byte range.',
        params,
        querystring: visitDocumentQuerySchema,
        response: { 200: contentSchema, 206: contentSchema, ...failures, ...errorResponses(416, 503) },
      }),
      async (request, reply) =>
        sendFile(blobs, await findFile(dependencies, request), request as never, reply as never),
    )
  }
}

async function describeFile(viewer: Viewer, id: string, file: StoredFile) {
  const view = await viewer.loadView(id, file, { from: 0, to: 1, chunkLimit: 1 })
  if (!view) throw notCited()
  return { id, title: file.name, mimeType: file.mimeType, sizeBytes: file.sizeBytes, pageCount: view.pageCount }
}

/** Throws the same `document_not_found` for a document that is gone, of another Space, or never cited for this visitor. */
async function findFile(
  { access, sessions, limits, viewer }: VisitDocumentDependencies,
  request: DocumentRequest,
): Promise<StoredFile> {
  const { site, session } = await access.enter(request)
  limits.enterRead(site, request.ip)
  const { documentId } = request.params
  const isCited = site.settings.citations === 'page' && sessions.isTicket(request.query.ticket, session, documentId)
  if (!isCited || !isUuid(documentId)) throw notCited()
  const file = await viewer.loadFile(documentId)
  if (!file || file.spaceId !== site.spaceId) throw notCited()
  return file
}

const notCited = () =>
  new AppError('document_not_found', 'No answer to this visitor has cited this document, or it was removed.')
