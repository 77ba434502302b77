import { addAbortSignal } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, describeError } from '../../platform/kernel/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import { type ByteRange, readByteRange } from './byte-range.ts'
import type { StoredFile } from './viewer.ts'

/** A file that a browser opens directly can neither run anything nor load anything. */
const filePolicy = "default-src 'none'; sandbox; frame-ancestors 'none'"

/** Sends a stored file, or one range of it, as a download: a browser opens it in no page of this server. */
export async function sendFile(
  blobs: Pick<BlobStore, 'open' | 'exists'>,
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
  blobs: Pick<BlobStore, 'open' | 'exists'>,
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
