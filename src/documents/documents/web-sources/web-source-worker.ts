import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { documentTypes } from '../../../contract/documents.ts'
import { webSourceLimits } from '../../../contract/web-sources.ts'
import type { Job } from '../../../platform/jobs/index.ts'
import {
  AppError,
  type Clock,
  createDocumentId,
  describeError,
  type Log,
  type SpaceId,
} from '../../../platform/kernel/index.ts'
import type { BlobStore } from '../blobs/blob-store.ts'
import { type Metadata, readMetadata } from '../document-metadata.ts'
import { cleanName } from '../document-name.ts'
import type { NewDocument } from '../document.ts'
import { storedMediaType } from '../reading.ts'
import type { DocumentStore } from '../documents.store.ts'
import type { DocumentsDependencies } from '../documents.ts'
import { type AddressReader, isReadable, readAddress, type WebContent } from './read-address.ts'
import { readSitemap } from './read-sitemap.ts'
import { afterFailure, type Failure, nextReadAt, type WebSource } from './web-source.ts'
import { hostPauseMs, type WebSourceStore } from './web-sources.store.ts'

export interface WebSourceWorkerDependencies {
  store: WebSourceStore
  documents: Pick<DocumentStore, 'load' | 'insert'>
  blobs: Pick<BlobStore, 'put' | 'delete'>
  detectFormat: DocumentsDependencies['detectFormat']
  reader: AddressReader
  hasSpace: (organisationId: string, spaceId: SpaceId) => boolean
  clock: Clock
  log: Log
}

const unpack = promisify(gunzip)

/** Sitemaps that an index may name. */
const maximumSitemaps = 50
/** Pages of a sitemap that one transaction adds. */
const pagesPerBatch = 100

/** A reading that failed; the message is for the people of the organisation. */
class ReadingError extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'ReadingError'
    this.failure = failure
  }
}

/** Starts readings that are due, and reads one source for each job. A job that ends early is repeated without a second document. */
export function createWebSourceWorker(dependencies: WebSourceWorkerDependencies) {
  const { store, hasSpace, clock, log } = dependencies
  let starting: Promise<unknown> | undefined
  let stop: (() => void) | undefined

  async function run(job: Job): Promise<void> {
    const source = await store.load(job.organisationId, String(job.payload.sourceId))
    if (!source || source.state === 'removed') return
    const isOrphan = source.kind === 'page' && source.readAt !== null && !source.hasDocument
    if (isOrphan || !hasSpace(source.organisationId, source.spaceId)) {
      await store.remove(source.organisationId, source.id)
      return
    }
    try {
      await (source.kind === 'page'
        ? readPage(dependencies, source, job.signal)
        : readMap(dependencies, source, job.signal))
    } catch (error) {
      if (!(error instanceof ReadingError)) throw error
      await fail(source, error.failure)
    }
  }

  async function fail(source: WebSource, failure: Failure): Promise<void> {
    const failures = source.failures + 1
    const next = afterFailure({ ...source, failures }, failure, clock.now())
    await store.end(source, { ...next, failures, error: failure })
  }

  const poll = () => {
    starting ??= store
      .startDue(new Date(clock.now()))
      .catch((error: unknown) => log.warn({ reason: describeError(error) }, 'web addresses could not be started'))
      .finally(() => (starting = undefined))
    return starting
  }

  return {
    run,
    poll,
    /** The service failed again and again. */
    async giveUp(job: Job, error: unknown): Promise<void> {
      log.error({ sourceId: job.payload.sourceId, reason: describeError(error) }, 'a web address could not be read')
      const source = await store.load(job.organisationId, String(job.payload.sourceId))
      if (source)
        await fail(source, {
          code: 'internal_error',
          message: 'The service failed several times during this reading.',
          isPermanent: true,
        })
    },
    start() {
      stop = clock.every(hostPauseMs, () => void poll())
    },
    async close(): Promise<void> {
      stop?.()
      await starting
    },
  }
}

/** Throws ReadingError for what has no content to store; undefined: the end is written. */
async function readContent(
  { store, reader, clock }: WebSourceWorkerDependencies,
  source: WebSource,
  signal: AbortSignal,
): Promise<WebContent | undefined> {
  const { etag, lastModified, refresh } = source
  const answer = await readAddress(reader, source, signal)
  if (answer.kind === 'content') return answer
  if (answer.kind === 'failed') throw new ReadingError(answer)
  if (answer.kind === 'gone' && source.readAt === null) {
    throw new ReadingError({
      code: 'not_found',
      message: 'The address does not exist (404 or 410).',
      isPermanent: true,
    })
  }
  const next = nextReadAt(refresh, clock.now())
  if (answer.kind === 'gone') {
    await store.end(source, { state: 'gone', error: null, failures: 0, nextReadAt: next })
  } else {
    const found = { readAt: new Date(clock.now()), etag, lastModified, contentSha256: null }
    await store.end(source, { state: 'read', error: null, failures: 0, nextReadAt: next, found })
  }
  return undefined
}

async function readPage(dependencies: WebSourceWorkerDependencies, source: WebSource, signal: AbortSignal) {
  const { store, documents, clock } = dependencies
  const content = await readContent(dependencies, source, signal)
  if (!content) return
  const contentSha256 = createHash('sha256').update(content.bytes).digest()
  const current = await documents.load(source.organisationId, source.id)
  const hash = contentSha256.toString('hex')
  // The document has it already if the process ended between its upload and the end of the reading.
  const isKnown = current && (current.contentSha256 === hash || source.contentSha256 === hash)
  if (!isKnown) await storeContent(dependencies, { source, content, contentSha256, isNew: !current, signal })
  const readAt = new Date(clock.now())
  const found = { readAt, etag: content.etag, lastModified: content.lastModified, contentSha256 }
  const next = nextReadAt(source.refresh, clock.now())
  await store.end(source, { state: 'read', error: null, failures: 0, nextReadAt: next, found })
}

interface Storing {
  source: WebSource
  content: WebContent
  contentSha256: Uint8Array
  isNew: boolean
  signal: AbortSignal
}

/** The document of a page has the id of its source, so that a repeated job finds it. */
async function storeContent(
  { documents, blobs, detectFormat }: WebSourceWorkerDependencies,
  { source, content, contentSha256, isNew, signal }: Storing,
): Promise<void> {
  const { organisationId, spaceId, url } = source
  const { bytes } = content
  const fileName = fileNameOf(content)
  const head = bytes.subarray(0, 4096)
  const detected = detectFormat({ fileName, head, declaredType: content.mimeType }, 2)
  if (!detected.supported)
    throw new ReadingError({ code: 'unsupported_type', message: detected.reason, isPermanent: true })
  const id = isNew ? source.id : createDocumentId()
  const blobKey = `${organisationId}/${spaceId}/${id}`
  const document: NewDocument = {
    id,
    organisationId,
    spaceId,
    name: nameOf(source, content, fileName),
    metadata: isNew ? withAddress(source.metadataJson, url) : null,
    format: detected.format,
    mimeType: storedMediaType(detected.mimeType, content.charset),
    apiVersion: 2,
    sizeBytes: bytes.length,
    contentSha256,
    blobKey,
    uploadKey: null,
    fingerprint: contentSha256,
  }
  await blobs.put(blobKey, [bytes] as never, signal)
  try {
    await documents.insert(document, isNew ? 'keep' : { replaces: source.id })
  } catch (error) {
    // The document was deleted meanwhile; the next reading removes its source. Another failure may have stored the row.
    if (!(error instanceof AppError)) throw error
    await blobs.delete(blobKey)
  }
}

/** The endings of a media type, which decides the format whatever the address is. */
function endingsOf(mimeType: string): string[] {
  const known = mimeType === 'application/xhtml+xml' ? 'text/html' : mimeType
  return documentTypes.flatMap((type) => (type.mimeType === known ? [type.extension] : []))
}

/** The last part of the path, with the ending of the media type. */
function fileNameOf({ url, mimeType }: WebContent): string {
  const last = url.pathname.split('/').findLast((part) => part !== '') ?? url.hostname
  const endings = mimeType === 'text/plain' ? [] : endingsOf(mimeType)
  const name = safely(() => cleanName(decodeURIComponent(last), 'url')) ?? url.hostname
  if (endings.length === 0) return mimeType === 'text/plain' && !name.includes('.') ? `${name}.txt` : name
  return endings.some((ending) => name.toLowerCase().endsWith(ending)) ? name : name + endings[0]!
}

const titlePattern = /<title[^>]{0,200}>([^<]{1,500})<\/title/i

/** The name that was given, else the title of a web page, else the file name. */
function nameOf(source: WebSource, { bytes, charset = 'utf-8' }: WebContent, fileName: string): string {
  if (source.name !== null) return source.name
  if (!fileName.endsWith('.html') || !/^utf-?8$/i.test(charset)) return fileName
  const title = titlePattern.exec(bytes.toString('utf8', 0, 16 * 1024))?.[1]
  if (title === undefined || title.includes('&') || title.includes('\ufffd')) return fileName
  // `cleanName` drops what is before a slash.
  return safely(() => cleanName(title.replaceAll(/\s+/g, ' ').replaceAll(/[\\/]/g, '-'), 'url')) ?? fileName
}

function safely<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Text is put together, so that the client's metadata keeps its digits. */
function withAddress(metadataJson: string | null, url: string): Metadata {
  const own = metadataJson === null || metadataJson === '{}' ? '' : `${metadataJson.slice(1, -1)},`
  return safely(() => readMetadata(`{${own}"url":${JSON.stringify(url)}}`)) ?? readMetadata(metadataJson ?? '{}')
}

/** Adds the pages of a sitemap, and of the sitemaps of an index, as sources. Only those of its host, so that nobody sends it elsewhere. */
async function readMap(
  dependencies: WebSourceWorkerDependencies,
  source: WebSource,
  signal: AbortSignal,
): Promise<void> {
  const { store, reader, clock } = dependencies
  const content = await readContent(dependencies, source, signal)
  if (!content) return
  const root = await parseMap(content, source, signal)
  const pages = new Set(root.pages)
  const limit = source.pageLimit ?? webSourceLimits.defaultSitemapPages
  for (const address of root.sitemaps.filter((one) => isOfHost(one, source, reader)).slice(0, maximumSitemaps)) {
    if (pages.size >= limit) break
    await clock.sleep(hostPauseMs, signal)
    const inner = await readAddress(reader, { url: address, etag: null, lastModified: null }, signal)
    if (inner.kind === 'failed') throw new ReadingError(inner)
    if (inner.kind === 'content') for (const page of (await parseMap(inner, source, signal)).pages) pages.add(page)
  }
  await addPages(dependencies, source, [...pages].filter((page) => isOfHost(page, source, reader)).slice(0, limit))
  const readAt = new Date(clock.now())
  // An index is read as a whole each time: its date does not change with its sitemaps.
  const isIndex = root.sitemaps.length > 0
  const found = {
    readAt,
    etag: isIndex ? null : content.etag,
    lastModified: isIndex ? null : content.lastModified,
    contentSha256: null,
  }
  const next = nextReadAt(source.refresh, clock.now())
  await store.end(source, { state: 'read', error: null, failures: 0, nextReadAt: next, found })
}

async function addPages({ store, clock }: WebSourceWorkerDependencies, source: WebSource, pages: readonly string[]) {
  const { organisationId, spaceId, metadataJson, refresh } = source
  const limit = webSourceLimits.perOrganisation
  const room = Math.max(0, limit - (await store.count(organisationId)))
  const known = await store.countPages(organisationId, source.id)
  // Known pages are among `pages` and take no room.
  const wanted = pages.slice(0, room + known)
  for (let at = 0; at < wanted.length; at += pagesPerBatch) {
    const batch = wanted.slice(at, at + pagesPerBatch).map((page) => {
      const url = new URL(page)
      url.hash = ''
      const facts = {
        organisationId,
        spaceId,
        kind: 'page' as const,
        sitemapId: source.id,
        pageLimit: null,
        name: null,
      }
      return { ...facts, id: createDocumentId(), url: url.href, metadataJson, refresh }
    })
    await store.add(organisationId, batch, new Date(clock.now()))
  }
}

async function parseMap({ bytes }: WebContent, { organisationId }: WebSource, signal: AbortSignal) {
  const invalid = {
    code: 'no_sitemap' as const,
    message: 'The address has no sitemap: its content is no XML with pages.',
    isPermanent: true,
  }
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
  const unpacked = isPacked ? unpack(bytes, { maxOutputLength: webSourceLimits.pageBytes }) : Promise.resolve(bytes)
  const found = await unpacked
    .then((text) => readSitemap(text.toString('utf8'), organisationId, signal))
    .catch(() => undefined)
  signal.throwIfAborted()
  if (!found || found.pages.length + found.sitemaps.length === 0) throw new ReadingError(invalid)
  return found
}

function isOfHost(address: string, source: Pick<WebSource, 'url'>, { rule }: AddressReader): boolean {
  const url = URL.parse(address)
  return url !== null && url.host === new URL(source.url).host && isReadable(url, rule)
}
