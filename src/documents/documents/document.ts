import type {
  DocumentFailureCode,
  DocumentFormat,
  DocumentsVersion,
  DocumentWarning,
} from '../../contract/documents.ts'
import type { DocumentId, OrganisationId, SpaceId } from '../../platform/kernel/index.ts'
import type { QueuePlace } from '../../platform/jobs/index.ts'
import type { Metadata } from './document-metadata.ts'

export type { DocumentFailureCode, DocumentFormat }
export type DocumentStatus = 'processing' | 'ready' | 'failed'

export interface Document {
  id: DocumentId
  organisationId: OrganisationId
  spaceId: SpaceId
  name: string
  status: DocumentStatus
  /** The text of a JSON object. */
  metadataJson: string | null
  error: { code: DocumentFailureCode; message: string } | null
  warnings: DocumentWarning[]
  sizeBytes: number
  /** Without parameters. */
  mimeType: string
  createdAt: Date
  updatedAt: Date
  /** Hexadecimal. With a replacement in progress: of the new content. */
  contentSha256: string
  /** Of the row that is processed: the new content, if there is one. */
  rowId: string
}

/** An upload whose blob is stored and whose row is about to be. */
export interface NewDocument extends Pick<Document, 'id' | 'organisationId' | 'spaceId' | 'name' | 'sizeBytes'> {
  metadata: Metadata | null
  format: DocumentFormat
  /** With the `charset` that the upload declared; extraction uses it. */
  mimeType: string
  /** The version of the interface that received the file; it decides how the file is read. */
  apiVersion: DocumentsVersion
  contentSha256: Uint8Array
  blobKey: string
  /** Idempotency-Key, null if none was sent. */
  uploadKey: string | null
  /** SHA-256 over content, name and metadata. */
  fingerprint: Uint8Array
}

export type ProcessingStage = 'queued' | 'extracting' | 'indexing' | 'done' | 'failed'

/** Progress of the processing, for display. */
export interface DocumentProgress {
  stage: ProcessingStage
  /** Pages while extracting, chunks while indexing (which embeds them); null if unknown. */
  partsDone: number | null
  partsTotal: number | null
}

/** What queries return of a document. */
export interface DocumentRow extends Omit<
  Document,
  'metadataJson' | 'error' | 'warnings' | 'sizeBytes' | 'contentSha256' | 'rowId'
> {
  errorCode: DocumentFailureCode | null
  errorMessage: string | null
  warnings: DocumentWarning[] | null
  sizeBytes: bigint
}

/** The operator's view of a document: progress, and the cause of a failure. */
export interface DocumentProgressRow extends DocumentRow, DocumentProgress {
  chunkCount: number | null
  format: DocumentFormat
  /** Of a PDF. */
  pageCount: number | null
  /** The folder of the file, from its metadata. */
  path: string | null
  /** Of the row that is processed. */
  rowId: string
  /** Of a document that waits; only lists have it. */
  queue?: QueuePlace | undefined
}

/** How many documents of a Space have each status. */
export type DocumentCounts = Record<DocumentStatus, number>
