import type { DocumentOperationBody, DocumentProgressBody } from '../../contract/document-progress.ts'
import type { DocumentProgressRow } from './document.ts'
import { renderPlace } from './queue-places.ts'
import type { DocumentOperation } from './document-operations.ts'

export function renderProgress(row: DocumentProgressRow): DocumentProgressBody {
  const { id, spaceId, name, status, stage, partsDone, partsTotal, chunkCount, pageCount, path, mimeType, format } = row
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
    pageCount,
    path,
    sizeBytes: Number(row.sizeBytes),
    mimeType,
    format,
    ...(row.queue && { queue: renderPlace(row.queue) }),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

export function renderOperation(operation: DocumentOperation): DocumentOperationBody {
  const { id, kind, state, total, done, skipped, requestedAt, finishedAt } = operation
  return {
    id,
    kind,
    state,
    total,
    done,
    skipped,
    requestedAt: requestedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}
