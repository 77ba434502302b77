import type { DocumentId, OrganisationId, SpaceId } from '../kernel/index.ts'

export type DocumentStatus = 'processing' | 'ready' | 'failed'

/** Why a document failed: a closed list that a user can act on. */
export type DocumentFailureCode =
  | 'encrypted_pdf'
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
