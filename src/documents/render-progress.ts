import type { DocumentProgressBody } from '../contract/document-progress.ts'
import type { DocumentProgressRow } from './document.ts'

/** A document with its progress, as routes return it. */
export function renderProgress(row: DocumentProgressRow): DocumentProgressBody {
  const { id, spaceId, name, status, stage, partsDone, partsTotal, chunkCount, mimeType } = row
  return {
    id,
    spaceId,
    name,
    status,
    stage,
    partsDone,
    partsTotal,
    warnings: row.warnings ?? [],
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    chunkCount,
    sizeBytes: Number(row.sizeBytes),
    mimeType,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
