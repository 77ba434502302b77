import type { Queryable } from '../database/index.ts'
import type { JobQueue } from '../jobs/index.ts'
import type { DocumentFormat } from './document.ts'

/** The job that ingestion works on; its payload names the `documentId`. For documents of any size. */
export const processDocumentJob = 'process-document'

/** The same for documents that take little time, so that large ones never hold all workers. */
export const processSmallDocumentJob = 'process-small-document'

/** One of either kind for each row: a job that moves to the other kind keeps its key. */
export const processingKey = (id: string) => `${processDocumentJob}:${id}`

const kibibyte = 1024

/** Files up to this size count as small: about a second of work each, less than a hundred chunks up to about a thousand. */
const smallBytes: Record<DocumentFormat, number> = {
  txt: 256 * kibibyte,
  md: 256 * kibibyte,
  csv: 256 * kibibyte,
  // Packed, and with pictures.
  docx: 1024 * kibibyte,
  pdf: 2048 * kibibyte,
}

export interface ProcessedRow {
  id: string
  organisationId: string
  spaceId: string
  format: string
  sizeBytes: number | bigint
}

/** Within the transaction that makes the row `processing`. */
export async function enqueueProcessing(
  jobs: JobQueue,
  transaction: Queryable,
  { id, organisationId, spaceId, format, sizeBytes }: ProcessedRow,
): Promise<void> {
  const isSmall = Number(sizeBytes) <= (smallBytes[format as DocumentFormat] ?? 0)
  await jobs.enqueue(transaction, {
    kind: isSmall ? processSmallDocumentJob : processDocumentJob,
    key: processingKey(id),
    payload: { documentId: id, organisationId, spaceId },
    fairnessKeys: { organisationId, spaceId },
  })
}
