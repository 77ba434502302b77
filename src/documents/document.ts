import type { DocumentId, OrganisationId, SpaceId } from '../kernel/index.ts'

export type DocumentStatus = 'processing' | 'ready' | 'failed'

/** Why a document failed: a closed list that a user can act on. */
export type DocumentFailureCode =
  | 'encrypted_pdf'
  | 'encrypted_docx'
  | 'corrupt_file'
  | 'empty_file'
  | 'no_text'
  | 'unsupported_content'
  | 'too_large_when_unpacked'
  | 'too_many_pages'
  | 'too_complex'
  | 'processing_timeout'
  | 'out_of_memory'
  | 'embedding_failed'
  | 'insufficient_quota'
  | 'internal_error'

/** The formats of the interface. */
export type DocumentFormat = 'pdf' | 'docx' | 'txt' | 'csv' | 'md'

export interface Document {
  id: DocumentId
  organisationId: OrganisationId
  spaceId: SpaceId
  name: string
  status: DocumentStatus
  metadata: Record<string, unknown> | null
  error: { code: DocumentFailureCode; message: string } | null
  sizeBytes: number
  mimeType: string
  createdAt: Date
  updatedAt: Date
}

/** An upload whose blob is stored and whose row is about to be. */
export interface NewDocument {
  id: DocumentId
  organisationId: OrganisationId
  spaceId: SpaceId
  name: string
  metadata: Record<string, unknown> | null
  /** metadata.url, where it may be shown as a link. */
  sourceUrl: string | null
  format: DocumentFormat
  mimeType: string
  sizeBytes: number
  contentSha256: Uint8Array
  blobKey: string
  /** Idempotency-Key, null where none was sent. */
  uploadKey: string | null
  /** SHA-256 over content, name and metadata. */
  fingerprint: Uint8Array
}

/** How far the processing of a document is, for people. */
export interface DocumentProgress {
  stage: 'queued' | 'extracting' | 'embedding' | 'indexing' | 'done' | 'failed'
  /** Pages while extracting, chunks while embedding and indexing; null where unknown. */
  partsDone: number | null
  partsTotal: number | null
}
