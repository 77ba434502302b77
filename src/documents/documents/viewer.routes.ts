import { addAbortSignal } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  chunksPerView,
  contentQuerySchema,
  contentSchema,
  documentTextSchema,
  documentViewSchema,
  maximumTextWindow,
  textQuerySchema,
} from '../../contract/document-viewer.ts'
import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError, describeError, isUuid } from '../../platform/kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import { type ByteRange, readByteRange } from './byte-range.ts'
import { loadOnce, membersBy, noDocument } from './document-members.ts'
import { renderProgress } from './render-progress.ts'
import type { StoredFile, Viewer } from './viewer.ts'

export interface ViewerRoutesDependencies {
  viewer: Viewer
  blobs: Pick<BlobStore, 'open' | 'exists'>
}

const params = idParamsSchema

/** A file that a browser opens directly can neither run anything nor load anything. */
const filePolicy = "default-src 'none'; sandbox; frame-ancestors 'none'"

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
      querystring: textQuerySchema,
      response: { 200: documentTextSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => getFile(request).then((file) => viewer.loadText(file, toWindow(request.query))),
  )
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

async function sendFile(
  blobs: ViewerRoutesDependencies['blobs'],
  file: StoredFile,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { sizeBytes, version } = file
  const tag = `"${version}"`
  const ifRange = request.headers['if-range']
  const range = ifRange === undefined || ifRange === tag ? readByteRange(request.headers.range, sizeBytes) : null
  reply.header('accept-ranges', 'bytes')
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${sizeBytes}`)
    throw new AppError('range_not_satisfiable', `The file has ${sizeBytes} bytes; the range begins behind them.`, {
      param: 'range',
    })
  }
  const stream = await openBlob(blobs, file.blobKey, range, request.clientSignal)
  // Fastify pipes with backpressure. A client that leaves or stops reading ends the read of the store too.
  addAbortSignal(request.clientSignal, stream)
  reply.headers({
    'content-type': file.mimeType,
    'content-disposition': dispositionOf(file.name),
    'content-security-policy': filePolicy,
    'content-length': range ? range.last - range.first + 1 : sizeBytes,
    etag: tag,
  })
  if (range) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${sizeBytes}`)
  return reply.send(stream as never)
}

/** Throws 404 where the file is gone, and 503 where the store fails. */
async function openBlob(
  blobs: ViewerRoutesDependencies['blobs'],
  key: string,
  range: ByteRange | null,
  signal: AbortSignal,
) {
  try {
    return await blobs.open(key, signal, range ?? undefined)
  } catch (cause) {
    signal.throwIfAborted()
    if (!(await blobs.exists(key).catch(() => true))) {
      throw new AppError('document_not_found', 'The file of this document was removed.', { param: 'id', cause })
    }
    const internal = `the file could not be opened: ${describeError(cause)}`
    throw new AppError('overloaded', 'The file cannot be read at the moment. Try again later.', {
      retryAfterSeconds: 10,
      internal,
      cause,
    })
  }
}

/** Always a download: a browser shows the file only through the viewer. */
function dispositionOf(name: string): string {
  const ascii = name.replaceAll(/[^\w .,()+-]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
