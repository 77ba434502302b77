import type { z } from 'zod'
import {
  chunksPerView,
  contentQuerySchema,
  contentSchema,
  documentTextQuerySchema,
  documentTextSchema,
  documentViewSchema,
  maximumTextWindow,
  textQuerySchema,
} from '../../contract/document-viewer.ts'
import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError, isUuid } from '../../platform/kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import { loadOnce, membersBy, noDocument } from './document-members.ts'
import { renderProgress } from './render-progress.ts'
import { sendFile } from './send-file.routes.ts'
import type { StoredFile, Viewer } from './viewer.ts'

export interface ViewerRoutesDependencies {
  viewer: Viewer
  blobs: Pick<BlobStore, 'open' | 'exists'>
}

const params = idParamsSchema

/** `/api/documents/{id}/view`, `/content` and `/text`: for members of the document's organisation. */
export function documentViewerRoutes(dependencies: ViewerRoutesDependencies): Routes {
  const { viewer } = dependencies
  const findFile = loadOnce(async (id) => (isUuid(id) ? viewer.loadFile(id) : undefined))
  const members = membersBy((request) => findFile(request).then((file) => file?.organisationId), noDocument)
  const described = describeRoutes(members, 'Documents in the console')
  const getFile: GetFile = async (request) => {
    const file = await findFile(request)
    if (!file) throw noDocument()
    return file
  }
  return (app) => {
    addView(app, { ...dependencies, described, getFile })
    addText(app, { ...dependencies, described, getFile })
    addContent(app, { ...dependencies, described, getFile })
  }
}

type GetFile = (request: { params: unknown }) => Promise<StoredFile>

interface ViewerRouteParts extends ViewerRoutesDependencies {
  described: ReturnType<typeof describeRoutes>
  /** The file of the document in the path; throws 404. */
  getFile: GetFile
}

function addView(app: App, { viewer, described, getFile }: ViewerRouteParts) {
  app.get(
    '/api/documents/:id/view',
    described('viewDocument', 'View a document', {
      description: 'Facts, a window of the extracted text, and the first chunks: what the viewer needs to begin.',
      params,
      querystring: textQuerySchema,
      response: { 200: documentViewSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => getFile(request).then((file) => loadView(viewer, request.params.id, file, toWindow(request.query))),
  )
}

async function loadView(viewer: Viewer, id: string, file: StoredFile, window: { from: number; to: number }) {
  const view = await viewer.loadView(id, file, { ...window, chunkLimit: chunksPerView })
  if (!view) throw noDocument()
  const { document, metadata, pageCount, version, text, chunks } = view
  return {
    document: { ...renderProgress(document), metadata, pageCount, version },
    text,
    chunks: { ...chunks, limit: chunksPerView, offset: 0 },
  }
}

function addText(app: App, { viewer, described, getFile }: ViewerRouteParts) {
  app.get(
    '/api/documents/:id/text',
    described('readDocumentText', 'Read the extracted text of a document', {
      description: 'A window by Unicode code points, as in the positions of chunks. Empty until the document is ready.',
      params,
      querystring: documentTextQuerySchema,
      response: { 200: documentTextSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => getFile(request).then((file) => loadText(viewer, file, request.query)),
  )
}

function loadText(viewer: Viewer, file: StoredFile, query: z.output<typeof documentTextQuerySchema>) {
  const { page } = query
  return page === undefined ? viewer.loadText(file, toWindow(query)) : viewer.loadPageText(file, page)
}

function toWindow({ from, to }: { from: number; to?: number | undefined }) {
  return { from, to: to ?? from + maximumTextWindow }
}

function addContent(app: App, { blobs, described, getFile }: ViewerRouteParts) {
  app.get(
    '/api/documents/:id/content',
    described('downloadDocument', 'Read the uploaded file', {
      description: 'Accepts one byte range. The response may not be cached.',
      params,
      querystring: contentQuerySchema,
      response: { 200: contentSchema, 206: contentSchema, ...errorResponses(400, 401, 403, 404, 409, 416, 503) },
    }),
    async (request, reply) => {
      const file = await getFile(request)
      const { version } = request.query
      if (version !== undefined && version !== file.version) {
        throw new AppError('conflict', 'The document was replaced by another file. Load it again.', {
          param: 'version',
        })
      }
      return sendFile(blobs, file, request, reply)
    },
  )
}
