import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentsVersion, DocumentSummaryBody, OnDuplicate } from '../../contract/documents.ts'
import type { App } from '../../platform/http/index.ts'
import { readJson } from '../../platform/bodies/index.ts'
import { type DocumentId, type SpaceId, invalidField } from '../../platform/kernel/index.ts'
import type { ChangeAuthor } from './change-author.ts'
import { memberTexts } from './document-metadata.ts'
import type { Document } from './document.ts'
import type { Documents, UploadResult } from './documents.ts'

/** What the routes of the API key and those of people have in common. */

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

/** Uploads of this scope are read as a stream by receiveUpload, with any content type. */
export function acceptUploads(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async () => ({}))
}

/** Keeps the text of JSON bodies, because metadata is stored as the client's text. */
export function acceptBodyTexts(app: App): void {
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
}

interface UploadOptions {
  version: DocumentsVersion
  spaceId: string
  onDuplicate: OnDuplicate
  replaces?: string | undefined
  author?: ChangeAuthor
}

/** Stores the upload of the request, and sets status and headers of the reply. */
export async function acceptUpload(
  documents: Pick<Documents, 'upload'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { version, spaceId, onDuplicate, replaces, author }: UploadOptions,
): Promise<UploadResult> {
  if (replaces !== undefined && onDuplicate !== 'keep') {
    throw invalidField('replaces', 'replaces: not together with onDuplicate.')
  }
  const key = request.headers['idempotency-key']
  const result = await documents.upload(request.organisation, {
    version,
    spaceId: spaceId as SpaceId,
    request: request.raw,
    uploadKey: Array.isArray(key) ? key[0] : key,
    onDuplicate: replaces === undefined ? onDuplicate : { replaces: replaces.toLowerCase() as DocumentId },
    ...(author && { author }),
    signal: request.clientSignal,
  })
  if (result.duplicateOf !== undefined) reply.header('x-duplicate-of', result.duplicateOf)
  if (result.repeated) reply.header('idempotent-replayed', 'true')
  reply.code(result.skipped ? 200 : 201)
  return result
}

/** Makes the change of a PATCH body. */
export function applyUpdate(
  documents: Pick<Documents, 'update'>,
  request: FastifyRequest,
  id: string,
  { name, metadata }: { name?: string | undefined; metadata?: Record<string, unknown> | null | undefined },
  author?: ChangeAuthor,
): Promise<Document> {
  const metadataText = metadata && memberTexts(request.bodyText ?? '{}').get('metadata')
  return documents.update(request.organisation, id, { name, metadataText }, author)
}

export function renderSummary({ id, spaceId, name, status }: DocumentSummaryBody): DocumentSummaryBody {
  return { id, spaceId, name, status }
}

/** Metadata is JSON text that must not be parsed and written again. */
export function sendJsonText(reply: FastifyReply, text: string) {
  return reply.type('application/json; charset=utf-8').send(text as never)
}
