import { createHash } from 'node:crypto'
import type { DocumentsVersion } from '../../contract/documents.ts'
import { AppError, type SpaceId, createDocumentId, isUuid, invalidField } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import type { ChangeAuthor } from './change-author.ts'
import type { DocumentListQuery } from './document-list.ts'
import { noDocument } from './document-members.ts'
import { readMetadata } from './document-metadata.ts'
import { storedMediaType } from './reading.ts'
import { cleanName } from './document-name.ts'
import type { Document, DocumentFormat, DocumentStatus, NewDocument } from './document.ts'
import type { DocumentStore, InsertOutcome, UploadTarget } from './documents.store.ts'
import type { UnusedBlobs } from './unused-blobs.ts'
import { type ReceivedUpload, receiveUpload, type UploadRequest } from './receive-upload.ts'

export interface DocumentsDependencies {
  store: DocumentStore
  blobs: BlobStore
  /** True if the Space exists and belongs to the organisation. */
  hasSpace: (organisation: Organisation, spaceId: SpaceId) => boolean
  /** Detects the format from content and extension together. `reason` is a sentence for the client. */
  detectFormat: (
    file: { fileName: string; head: Uint8Array; declaredType: string },
    version: DocumentsVersion,
  ) => { supported: true; format: DocumentFormat; mimeType: string } | { supported: false; reason: string }
  maximumUploadBytes: number
  unusedBlobs: Pick<UnusedBlobs, 'remove' | 'removeLater'>
}

export interface UploadResult {
  id: string
  spaceId: SpaceId
  name: string
  /** An older document of the Space with the same content. */
  duplicateOf: string | undefined
  /** True if the Idempotency-Key belongs to an upload that was already accepted. */
  repeated: boolean
  status: DocumentStatus
  /** True if a document of this name exists and the upload was not stored. */
  skipped: boolean
}

export type Documents = ReturnType<typeof createDocuments>

/** Longest Idempotency-Key. */
const maximumUploadKeyLength = 255

export interface NewUpload {
  /** Decides which types are accepted. */
  version: DocumentsVersion
  spaceId: SpaceId
  request: UploadRequest
  /** Idempotency-Key. */
  uploadKey: string | undefined
  onDuplicate?: UploadTarget
  author?: ChangeAuthor
  signal: AbortSignal
}

/** The rules for uploads, names, changes and removal of documents. Throws AppError. */
export function createDocuments(dependencies: DocumentsDependencies) {
  const { store } = dependencies

  return {
    list(organisation: Organisation, spaceId: SpaceId, page: { limit: number; offset: number }) {
      assertSpace(dependencies, organisation, spaceId)
      return store.list(organisation.id, spaceId, page)
    },

    /** A page with filters, and the position of its last document. */
    async listMatching(organisation: Organisation, spaceId: SpaceId, query: DocumentListQuery) {
      assertSpace(dependencies, organisation, spaceId)
      const { total, places } = await store.loadPlaces(organisation.id, spaceId, query)
      const ids = places.map(({ id }) => id)
      const found = ids.length === 0 ? [] : await store.loadMany(organisation.id, spaceId, ids)
      const byId = new Map<string, Document>(found.map((document) => [document.id, document]))
      return { total, items: ids.flatMap((id) => byId.get(id) ?? []), last: places.at(-1) }
    },
    /** The places of documents that wait for a worker, by their ids. */
    loadQueue: (organisation: Organisation, found: readonly Document[]) => store.loadQueue(organisation.id, found),

    async get(organisation: Organisation, id: string): Promise<Document> {
      return (isUuid(id) ? await store.load(organisation.id, id) : undefined) ?? notFound()
    },

    /** Streams the file to the blob store, then stores the row with its job. The data of a failed upload is removed. */
    upload: (organisation: Organisation, given: NewUpload) => upload(dependencies, organisation, given),

    /** `metadataText` is the JSON text of the new metadata; `null` clears it, undefined keeps it. */
    async update(
      organisation: Organisation,
      id: string,
      change: { name: string | undefined; metadataText: string | null | undefined },
      author?: ChangeAuthor,
    ): Promise<Document> {
      const name = change.name === undefined ? undefined : cleanName(change.name, 'name')
      const { metadataText } = change
      const metadata = typeof metadataText === 'string' ? readMetadata(metadataText) : metadataText
      return (
        (isUuid(id) ? await store.update(organisation.id, id, { name, metadata }, author) : undefined) ?? notFound()
      )
    },

    async remove(organisation: Organisation, id: string, author?: ChangeAuthor): Promise<void> {
      if (!isUuid(id) || !(await store.remove(organisation.id, id, author))) notFound()
    },
  }
}

async function upload(
  dependencies: DocumentsDependencies,
  organisation: Organisation,
  { version, spaceId, request, uploadKey, onDuplicate = 'keep', author, signal }: NewUpload,
): Promise<UploadResult> {
  const { store, blobs, maximumUploadBytes, unusedBlobs } = dependencies
  assertSpace(dependencies, organisation, spaceId)
  assertUploadKey(uploadKey)
  const id = createDocumentId()
  const blobKey = `${organisation.id}/${spaceId}/${id}`
  let isStored = false
  /** A row may name the blob. */
  let mayBeNamed = false
  try {
    const received = await receiveUpload(request, {
      owner: organisation.id,
      maximumBytes: maximumUploadBytes,
      signal,
      storeFile(source) {
        isStored = true
        return blobs.put(blobKey, source, signal)
      },
    })
    const document: NewDocument = {
      id,
      organisationId: organisation.id,
      spaceId,
      ...describeUpload(dependencies, received, version),
      sizeBytes: received.sizeBytes,
      contentSha256: received.sha256,
      blobKey,
      uploadKey: uploadKey ?? null,
      fingerprint: fingerprintOf(received, onDuplicate),
    }
    const duplicateOf = await store.findSameContent(organisation.id, spaceId, received.sha256, id)
    mayBeNamed = true
    const outcome = await store.insert(document, onDuplicate, author)
    mayBeNamed = outcome.kind === 'inserted' || outcome.kind === 'replaced'
    const result = toUploadResult(document, outcome)
    if (result.repeated || result.skipped) {
      await unusedBlobs.remove(blobKey)
      return result
    }
    // The Space may have been deleted during the upload, too late for its removal to include the new row.
    if (!dependencies.hasSpace(organisation, spaceId)) {
      await store.remove(organisation.id, result.id)
      mayBeNamed = false
    }
    assertSpace(dependencies, organisation, spaceId)
    return { ...result, duplicateOf }
  } catch (error) {
    if (mayBeNamed) unusedBlobs.removeLater(blobKey)
    else if (isStored) await unusedBlobs.remove(blobKey)
    throw error
  }
}

/** Throws `idempotency_key_reused`. */
function toUploadResult({ id, spaceId, name }: NewDocument, outcome: InsertOutcome): UploadResult {
  const accepted: UploadResult = {
    id,
    spaceId,
    name,
    status: 'processing',
    duplicateOf: undefined,
    repeated: false,
    skipped: false,
  }
  switch (outcome.kind) {
    case 'inserted':
      return accepted
    case 'replaced':
      return { ...accepted, id: outcome.documentId }
    case 'repeated':
      return { ...accepted, id: outcome.documentId, name: outcome.documentName, repeated: true }
    case 'skipped': {
      const { document } = outcome
      return { ...accepted, id: document.id, name: document.name, status: document.status, skipped: true }
    }
    case 'key_reused':
      throw new AppError(
        'idempotency_key_reused',
        'This Idempotency-Key was used for another upload within the last day.',
        { param: 'idempotency-key' },
      )
  }
}

function assertSpace({ hasSpace }: DocumentsDependencies, organisation: Organisation, spaceId: SpaceId): void {
  if (hasSpace(organisation, spaceId)) return
  throw new AppError('space_not_found', 'There is no Space with this id.', { param: 'spaceId' })
}

function assertUploadKey(uploadKey: string | undefined): void {
  if (uploadKey === undefined || (uploadKey !== '' && uploadKey.length <= maximumUploadKeyLength)) return
  throw invalidField('idempotency-key', `Idempotency-Key: 1 to ${maximumUploadKeyLength} characters.`)
}

/** The checked name, metadata and type of an upload. `name` also names a file part without a file name. */
function describeUpload({ detectFormat }: DocumentsDependencies, received: ReceivedUpload, version: DocumentsVersion) {
  const named = received.name === undefined || received.name === '' ? undefined : cleanName(received.name, 'name')
  const fileName = received.fileName === '' && named !== undefined ? named : cleanName(received.fileName, 'file')
  const metadata = received.metadataText === undefined ? null : readMetadata(received.metadataText)
  const detected = detectFormat({ fileName, head: received.head, declaredType: received.declaredType }, version)
  if (!detected.supported) throw new AppError('unsupported_file_type', `file: ${detected.reason}`, { param: 'file' })
  const { format } = detected
  const mimeType = storedMediaType(detected.mimeType, received.declaredCharset)
  return { name: named ?? fileName, metadata, format, mimeType, apiVersion: version }
}

function fingerprintOf(
  { sha256, fileName, name, metadataText }: ReceivedUpload,
  onDuplicate: UploadTarget,
): Uint8Array {
  // `keep` adds nothing: fingerprints stored before the option existed must stay equal.
  const option = onDuplicate === 'keep' ? [] : [onDuplicate]
  const rest = JSON.stringify([fileName, name ?? null, metadataText ?? null, ...option])
  return new Uint8Array(createHash('sha256').update(sha256).update(rest).digest())
}

function notFound(): never {
  throw noDocument()
}
