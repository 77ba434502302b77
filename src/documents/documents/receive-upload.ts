import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createHash } from 'node:crypto'
import { Busboy, Dicer } from '@fastify/busboy'
import { maximumMetadataBytes } from '../../contract/documents.ts'
import { AppError, loopTurn, raceSignal, readAtMost, invalidField } from '../../platform/kernel/index.ts'

/** A multipart body with its headers: a client's request, or an upload by the service itself. */
export type UploadRequest = Readable & Pick<IncomingMessage, 'headers'>

/** The fields of a multipart upload. The bytes of the file go to `storeFile`. */
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

/** Bounds the multipart parts and headers around the file. */
const limits = {
  fields: 20,
  files: 3,
  parts: 30,
  headerPairs: 50,
  fieldNameSize: 200,
  // White space between the parts of metadata and escapes of its strings do not count towards its limit.
  fieldSize: maximumMetadataBytes * 6 + 4096,
}

export interface ReceiveOptions {
  /** The organisation whose turns of the event loop the parsing takes. */
  owner: string
  maximumBytes: number
  storeFile: (source: AsyncIterable<Uint8Array>) => Promise<void>
  signal: AbortSignal
}

/**
 * Reads a multipart body as it arrives: `file` goes to `storeFile` chunk by chunk while it is counted and hashed. Throws AppError
 * naming the field and the limit; the source of `storeFile` then fails as well, so that it can remove what it has written.
 */
export async function receiveUpload(
  request: UploadRequest,
  { owner, maximumBytes, storeFile, signal }: ReceiveOptions,
): Promise<ReceivedUpload> {
  const contentType = request.headers['content-type'] ?? ''
  const failure = new AbortController()
  const fail = (error: unknown) => failure.abort(error)
  const parser = createParser(contentType, request.headers['content-length'], maximumBytes)
  const parts = collectParts(parser, { maximumBytes, storeFile, fail, failure: failure.signal })
  const finished = untilParsed(parser, request, fail, [signal, failure.signal])
  const declared = createPartCharset(contentType, 'file')
  feed(request, parser, { owner, declared, parts, fail, failure: failure.signal })
  try {
    await finished
    await parts.metadata
    failure.signal.throwIfAborted()
    const { file, fields } = parts
    if (!file) throw missingFile(fields.has('file'))
    const stored = await file.stored
    return {
      ...stored,
      fileName: file.fileName,
      declaredType: file.declaredType,
      declaredCharset: declared.charset(),
      name: fields.get('name'),
      metadataText: fields.get('metadata'),
    }
  } catch (error) {
    fail(error)
    await parts.file?.stored.catch(() => {})
    throw error
  }
}

interface Collecting {
  maximumBytes: number
  storeFile: (source: AsyncIterable<Uint8Array>) => Promise<void>
  /** Ends the upload with this error; the first one counts. */
  fail: (error: unknown) => void
  /** Aborted by `fail`. */
  failure: AbortSignal
}

interface Parts {
  fields: Map<string, string>
  file?: { fileName: string; declaredType: string; stored: ReturnType<typeof storeCounted> }
  /** Resolves when metadata from a file part is among the fields. */
  metadata?: Promise<void>
}

/** Fills the returned object as the parser finds parts. */
function collectParts(parser: InstanceType<typeof Busboy>, collecting: Collecting): Parts {
  const { fail, failure } = collecting
  const parts: Parts = { fields: new Map() }
  const seen = new Set<string>()
  /** Fails the upload where a field occurs twice. */
  const isFirst = (field: string) => {
    if (!seen.has(field)) return Boolean(seen.add(field))
    fail(invalidField(field, `${field}: send it once.`))
    return false
  }

  parser.on('field', (field, value, _nameTruncated, valueTruncated) => {
    if (valueTruncated) fail(tooLong(field))
    else if (isFirst(field)) parts.fields.set(field, value)
  })
  parser.on('file', (field, stream, fileName, _encoding, declaredType) => {
    stream.on('error', fail)
    if (field !== 'file' && field !== 'metadata') {
      fail(invalidField(field, `${field}: unexpected file part; the file goes in \`file\`.`))
    }
    if (failure.aborted || !isFirst(field)) return void stream.resume()
    if (field === 'metadata') {
      // FormData sends a JSON Blob as a file part.
      parts.metadata = readText(stream, fail).then((text) => void parts.fields.set('metadata', text), fail)
      return
    }
    parts.file = { fileName: fileName ?? '', declaredType, stored: storeCounted(stream, collecting) }
    parts.file.stored.catch(fail)
  })
  return parts
}

/** Bytes that are parsed in one step until the file begins: as many parts as the limit, each 10 µs of work. */
const stepBytes = 1024

/**
 * Passes the body to the parsers in steps that take turns with those of other organisations. Stops at a failure, so that what follows a
 * limit is not parsed; the rest of the body is discarded.
 */
function feed(
  request: UploadRequest,
  parser: InstanceType<typeof Busboy>,
  { owner, declared, parts, fail, failure }: Feeding,
): void {
  const pass = async (chunk: Buffer) => {
    for (let at = 0; at < chunk.length;) {
      await loopTurn(owner)
      if (failure.aborted) return
      const step = chunk.subarray(at, parts.file ? chunk.length : at + stepBytes)
      at += step.length
      const hasRoom = parser.write(step)
      if (failure.aborted) return
      declared.push(step)
      if (!hasRoom) await raceSignal(once(parser, 'drain'), failure)
    }
  }
  // The end may come while the last chunk is passed on.
  let passing = Promise.resolve()
  const onData = (chunk: Buffer) => {
    request.pause()
    passing = pass(chunk)
    passing.then(() => request.resume(), fail)
  }
  request.on('data', onData)
  request.once('end', () => {
    passing.then(
      () => void (failure.aborted || parser.end()),
      () => {},
    )
  })
  failure.addEventListener('abort', () => request.off('data', onData), { once: true })
}

interface Feeding extends Pick<Collecting, 'fail' | 'failure'> {
  owner: string
  declared: ReturnType<typeof createPartCharset>
  parts: Parts
}

/** Resolves when the parser has read the whole body; rejects when the body is damaged, the client disconnects or a signal aborts. */
function untilParsed(
  parser: InstanceType<typeof Busboy>,
  request: UploadRequest,
  fail: Collecting['fail'],
  signals: readonly AbortSignal[],
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    parser.once('finish', resolve)
    // `on`, since a damaged body may fail more than once.
    parser.on('error', () => fail(new AppError('invalid_request', 'The multipart body is damaged or ends too early.')))
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      parser.once(limit, () =>
        fail(new AppError('invalid_request', `The multipart body has too many parts (${limit}).`)),
      )
    }
    request.once('error', reject)
    request.once('aborted', () => reject(new AppError('client_closed', 'The upload was interrupted.')))
    for (const signal of signals) signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

function createParser(contentType: string, contentLength: string | undefined, maximumBytes: number) {
  if (!/^multipart\/form-data\b/i.test(contentType)) {
    throw new AppError('unsupported_media_type', 'Send the document as multipart/form-data with the field `file`.', {
      param: 'content-type',
    })
  }
  // The rest of the body is small, so a declared length far above the limit is rejected before reading.
  if (Number(contentLength ?? 0) > maximumBytes + 1024 * 1024) throw tooLarge(maximumBytes)
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: { ...limits, fileSize: maximumBytes + 1 } })
  } catch {
    throw invalidField('content-type', 'content-type: the multipart boundary is missing or damaged.')
  }
}

async function storeCounted(stream: Readable, { maximumBytes, storeFile, fail, failure }: Collecting) {
  const file = new WatchedFile()
  async function* counted(): AsyncGenerator<Uint8Array> {
    // A store that fails leaves the loop. That must not fail the stream as well, whose error would come first, and the first one counts.
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      failure.throwIfAborted()
      file.take(chunk)
      if (file.sizeBytes > maximumBytes) {
        fail(tooLarge(maximumBytes))
        failure.throwIfAborted()
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
    stream.destroy()
  }
  return file.finish()
}

async function readText(stream: Readable, fail: Collecting['fail']): Promise<string> {
  const bytes = await readAtMost(stream as AsyncIterable<Buffer>, limits.fieldSize)
  if (!bytes) fail(tooLong('metadata'))
  return bytes?.toString('utf8') ?? ''
}

function missingFile(cameAsText: boolean): AppError {
  const why = cameAsText
    ? 'came as text; give its part a file name'
    : 'the multipart field with the document is missing'
  return invalidField('file', `file: ${why}.`)
}

function tooLarge(maximumBytes: number): AppError {
  return new AppError('request_too_large', `file: larger than the limit of ${maximumBytes} bytes.`, { param: 'file' })
}

function tooLong(field: string): AppError {
  return invalidField(field, `${field}: longer than the limit of ${limits.fieldSize} bytes.`)
}

/** The header of the file part is searched within these first bytes; the parts before it are small. */
const maximumSearchedBytes = 1024 * 1024

/** Finds the `charset` of the part `field` in a multipart body, because the main parser does not report it. */
function createPartCharset(contentType: string, field: string) {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType)
  const isPart = new RegExp(`;\\s*name="?${field}"?(?:;|\\s|$)`, 'i')
  let charset: string | undefined
  let isSearching = boundary !== null
  const parser = new Dicer({ boundary: boundary?.[1] ?? boundary?.[2] ?? '-' })
  let searchedBytes = 0
  const stop = () => void (isSearching = false)
  parser.on('error', stop)
  parser.on('part', (part) => {
    part.on('error', stop)
    part.on('header', (header: Record<string, string[] | undefined>) => {
      if (!isPart.test(header['content-disposition']?.[0] ?? '')) return
      charset = /;\s*charset=\s*"?([\w.:+-]{1,40})"?/i.exec(header['content-type']?.[0] ?? '')?.[1]?.toLowerCase()
      stop()
    })
    part.resume()
  })
  return {
    push(bytes: Uint8Array): void {
      if (!isSearching) return
      searchedBytes += bytes.length
      parser.write(bytes)
      if (searchedBytes > maximumSearchedBytes) stop()
    },
    /** As soon as that part has begun. */
    charset: () => charset,
  }
}

/** detectFormat of ingestion reads at most this much. */
const headBytes = 64 * 1024

/** Size, hash and first bytes of a file that arrives in chunks. */
export class WatchedFile {
  sizeBytes = 0
  private readonly hash = createHash('sha256')
  private readonly heads: Uint8Array[] = []
  private headLength = 0

  take(chunk: Uint8Array): void {
    this.sizeBytes += chunk.length
    this.hash.update(chunk)
    if (this.headLength === headBytes) return
    const part = chunk.subarray(0, headBytes - this.headLength)
    this.heads.push(part)
    this.headLength += part.length
  }

  /** No `take` may follow. */
  finish(): { sizeBytes: number; sha256: Uint8Array; head: Uint8Array } {
    return {
      sizeBytes: this.sizeBytes,
      sha256: new Uint8Array(this.hash.digest()),
      head: new Uint8Array(Buffer.concat(this.heads)),
    }
  }
}
