import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { maximumMetadataBytes } from '../contract/documents.ts'
import { AppError } from '../kernel/index.ts'
import { watchPartCharset } from './part-charset.ts'

/** A multipart body with its headers: a client's request, or what the service itself uploads. */
export type UploadRequest = Readable & Pick<IncomingMessage, 'headers'>

/** What a multipart upload brought, apart from the bytes, which went to `storeFile` as they came. */
export interface ReceivedUpload {
  fileName: string
  declaredType: string
  /** The charset of the file part's Content-Type. */
  declaredCharset: string | undefined
  sizeBytes: number
  sha256: Uint8Array
  /** First bytes of the file, for the detection of its type. */
  head: Uint8Array
  name: string | undefined
  metadataText: string | undefined
}

/** As much as detectFormat of ingestion wants to see. */
const headBytes = 64 * 1024
/** Multipart parts and headers around the file; bounds what a client can make us parse. */
const limits = {
  fields: 20,
  files: 3,
  parts: 30,
  headerPairs: 50,
  fieldNameSize: 200,
  // White space between the parts of metadata and escapes of its strings do not count towards its limit.
  fieldSize: maximumMetadataBytes * 6 + 4096,
}

/**
 * Reads a multipart body as it arrives: `file` goes to `storeFile` chunk by chunk while it is counted and hashed. Throws AppError
 * naming the field and the limit; `storeFile` then sees its source fail, so that it leaves nothing behind.
 */
export async function receiveUpload(
  request: UploadRequest,
  {
    maximumBytes,
    storeFile,
    signal,
  }: { maximumBytes: number; storeFile: (source: AsyncIterable<Uint8Array>) => Promise<void>; signal: AbortSignal },
): Promise<ReceivedUpload> {
  const contentType = request.headers['content-type'] ?? ''
  const fields = new Map<string, string>()
  const failure = new AbortController()
  let file:
    | {
        fileName: string
        declaredType: string
        stored: Promise<Omit<ReceivedUpload, 'fileName' | 'declaredType' | 'declaredCharset' | 'name' | 'metadataText'>>
      }
    | undefined
  let metadataPart: Promise<void> | undefined
  const seen = new Set<string>()
  /** False, and the upload refused, where a field comes a second time. */
  const isFirst = (field: string) => {
    if (!seen.has(field)) return Boolean(seen.add(field))
    fail(new AppError('invalid_request', `${field}: send it once.`, { param: field }))
    return false
  }

  const fail = (error: unknown) => failure.abort(error)
  const parser = createParser(contentType, request.headers['content-length'], maximumBytes)
  parser.on('field', (field, value, _nameTruncated, valueTruncated) => {
    if (valueTruncated) fail(tooLong(field))
    else if (isFirst(field)) fields.set(field, value)
  })
  parser.on('file', (field, stream, fileName, _encoding, declaredType) => {
    stream.on('error', fail)
    if (field !== 'file' && field !== 'metadata') {
      fail(
        new AppError('invalid_request', `${field}: unexpected file part; the file goes in \`file\`.`, { param: field }),
      )
    }
    if (failure.signal.aborted || !isFirst(field)) return void stream.resume()
    if (field === 'metadata') {
      // FormData with a JSON Blob comes as a file part.
      metadataPart = readText(stream, fail).then((text) => void fields.set('metadata', text), fail)
      return
    }
    file = {
      fileName: fileName ?? '',
      declaredType,
      stored: storeCounted(stream, { maximumBytes, storeFile, fail, failure: failure.signal }),
    }
    file.stored.catch(fail)
  })
  const finished = new Promise<void>((resolve, reject) => {
    parser.once('finish', resolve)
    // `on`, since a damaged body may fail more than once.
    parser.on('error', () =>
      reject(new AppError('invalid_request', 'The multipart body is damaged or ends too early.')),
    )
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      parser.once(limit, () =>
        reject(new AppError('invalid_request', `The multipart body has too many parts (${limit}).`)),
      )
    }
    request.once('error', reject)
    request.once('aborted', () => reject(new AppError('client_closed', 'The upload was interrupted.')))
    const stop = (reason: AbortSignal) => () => reject(reason.reason as Error)
    signal.addEventListener('abort', stop(signal), { once: true })
    failure.signal.addEventListener('abort', stop(failure.signal), { once: true })
  })
  const declaredCharset = watchPartCharset(request, contentType, 'file')
  request.pipe(parser)
  try {
    await finished
    await metadataPart
    failure.signal.throwIfAborted()
    if (!file) throw missingFile(fields.has('file'))
    const stored = await file.stored
    return {
      ...stored,
      fileName: file.fileName,
      declaredType: file.declaredType,
      declaredCharset: declaredCharset(),
      name: fields.get('name'),
      metadataText: fields.get('metadata'),
    }
  } catch (error) {
    fail(error)
    request.unpipe(parser)
    await file?.stored.catch(() => {})
    throw error
  }
}

function createParser(contentType: string, contentLength: string | undefined, maximumBytes: number) {
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    throw new AppError('unsupported_media_type', 'Send the document as multipart/form-data with the field `file`.', {
      param: 'content-type',
    })
  }
  // What surrounds the file in the body is small: a declared length far above the limit needs no reading.
  if (Number(contentLength ?? 0) > maximumBytes + 1024 * 1024) throw tooLarge(maximumBytes)
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: { ...limits, fileSize: maximumBytes + 1 } })
  } catch {
    throw new AppError('invalid_request', 'content-type: the multipart boundary is missing or damaged.', {
      param: 'content-type',
    })
  }
}

async function storeCounted(
  stream: Readable,
  {
    maximumBytes,
    storeFile,
    fail,
    failure,
  }: {
    maximumBytes: number
    storeFile: (source: AsyncIterable<Uint8Array>) => Promise<void>
    fail: (error: AppError) => void
    failure: AbortSignal
  },
) {
  const hash = createHash('sha256')
  const heads: Uint8Array[] = []
  let headLength = 0
  let sizeBytes = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      failure.throwIfAborted()
      sizeBytes += chunk.length
      if (sizeBytes > maximumBytes) {
        // Before the loop is left, which ends the stream with an error that says less; the first one counts.
        fail(tooLarge(maximumBytes))
        failure.throwIfAborted()
      }
      hash.update(chunk)
      if (headLength < headBytes) {
        heads.push(chunk.subarray(0, headBytes - headLength))
        headLength += Math.min(chunk.length, headBytes - headLength)
      }
      yield chunk
    }
    failure.throwIfAborted()
  }
  const abort = () => stream.destroy(failure.reason as Error)
  failure.addEventListener('abort', abort, { once: true })
  try {
    await storeFile(counted())
  } finally {
    failure.removeEventListener('abort', abort)
  }
  return { sizeBytes, sha256: new Uint8Array(hash.digest()), head: new Uint8Array(Buffer.concat(heads)) }
}

async function readText(stream: Readable, fail: (error: AppError) => void): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limits.fieldSize) {
      fail(tooLong('metadata'))
      break
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function missingFile(cameAsText: boolean): AppError {
  const why = cameAsText
    ? 'came as text; give its part a file name'
    : 'the multipart field with the document is missing'
  return new AppError('invalid_request', `file: ${why}.`, { param: 'file' })
}

function tooLarge(maximumBytes: number): AppError {
  return new AppError('request_too_large', `file: larger than the limit of ${maximumBytes} bytes.`, { param: 'file' })
}

function tooLong(field: string): AppError {
  return new AppError('invalid_request', `${field}: longer than the limit of ${limits.fieldSize} bytes.`, {
    param: field,
  })
}
